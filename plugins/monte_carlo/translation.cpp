#include "translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/system/moved_position.h"

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
    place[k] = cells.place[slot];
    move[k] = {.before_as = place[k],
               .after_as = place[k],
               .slot = slot,
               .before = cells.position[slot],
               .after = after};
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
  const TrialMove* move;
  TrialParticles particles;

  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialMove m = move[k];
    if (m.is_tried()) particles.go(m.after_as, m.before, m.after);
  }
};

struct Decide {
  TrialCells cells;
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
    if (!m.is_tried()) return;
    const bool accepted = change[k] <= -kt * double(log_of_uniform[k]);
    if (accepted != applied) {
      if (accepted)
        apply.particles.go(m.after_as, m.before, m.after);
      else
        apply.particles.go(m.after_as, m.after, m.before);
    }
    if (!accepted) return;
    cells.position[m.slot] = m.after;
    ++counts[k].accepted;
    if (metric.open) watch(m);
  }
  PERRIN_HD void watch(const TrialMove& m) const {
    const std::uint32_t at[3] = {m.after.x, m.after.y, m.after.z};
    for (int axis = 0; axis < 3; ++axis)
      if (at[axis] < metric.lower[std::size_t(axis)] || at[axis] > metric.upper[std::size_t(axis)])
        faults.report(FaultKind::left_the_box, cells.id[m.slot], 0, 0, axis);
  }
};

}  // namespace

struct Translation::Batch {
  TrialCells cells;
  std::int64_t count;
  std::uint32_t member, trial;
  TrialProposal proposal;
  double kt;
};

void Translation::begin(StageContext& s) {
  // A move that leaves its cell is in vain. (Of a resumed stage the same cells: not of what tuning
  // has come to.)
  width_ = width_of_cells(s, std::max(s.range(), 4 * first_displacement_));
  fit(s);
  const Topology& t = s.particles().properties().topology;
  partners_ = has_partners(t)
                  ? std::make_unique<Partners>(s.device(), std::size_t(s.particles().size()), t)
                  : nullptr;
  group_ = free_particles_of(s, group_name_);
  why_no_chains_ = why_no_chains(s);
}

/// What depends on the box.
void Translation::fit(const StepContext& s) {
  largest_ = least_height(s.particles().box()) / 4;
  if (!grid_.fit(s.particles(), width_)) return;
  energies_.begin(s, grid_.active(), true);
  log_of_uniform_ = {s.device(), grid_.active()};
  tally_.begin(s.device(), grid_.active());
}

void Translation::sweep(StepContext& s, double kt) {
  if (s.particles().box_state().moves()) fit(s);
  const RunKey key(Purpose::monte_carlo, s.seed());
  const TrialProposal proposal{key, s.device_step(), Real(displacement_),
                               s.particles().box().dimension == 2, group_.mask()};
  const std::vector<TrialCells> colours = grid_.sort(s, key);
  energies_.begin_trials(s);
  const bool chains = why_no_chains_.empty();
  const std::uint32_t fullest = chains ? 0 : grid_.fullest();
  for (const TrialCells& cells : colours) {
    if (chains) run_chains(s, cells, proposal, kt);
    for (std::uint32_t member = 0; member < fullest; ++member)
      for (std::int64_t trial = 0; trial < trials_; ++trial)
        try_all(s, {cells, cells.active(), member, std::uint32_t(trial), proposal, kt});
  }
}

/// Where anything else acts than one force between pairs.
std::string Translation::why_no_chains(const StepContext& s) const {
  if (partners_) return "bonds act";
  if (energies_.has_fields()) return "a field acts";
  if (s.forces().empty()) return "no force acts";
  if (s.forces().size() > 1) return fmt::format("{} forces act", s.forces().size());
  if (trials_are_coupled(s)) return "all particles meet in a force";
  if (s.forces()[0]->traits().torques) return "the force depends on orientations";
  if (s.particles().box().metric().open) return "the box is not periodic along all axes";
  return {};
}

std::string Translation::way() const {
  if (why_no_chains_.empty()) return "chains of trials, " + grid_.way();
  return fmt::format("{} (no chains of trials: {})", grid_.way(), why_no_chains_);
}

void Translation::run_chains(StepContext& s, const TrialCells& cells, const TrialProposal& proposal,
                             double kt) {
  // As far as a particle mostly comes in its trials.
  const double far = 1.6 * displacement_ * std::sqrt(1 + 0.4 * double(trials_));
  const double margin = std::min(far, 0.16 * s.range());
  s.forces()[0]->run_trial_chains(s,
                                  {cells,
                                   proposal,
                                   {s.particles().position().data(), s.particles().image().data()},
                                   std::uint32_t(trials_),
                                   kt,
                                   Real(s.range()),
                                   Real(margin),
                                   tally_.data()});
}

void Translation::try_all(StepContext& s, const Batch& b) {
  const Device& device = s.device();
  const Metric metric = s.particles().box().metric();
  const ParticleView particles = s.particles().view();
  for_each(device, "trial moves", b.count,
           Propose{b.cells, metric, b.proposal, b.member, b.trial,
                   partners_ ? partners_->view() : Partners::View{nullptr, nullptr},
                   particles.position, particles.index, energies_.move(), energies_.place(),
                   energies_.change(), log_of_uniform_.data(), tally_.data()});
  const Apply apply{energies_.move(), {particles.position, particles.image}};
  energies_.measure(s, b.cells, b.count,
                    [&] { for_each(device, "trial moves are made", b.count, apply); });
  for_each(device, "trial moves are accepted", b.count,
           Decide{b.cells, apply, energies_.has_fields(), b.kt, energies_.change(),
                  log_of_uniform_.data(), metric, s.fault_sink(), tally_.data()});
  energies_.follow_trial(s, b.cells, b.count, {});
}

std::string Translation::size_text() const {
  return fmt::format("displacement {:.6g}", displacement_);
}

void Translation::state(Archive& archive) {
  archive("displacement", displacement_);
  archive.require(displacement_ > 0 && std::isfinite(displacement_), "displacement",
                  "a length above 0");
  tally_.state(archive);
}

}  // namespace perrin::monte_carlo
