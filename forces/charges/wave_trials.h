// Trial moves of the sources of waves, charges (ewald_trials.h) or dipoles (dipole_trials.h), one
// after another. A trial changes S(k) by δ(k), of the particles that it moves alone, and the energy
// of waves by Σ_k A(k) [Re(S* δ) + |δ|²/2] over both halves of space (the sums of
// forces/charges/ewald_sum.h). S(k) follows each trial that is made, and is summed up anew before
// the first one of a sweep, so that rounding errors do not add up. For files compiled as CUDA.
#pragma once

#include "engine/components/coupled_trials.h"
#include "engine/components/step_context.h"
#include "engine/device/buffer.h"
#include "engine/device/parallel.h"
#include "forces/charges/unit_circle.h"
#include "forces/charges/wave_kernels.h"

namespace perrin::waves {

/// For kernels: [wave], in groups of `lanes`.
struct TrialWaves {
  Waves waves;
  double* factor;  // [re, im]: S(k) times the weight
  Real* change;    // [re, im]: δ(k) of the last trial

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

/// δ(k) of a group of waves, and what it changes of their energy. Moved: before(move, m) and
/// after(move, m) give what a particle is as a source, strength(source, k) what it adds to S(k).
template <class Moved>
struct ChangeOfWaves {
  TrialWaves of;
  TrialMoves trials;
  Moved moved;
  std::uint64_t ratio;  // Places::ratio
  double* energy;       // [group]

  PERRIN_HD void operator()(std::int64_t group) const {
    const Waves& w = of.waves;
    const std::int64_t first = group * lanes, room = of.room();
    if (!trials.move[0].is_tried()) {
      energy[group] = 0;
      return;
    }
    Real re[lanes] = {}, im[lanes] = {};
    for (std::int64_t m = 0; m < trials.count && trials.move[m].is_tried(); ++m) {
      const TrialMove& move = trials.move[m];
      const auto from = moved.before(move), to = moved.after(move, m);
      const Position &a = move.before, &b = move.after;
      const std::uint32_t az = Places::along_z(a, ratio), bz = Places::along_z(b, ratio);
#pragma omp simd simdlen(lanes)
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t wave = first + lane;
        const PointOnCircle before = unit_circle(w.phase(wave, a.x, a.y, az)),
                            after = unit_circle(w.phase(wave, b.x, b.y, bz));
        const Real there = Moved::strength(to, w, wave), here = Moved::strength(from, w, wave);
        re[lane] += there * after.cosine - here * before.cosine;
        im[lane] += there * after.sine - here * before.sine;
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

/// Made: says whether the last trial was.
template <class Made>
struct NoteWhetherMade {
  Made made;
  std::uint32_t* flag;
  PERRIN_HD void operator()(std::int64_t) const { *flag = made() ? 1 : 0; }
};

struct FollowTrial {
  TrialWaves of;
  const std::uint32_t* made;
  PERRIN_HD void operator()(std::int64_t wave) const {
    if (*made == 0) return;
    const double weight = wave < of.waves.count ? double(of.waves.weight(wave)) : 0.0;
    const std::int64_t room = of.room();
    of.factor[wave] += weight * double(of.change[wave]);
    of.factor[room + wave] += weight * double(of.change[room + wave]);
  }
};

/// The waves of CoupledTrials.
class WaveTrials {
 public:
  void begin(const Device& device, const Waves& waves) {
    waves_ = waves;
    const std::int64_t room = with_lanes(waves.count);
    if (energy_.size() * lanes != room) {
      factor_ = {device, 2 * room}, change_ = {device, 2 * room};
      energy_ = {device, room / lanes};
    }
    if (made_.size() == 0) made_ = {device, 1};
    for_each(device, "waves of trial moves", room, TakeFactors{view()});
  }
  template <class Moved>
  void add_change(const Device& device, const TrialMoves& trials, const Moved& moved,
                  std::uint64_t ratio) {
    const std::int64_t groups = energy_.size();
    for_each(device, "waves of a trial move", groups,
             ChangeOfWaves<Moved>{view(), trials, moved, ratio, energy_.data()});
    for_each(device, "energy of waves", groups > 0 ? 1 : 0,
             AddUpGroups{energy_.data(), groups, trials.change});
  }
  template <class Made>
  void follow(const Device& device, const Made& made) {
    for_each(device, "whether a trial was made", 1, NoteWhetherMade<Made>{made, made_.data()});
    for_each(device, "waves follow a trial move", energy_.size() * lanes,
             FollowTrial{view(), made_.data()});
  }

 private:
  TrialWaves view() { return {waves_, factor_.data(), change_.data()}; }

  Waves waves_{};
  Buffer<double> factor_;  // zeros behind the last wave
  Buffer<Real> change_;
  Buffer<double> energy_;  // [group of waves]: what the last trial changes
  Buffer<std::uint32_t> made_;
};

}  // namespace perrin::waves
