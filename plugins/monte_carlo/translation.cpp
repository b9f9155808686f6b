#include "translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "engine/base/error.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/system/moved_position.h"
#include "rng/math.h"

namespace perrin::monte_carlo {
namespace {

/// A trial of the particle that is the `member`-th of each active cell.
struct Propose {
  TrialCells cells;
  Metric metric;
  TrialProposal proposal;
  std::uint32_t member, trial;
  Partners::View partners;  // begin == nullptr: nobody has any
  const Position* position;
  const std::uint32_t* index;
  TrialMove* move;
  std::uint32_t* place;
  double* change;
  float* log_of_uniform;
  TrialCounts* counts;

  PERRIN_HD void operator()(std::int64_t k) const {
    move[k] = {}, place[k] = TrialMove::none, change[k] = 0;
    const std::int32_t own = cells.key(cells.active_cell(k));
    const std::uint32_t slot = cells.start[own] + member;
    if (slot >= cells.start[own + 1]) return;
    const std::uint32_t id = cells.id[slot];
    if (!proposal.group.has(id) || meets_another(id, own)) return;
    ++counts[k].tried;
    const TrialProposal::Drawn drawn = proposal.draw(id, trial);
    const Position after = moved_by_axes(cells.position[slot], metric.fixed_word(drawn.by));
    if (cells.key(cells.cell_of(after)) != own) return;
    move[k] = {slot, cells.place[slot], after};
    place[k] = cells.place[slot];
    log_of_uniform[k] = drawn.log_of_uniform;
  }
  /// A partner in another active cell may move at the same time. Which these are does not change
  /// while this colour is done.
  PERRIN_HD bool meets_another(std::uint32_t id, std::int32_t own) const {
    if (partners.begin == nullptr) return false;
    for (std::int64_t n = partners.begin[id]; n < partners.begin[id + 1]; ++n) {
      const Vec3<std::int32_t> cell = cells.cell_of(position[index[partners.partner[n]]]);
      if (cells.is_active(cell) && cells.key(cell) != own) return true;
    }
    return false;
  }
};

/// Particles go where they may go.
struct Apply {
  TrialCells cells;
  const TrialMove* move;
  TrialParticles particles;

  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialMove m = move[k];
    if (m.slot != TrialMove::none) particles.go(m.place, cells.position[m.slot], m.after);
  }
};

struct Decide {
  Apply apply;
  bool applied;  // already
  double kt;
  const double* change;
  const float* log_of_uniform;
  Metric metric;
  FaultSink faults;
  TrialCounts* counts;

  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialMove m = apply.move[k];
    if (m.slot == TrialMove::none) return;
    Position& kept = apply.cells.position[m.slot];
    const bool accepted = change[k] <= -kt * double(log_of_uniform[k]);
    if (accepted != applied) {
      if (accepted)
        apply.particles.go(m.place, kept, m.after);
      else
        apply.particles.go(m.place, m.after, kept);
    }
    if (!accepted) return;
    kept = m.after;
    ++counts[k].accepted;
    if (metric.open) watch(m);
  }
  PERRIN_HD void watch(const TrialMove& m) const {
    const std::uint32_t at[3] = {m.after.x, m.after.y, m.after.z};
    for (int axis = 0; axis < 3; ++axis)
      if (at[axis] < metric.lower[std::size_t(axis)] || at[axis] > metric.upper[std::size_t(axis)])
        faults.report(FaultKind::left_the_box, apply.cells.id[m.slot], 0, 0, axis);
  }
};

/// A particle's share of the terms that it is in, before or after the move, as the energy of these.
struct AddEnergy {
  const TrialMove* move;
  const Real4* energy;
  double factor;
  double* change;
  PERRIN_HD void operator()(std::int64_t k) const {
    if (move[k].slot != TrialMove::none) change[k] += factor * double(energy[move[k].place].w);
  }
};

struct CountsOf {
  const TrialCounts* counts;
  PERRIN_HD TrialCounts operator()(std::int64_t k) const { return counts[k]; }
};

}  // namespace

struct Translation::Batch {
  TrialCells cells;
  std::int64_t count;
  std::uint32_t member, trial;
  TrialProposal proposal;
  double kt;
};

void Translation::begin(StepContext& s, const std::string& group) {
  const Device& device = s.device();
  fields_ = false;
  for (const auto& force : s.forces) fields_ = fields_ || force->traits().range() == 0;
  // A move that leaves its cell is in vain.
  grid_ = TrialGrid(s.particles, std::max(s.range(), 4 * displacement_));
  const Vec3<double> heights = s.particles.box.heights();
  largest_ = std::min(heights.x, heights.y) / 4;
  if (s.particles.box.dimension == 3) largest_ = std::min(largest_, heights.z / 4);
  const TrialCells cells = grid_.cells();
  const std::int64_t active = cells.active();
  move_ = {device, active}, place_ = {device, active}, change_ = {device, active};
  log_of_uniform_ = {device, active}, counts_ = {device, active};
  scratch_ = {device, sum_chunks + 1};
  if (fields_) energy_ = {device, s.particles.size()};
  const Topology& t = s.particles.topology;
  const bool any =
      !t.bonds.empty() || !t.angles.empty() || !t.dihedrals.empty() || !t.impropers.empty();
  partners_ =
      any ? std::make_unique<Partners>(device, std::size_t(s.particles.size()), t) : nullptr;
  group_ = {};
  for (const Group& one : s.particles.groups)
    if (one.name() == group) group_ = {device, one};
}

