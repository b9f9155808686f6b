#include "forces/charges/dipole_trials.h"

#include "engine/system/nearest_vector.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "forces/anisotropic/interaction.h"
#include "forces/charges/excluded_dipoles.h"
#include "forces/charges/wave_trials.h"
#include "neighbor/neighbors.h"

namespace perrin {

using namespace waves;

namespace {

struct MovedDipoles {
  const Position* position;  // of which the types are read
  const Real4* orientation;
  const Real* moment;  // [type]
  const Real4* turn;   // TrialMoves::turn
  std::uint32_t together;

  PERRIN_HD Real3 of(std::uint32_t place, const Real4& q) const {
    return moment[position[place].type()] * axis_of(q);
  }
  PERRIN_HD Real3 before(const TrialMove& move) const {
    if (move.before_as == TrialMove::none) return {};
    return of(move.before_as, orientation[move.before_as]);
  }
  PERRIN_HD Real3 after(const TrialMove& move, std::int64_t m) const {
    if (move.after_as == TrialMove::none) return {};
    return of(move.after_as, orientation_after(move, m));
  }
  PERRIN_HD Real4 orientation_after(const TrialMove& move, std::int64_t m) const {
    const Real4 q = orientation[move.after_as];
    return turn == nullptr ? q : turned(turn[m / together], q);
  }
  PERRIN_HD static Real strength(const Real3& moment, const Waves& w, std::int64_t wave) {
    return moment.x * w.k[wave] + moment.y * w.k[w.room + wave] + moment.z * w.k[2 * w.room + wave];
  }
};

/// What a trial changes of the corrections for pairs that the sum over pairs leaves out.
struct CorrectTrials {
  TrialMoves trials;
  MovedDipoles moved;
  Metric metric;
  BondVector vector;
  ExclusionView excluded;
  const std::uint32_t* index;  // [id]: places
  ExcludedDipoles law;

  PERRIN_HD double energy(std::uint32_t as, const Position& here, const Real4& q,
                          std::uint32_t j) const {
    const Position there = moved.position[j];
    const Real one = moved.moment[moved.position[as].type()], two = moved.moment[there.type()];
    if (one * two == Real(0)) return 0;
    const Real3 d = vector(metric, here, there);
    return law.energy({double(d.x), double(d.y), double(d.z)}, moment_of(one, q),
                      moment_of(two, moved.orientation[j]));
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialMove& m = trials.move[k];
    if (!m.is_tried()) return;
    const std::uint32_t id = trials.cells.id[m.slot];
    double change = 0;
    for (std::uint32_t at = excluded.begin[id]; at < excluded.begin[id + 1]; ++at) {
      const std::uint32_t partner = excluded.excluded[at];
      if (trials.molecule != nullptr && trials.molecule[id] == trials.molecule[partner]) continue;
      const std::uint32_t j = index[partner];
      if (m.before_as != TrialMove::none)
        change -= energy(m.before_as, m.before, moved.orientation[m.before_as], j);
      if (m.after_as != TrialMove::none)
        change += energy(m.after_as, m.after, moved.orientation_after(m, k), j);
    }
    trials.change[k] += change;
  }
};

/// Before the decision.
struct NoteTrial {
  TrialMoves trials;
  MovedDipoles moved;
  Vec3<double>* moment;
  double surface;  // energy of the square of the moment of all
  Real4* orientation;

  PERRIN_HD void operator()(std::int64_t) const {
    if (!trials.move[0].is_tried()) return;
    if (trials.move[0].after_as != TrialMove::none)
      orientation[0] = moved.orientation[trials.move[0].after_as];
    Vec3<double> by{0, 0, 0};
    for (std::int64_t m = 0; m < trials.count && trials.move[m].is_tried(); ++m) {
      const TrialMove& move = trials.move[m];
      const Real3 a = moved.before(move), b = moved.after(move, m);
      by.x += double(b.x) - double(a.x), by.y += double(b.y) - double(a.y);
      by.z += double(b.z) - double(a.z);
    }
    moment[1] = by;
    const Vec3<double> both{2 * moment[0].x + by.x, 2 * moment[0].y + by.y, 2 * moment[0].z + by.z};
    if (surface > 0) trials.change[0] += surface * dot(both, by);
  }
};

/// What was turned, and not moved, is known by its orientation.
struct WasMade {
  TrialMoves trials;
  const Position* position;
  const Real4 *orientation, *before;
  PERRIN_HD bool operator()() const {
    if (!was_made(trials, position)) return false;
    const TrialMove& m = trials.move[0];
    if (trials.turn == nullptr || m.after_as == TrialMove::none) return true;
    if (m.before.x != m.after.x || m.before.y != m.after.y || m.before.z != m.after.z) return true;
    const Real4 &q = orientation[m.after_as], &p = before[0];
    return q.x != p.x || q.y != p.y || q.z != p.z || q.w != p.w;
  }
};

struct FollowMoment {
  WasMade made;
  Vec3<double>* moment;
  PERRIN_HD void operator()(std::int64_t) const {
    if (made()) moment[0] += moment[1];
  }
};

}  // namespace

DipoleTrials::DipoleTrials(DipoleSum& sum) : sum_(sum), waves_(std::make_unique<WaveTrials>()) {}

DipoleTrials::~DipoleTrials() = default;

void DipoleTrials::begin_trials(StepContext& s) {
  if (moment_.size() == 0) moment_ = {s.device(), 2}, orientation_ = {s.device(), 1};
  waves_->begin(s.device(), sum_.structure_factors(s));
  sum_.moment_of_all(s, moment_.data());
}

void DipoleTrials::add_change(StepContext& s, const TrialMoves& trials) {
  const MovedDipoles moved{s.particles().position().data(),
                           s.particles().orientations()->orientation().data(), sum_.moments(),
                           trials.turn, trials.together};
  for_each(s.device(), "moment of a trial move", 1,
           NoteTrial{trials, moved, moment_.data(),
                     sum_.of_surface() / s.particles().box().volume(), orientation_.data()});
  waves_->add_change(s.device(), trials, moved, 0);
  const ExclusionView excluded = s.neighbors()->exclusions();
  if (!excluded) return;
  for_each(
      s.device(), "excluded dipoles of trial moves", trials.count,
      CorrectTrials{trials, moved, s.particles().box().metric(), BondVector(s.particles().box()),
                    excluded, s.particles().view().index, ExcludedDipoles::of(sum_.terms())});
}

void DipoleTrials::follow_trial(StepContext& s, const TrialMoves& trials) {
  const WasMade made{trials, s.particles().position().data(),
                     s.particles().orientations()->orientation().data(), orientation_.data()};
  waves_->follow(s.device(), made);
  for_each(s.device(), "moment follows a trial move", 1, FollowMoment{made, moment_.data()});
}

}  // namespace perrin
