#include "trial_energies.h"

#include <algorithm>
#include <limits>

#include "engine/components/force.h"
#include "engine/device/parallel.h"

namespace perrin::monte_carlo {
namespace {

/// A particle's share of the terms that it is in, before or after the move, as the energy of these.
struct AddEnergy {
  const std::uint32_t* place;
  const Real4* energy;
  double factor;
  double* change;
  PERRIN_HD void operator()(std::int64_t k) const {
    if (place[k] != TrialMove::none) change[k] += factor * double(energy[place[k]].w);
  }
};

}  // namespace

bool trials_are_coupled(const StepContext& s) {
  return std::ranges::any_of(
      s.forces(), [](const auto& force) { return coupled_trials_of(*force) != nullptr; });
}

double width_of_cells(const StepContext& s, double range) {
  return trials_are_coupled(s) ? std::numeric_limits<double>::infinity() : range;
}

/// Of the forces without a range.
bool TrialEnergies::asks(const Force& force) const {
  return bonded_ || force.traits().reads != ForceTraits::Reads::bonded;
}

void TrialEnergies::begin(const StepContext& s, std::int64_t moves, bool bonded) {
  const Device& device = s.device();
  bonded_ = bonded;
  fields_ = false;
  coupled_.clear();
  for (const auto& force : s.forces())
    if (CoupledTrials* const one = coupled_trials_of(*force)) coupled_.push_back(one);
  for (const auto& force : s.forces())
    fields_ = fields_ || (force->traits().range() == 0 && asks(*force));
  if (move_.size() != moves)
    move_ = {device, moves}, place_ = {device, moves}, change_ = {device, moves};
  if (fields_ && energy_.size() == 0) energy_ = {device, s.particles().size()};
}

void TrialEnergies::measure(StepContext& s, const TrialCells& cells, std::int64_t count,
                            const std::function<void()>& go, const Asked& asked) {
  if (fields_) {
    if (!asked.inserted) add_fields(s, count, false, asked.whole_terms);
    go();
    add_fields(s, count, true, asked.whole_terms);
  }
  measure_pairs(s, cells, 0, count, asked);
  measure_coupled(s, cells, count, asked);
}

void TrialEnergies::measure_coupled(StepContext& s, const TrialCells& cells, std::int64_t count,
                                    const Asked& asked) {
  for (CoupledTrials* const one : coupled_) one->add_change(s, trials(s, cells, 0, count, asked));
}

void TrialEnergies::begin_trials(StepContext& s) {
  for (CoupledTrials* const one : coupled_) one->begin_trials(s);
}

void TrialEnergies::follow_trial(StepContext& s, const TrialCells& cells, std::int64_t count,
                                 const Asked& asked) {
  for (CoupledTrials* const one : coupled_) one->follow_trial(s, trials(s, cells, 0, count, asked));
}

void TrialEnergies::measure_pairs(StepContext& s, const TrialCells& cells, std::int64_t first,
                                  std::int64_t count, const Asked& asked) {
  const TrialMoves moves = trials(s, cells, first, count, asked);
  for (const auto& force : s.forces())
    if (force->traits().range() > 0) force->compute_trials(s, moves);
}

void TrialEnergies::add_fields(StepContext& s, std::int64_t count, bool after, bool whole_terms) {
  for (const auto& force : s.forces()) {
    if (force->traits().range() > 0 || !asks(*force)) continue;
    force->act(s, {.force = energy_.data(),
                   .virial = nullptr,
                   .add = false,
                   .energy = true,
                   .places = place_.data(),
                   .count = count});
    const double share = whole_terms ? 1 : force->traits().energy_share;
    for_each(s.device(), "energies of trial moves", count,
             AddEnergy{place_.data(), energy_.data(), (after ? 1 : -1) / share, change_.data()});
  }
}

TrialMoves TrialEnergies::trials(const StepContext& s, const TrialCells& cells, std::int64_t first,
                                 std::int64_t count, const Asked& asked) {
  return {cells,           count,          move_.data() + first, change_.data() + first,
          Real(s.range()), asked.molecule, asked.turn,           asked.together};
}

}  // namespace perrin::monte_carlo