void Translation::sweep(StepContext& s, const RunKey& key, double kt) {
  // Shifts and the order of colours are those of this sweep, whatever the particles do.
  const std::uint64_t number = s.step();
  auto random = keyed<Philox>(key, number, TrialMove::none);
  Vec3<std::uint32_t> shift{};
  for (int axis = 0; axis < 3; ++axis) shift[axis] = random.next();
  std::array<int, 8> order{};
  const int colours = grid_.colours();
  std::iota(order.begin(), order.end(), 0);
  for (int k = colours - 1; k > 0; --k)
    std::swap(order[std::size_t(k)], order[random.next() % std::uint32_t(k + 1)]);
  grid_.sort(s, shift);
  const TrialProposal proposal{key, s.device_step(), Real(displacement_),
                               s.particles.box.dimension == 2, group_.mask()};
  const bool chains = runs_chains(s);
  const std::uint32_t fullest = chains ? 0 : grid_.fullest();
  for (int k = 0; k < colours; ++k) {
    TrialCells cells = grid_.cells();
    cells.colour = grid_.colour(order[std::size_t(k)]);
    if (chains) run_chains(s, cells, proposal, kt);
    for (std::uint32_t member = 0; member < fullest; ++member)
      for (std::int64_t trial = 0; trial < trials_; ++trial)
        try_all(s, {cells, cells.active(), member, std::uint32_t(trial), proposal, kt});
  }
}

/// Where one force between pairs is all there is.
bool Translation::runs_chains(const StepContext& s) const {
  return s.forces.size() == 1 && !fields_ && !partners_ && !s.particles.box.metric().open;
}

void Translation::run_chains(StepContext& s, const TrialCells& cells, const TrialProposal& proposal,
                             double kt) {
  // As far as a particle mostly comes in its trials.
  const double far = 1.6 * displacement_ * std::sqrt(1 + 0.4 * double(trials_));
  const double margin = std::min(far, 0.16 * s.range());
  s.forces[0]->run_trial_chains(s, {cells,
                                    proposal,
                                    {s.particles.position.data(), s.particles.image.data()},
                                    std::uint32_t(trials_),
                                    kt,
                                    Real(s.range()),
                                    Real(margin),
                                    counts_.data()});
}

void Translation::try_all(StepContext& s, const Batch& b) {
  const Device& device = s.device();
  const Metric metric = s.particles.box.metric();
  const ParticleView particles = s.particles.view();
  for_each(device, "trial moves", b.count,
           Propose{b.cells, metric, b.proposal, b.member, b.trial,
                   partners_ ? partners_->view() : Partners::View{nullptr, nullptr},
                   particles.position, particles.index, move_.data(), place_.data(), change_.data(),
                   log_of_uniform_.data(), counts_.data()});
  const Apply apply{b.cells, move_.data(), {particles.position, particles.image}};
  if (fields_) {
    add_energies(s, b, false);
    for_each(device, "trial moves are made", b.count, apply);
    add_energies(s, b, true);
  }
  const TrialMoves trials{b.cells, move_.data(), change_.data()};
  for (const auto& force : s.forces)
    if (force->traits().range() > 0) force->compute_trials(s, trials);
  for_each(device, "trial moves are accepted", b.count,
           Decide{apply, fields_, b.kt, change_.data(), log_of_uniform_.data(), metric,
                  s.fault_sink(), counts_.data()});
}

/// Of all forces but those between pairs.
void Translation::add_energies(StepContext& s, const Batch& b, bool after) {
  for (const auto& force : s.forces) {
    if (force->traits().range() > 0) continue;
    force->act(s, {.force = energy_.data(),
                   .virial = nullptr,
                   .add = false,
                   .energy = true,
                   .places = place_.data(),
                   .count = b.count});
    const double share = force->traits().energy_share;
    for_each(s.device(), "energies of trial moves", b.count,
             AddEnergy{move_.data(), energy_.data(), (after ? 1 : -1) / share, change_.data()});
  }
}

TrialCounts Translation::counts() const {
  if (counts_.size() == 0) return before_;
  TrialCounts all = before_;
  all +=
      sum<TrialCounts>(counts_.device(), "trial moves", counts_.size(), CountsOf{counts_.data()});
  return all;
}

void Translation::state(Archive& archive) {
  TrialCounts now = archive.is_saving() ? counts() : TrialCounts{};
  archive("displacement", displacement_);
  archive("tried", now.tried);
  archive("accepted", now.accepted);
  archive.require(displacement_ > 0 && std::isfinite(displacement_), "displacement",
                  "a length above 0");
  archive.require(now.accepted >= 0 && now.accepted <= now.tried, "accepted",
                  "at most as many as were tried");
  if (archive.is_saving()) return;
  before_ = now;
  if (counts_.size() > 0) counts_.zero();
}

}  // namespace perrin::monte_carlo
