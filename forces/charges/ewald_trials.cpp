#include "forces/charges/ewald_trials.h"

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/charges/unit_circle.h"
#include "forces/charges/wave_kernels.h"

namespace perrin {

using namespace waves;

namespace {

/// For kernels: [wave], in groups of `lanes`.
struct TrialWaves {
  Waves waves;
  double* factor;  // [re, im]
  Real* change;    // [re, im]

  PERRIN_HD std::int64_t room() const { return with_lanes(waves.count); }
};

struct TakeFactors {
  TrialWaves of;
  PERRIN_HD void operator()(std::int64_t wave) const {
    const bool is = wave < of.waves.count;
    of.factor[wave] = is ? double(of.waves.factor[wave].re) : 0.0;
    of.factor[of.room() + wave] = is ? double(of.waves.factor[wave].im) : 0.0;
  }
};

/// δ(k) of a group of waves, and what it changes of their energy.
struct ChangeOfWaves {
  TrialWaves of;
  const TrialMove* move;
  std::int64_t moves;
  AttributeView<1> charge;
  std::uint64_t ratio;  // Places::ratio
  double* energy;       // [group]

  PERRIN_HD Real charge_of(std::uint32_t place) const {
    return place == TrialMove::none ? Real(0) : charge(place);
  }
  PERRIN_HD void operator()(std::int64_t group) const {
    const Waves& w = of.waves;
    const std::int64_t first = group * lanes, room = of.room();
    Real re[lanes] = {}, im[lanes] = {};
    if (!move[0].is_tried()) {
      energy[group] = 0;
      return;
    }
    for (std::int64_t m = 0; m < moves && move[m].is_tried(); ++m) {
      const Real from = charge_of(move[m].before_as), to = charge_of(move[m].after_as);
      const Position &a = move[m].before, &b = move[m].after;
      const std::uint32_t az = Places::along_z(a, ratio), bz = Places::along_z(b, ratio);
#pragma omp simd simdlen(lanes)
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t wave = first + lane;
        const PointOnCircle before = unit_circle(w.phase(wave, a.x, a.y, az)),
                            after = unit_circle(w.phase(wave, b.x, b.y, bz));
        re[lane] += to * after.cosine - from * before.cosine;
        im[lane] += to * after.sine - from * before.sine;
      }
    }
    double of_lane[lanes];
#pragma omp simd simdlen(lanes)
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t wave = first + lane;
      const Real weight = wave < w.count ? w.weight(wave) : Real(0);
      of.change[wave] = re[lane], of.change[room + wave] = im[lane];
      of_lane[lane] = of.factor[wave] * double(re[lane]) +
                      of.factor[room + wave] * double(im[lane]) +
                      0.5 * double(weight * (re[lane] * re[lane] + im[lane] * im[lane]));
    }
    double sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += of_lane[lane];
    energy[group] = sum;
  }
};

struct AddUpGroups {
  const double* energy;
  std::int64_t groups;
  double* change;
  PERRIN_HD void operator()(std::int64_t) const {
    double sum = 0;
    for (std::int64_t group = 0; group < groups; ++group) sum += energy[group];
    change[0] += sum;
  }
};

struct FollowTrial {
  TrialWaves of;
  TrialMoves trials;
  const Position* position;
  PERRIN_HD void operator()(std::int64_t wave) const {
    if (!was_made(trials, position)) return;
    const double weight = wave < of.waves.count ? double(of.waves.weight(wave)) : 0.0;
    const std::int64_t room = of.room();
    of.factor[wave] += weight * double(of.change[wave]);
    of.factor[room + wave] += weight * double(of.change[room + wave]);
  }
};

}  // namespace

void EwaldTrials::begin_trials(StepContext& s) {
  const AttributeView<1> charge = pairs_.charges(s);
  waves_ = sum_.structure_factors(s, charge);
  const std::int64_t room = with_lanes(waves_.count);
  const Device& device = s.device();
  if (energy_.size() * lanes != room) {
    factor_ = {device, 2 * room}, change_ = {device, 2 * room}, energy_ = {device, room / lanes};
  }
  for_each(device, "waves of trial moves", room,
           TakeFactors{{waves_, factor_.data(), change_.data()}});
  moments_.begin_trials(s, charge);
}

void EwaldTrials::add_change(StepContext& s, const TrialMoves& trials) {
  const AttributeView<1> charge = pairs_.trial_charges(s);
  pairs_.correct_trials(s, trials, charge);
  moments_.add_change(s, charge, trials);
  const std::int64_t groups = energy_.size();
  if (groups == 0) return;
  const Device& device = s.device();
  for_each(device, "waves of a trial move", groups,
           ChangeOfWaves{{waves_, factor_.data(), change_.data()},
                         trials.move,
                         trials.count,
                         charge,
                         sum_.slab_ratio(s.particles.box),
                         energy_.data()});
  for_each(device, "energy of waves", 1, AddUpGroups{energy_.data(), groups, trials.change});
}

void EwaldTrials::follow_trial(StepContext& s, const TrialMoves& trials) {
  for_each(
      s.device(), "waves follow a trial move", energy_.size() * lanes,
      FollowTrial{{waves_, factor_.data(), change_.data()}, trials, s.particles.position.data()});
  moments_.follow_trial(s, trials);
}

}  // namespace perrin
