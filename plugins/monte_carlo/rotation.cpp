#include "rotation.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "turn.h"

namespace perrin::monte_carlo {
namespace {

/// A turn of the particle that is the `member`-th of each active cell.
struct ProposeTurns {
  TrialCells cells;
  GroupMask group;
  RunKey key;
  const std::uint64_t* sweep;
  std::uint32_t member, trial;
  Real angle;
  bool flat;
  TrialMove* move;
  double* change;
  Real4* turn;
  float* log_of_uniform;
  TrialCounts* counts;

  PERRIN_HD void operator()(std::int64_t k) const {
    move[k] = {}, change[k] = 0;
    const std::int32_t own = cells.key(cells.active_cell(k));
    const std::uint32_t slot = cells.start[own] + member;
    if (slot >= cells.start[own + 1]) return;
    const std::uint32_t id = cells.id[slot];
    if (!group.has(id)) return;
    ++counts[k].tried;
    const Words4 w = philox4x32<10>({std::uint32_t(*sweep), std::uint32_t(*sweep >> 32), id, trial},
                                    {key.x, key.y});
    const Real3 axis = flat ? Real3{0, 0, 1} : direction<Real>(w.y, w.z);
    const Real half = between(angle, w.x) / 2, sine = std::sin(half);
    turn[k] = {sine * axis.x, sine * axis.y, sine * axis.z, std::cos(half)};
    log_of_uniform[k] = log_of(w.w);
    const std::uint32_t place = cells.place[slot];
    const Position here = cells.position[slot];
    move[k] = {.before_as = place, .after_as = place, .slot = slot, .before = here, .after = here};
  }
};

struct DecideTurns {
  double kt;
  const TrialMove* move;
  const double* change;
  const Real4* turn;
  const float* log_of_uniform;
  Real4* orientation;  // [place]
  TrialCounts* counts;

  PERRIN_HD void operator()(std::int64_t k) const {
    if (!move[k].is_tried() || !(change[k] <= -kt * double(log_of_uniform[k]))) return;
    Real4& q = orientation[move[k].after_as];
    q = turned(turn[k], q);
    ++counts[k].accepted;
  }
};

}  // namespace

void check_rotation(const std::string& group, Setup& setup) {
  if (setup.configuration().orientation.empty())
    setup.error("rotation",
                "turns particles, and these have no orientations: expected \"orientations\" in the "
                "job, or a file that has them");
  setup.fixed_group(group, "group");
}

void RotationMove::begin(StageContext& s) {
  group_ = free_particles_of(s, group_name_);
  fit(s);
}

/// What depends on the box.
void RotationMove::fit(const StepContext& s) {
  if (!grid_.fit(s.particles(), width_of_cells(s, s.range()))) return;
  energies_.begin(s, grid_.active(), false);
  turn_ = {s.device(), grid_.active()};
  log_of_uniform_ = {s.device(), grid_.active()};
  tally_.begin(s.device(), grid_.active());
}

void RotationMove::sweep(StepContext& s, double kt) {
  if (s.particles().box_state().moves()) fit(s);
  const Device& device = s.device();
  const RunKey key(Purpose::monte_carlo_rotation, s.seed());
  Real4* const orientation = s.particles().orientations()->orientation().data();
  const std::vector<TrialCells> colours = grid_.sort(s, key);
  const std::uint32_t fullest = grid_.fullest();
  energies_.begin_trials(s);
  const auto try_all = [&](const TrialCells& cells, std::uint32_t member, std::uint32_t trial) {
    const std::int64_t n = cells.active();
    for_each(device, "turns of particles", n,
             ProposeTurns{cells, group_.mask(), key, s.device_step(), member, trial, Real(angle_),
                          s.particles().box().dimension == 2, energies_.move(), energies_.change(),
                          turn_.data(), log_of_uniform_.data(), tally_.data()});
    energies_.measure_pairs(s, cells, 0, n, {.turn = turn_.data()});
    energies_.measure_coupled(s, cells, n, {.turn = turn_.data()});
    for_each(device, "turns of particles are accepted", n,
             DecideTurns{kt, energies_.move(), energies_.change(), turn_.data(),
                         log_of_uniform_.data(), orientation, tally_.data()});
    energies_.follow_trial(s, cells, n, {.turn = turn_.data()});
  };
  for (const TrialCells& cells : colours)
    for (std::uint32_t member = 0; member < fullest; ++member)
      for (std::int64_t trial = 0; trial < trials_; ++trial)
        try_all(cells, member, std::uint32_t(trial));
}

double RotationMove::largest_size() const { return std::numbers::pi; }

std::string RotationMove::size_text() const { return fmt::format("angle {:.6g}", angle_); }

void RotationMove::state(Archive& archive) {
  archive("angle", angle_);
  archive.require(angle_ > 0 && angle_ <= std::numbers::pi, "angle", "between 0 and pi");
  tally_.state(archive);
}

}  // namespace perrin::monte_carlo
