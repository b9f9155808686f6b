// One neutron of one speed, from the face of the slab to its end: the physics, the same bits on CPU
// and GPU. energy_history.h is that of neutrons with energies.
//
// Every operation is one of rng/math.h or exact by itself, and every sum over histories is one of
// integers: so the result does not depend on which thread ran which history.
#pragma once

#include <cstdint>

#include "rng/math.h"
#include "slab.h"

namespace neutron {

// Units of the integer sums, chosen so that a batch cannot overflow 64 bits (largest_batch in
// settings.h).
constexpr float weight_unit = 0x1p40f;      // probabilities of the weighted estimator
constexpr float collisions_unit = 0x1p20f;  // collisions of the weighted estimator
constexpr float square_unit = 0x1p4f;       // and their squares
constexpr float flux_unit = 0x1p24f;        // track lengths, in mean free paths
constexpr float angle_unit = 0x1p32f;       // weight in a bin of the exit angle

/// Sums over histories. Analogue: counts; weighted: the units above.
struct Scores {
  enum Index {
    transmitted,
    reflected,
    absorbed,
    collisions,
    collisions_square,
    slowed,  // below the energy at which histories end
    // Only of the weighted estimator; an indicator is its own square.
    transmitted_square,
    reflected_square,
    absorbed_square,
    slowed_square,
    simulated,  // collisions that were computed
    count
  };
  std::uint64_t sum[count] = {};
  static constexpr int used(bool weighted) { return weighted ? count : slowed + 1; }
};

/// Where observables are recorded: bins 0 … cells-1 partial tracks, then cells+1 differences of
/// crossings, then the exit angles of reflected and of transmitted neutrons, then the spectra.
struct Bins {
  const float* edge = nullptr;  // cells + 1
  int cells = 0, angles = 0, energies = 0;
  PERRIN_HD int crossing(int cell) const { return cells + cell; }
  PERRIN_HD int size() const { return spectrum(spectra, 0); }
  enum Spectrum { reflected, transmitted, absorbed, flux, spectra };
  PERRIN_HD int spectrum(int kind, int bin) const {
    return (cells > 0 ? 2 * cells + 1 : 0) + 2 * angles + kind * energies + bin;
  }
  PERRIN_HD int angle(bool through, float mu) const {
    const float size = mu < 0 ? -mu : mu;
    const int k = int(perrin::exact::multiply(size, float(angles)));
    return (cells > 0 ? 2 * cells + 1 : 0) + (through ? angles : 0) + (k < angles ? k : angles - 1);
  }
  /// The cell with edge[i] ≤ tau < edge[i+1].
  PERRIN_HD int find(float tau) const {
    int low = 0, high = cells;  // edge[low] ≤ tau, and tau < edge[high] or high = cells
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (edge[middle] <= tau ? low : high) = middle;
    }
    return low;
  }
};

PERRIN_HD std::uint64_t in_units(float value, float unit) {
  return std::uint64_t(perrin::exact::multiply(value, unit));
}

/// What a history has gathered, and how it goes into the sums.
template <bool Weighted>
struct Gathered {
  std::uint32_t collisions = 0;
  float weight = 1, absorbed = 0, collided = 0;  // Weighted

  PERRIN_HD float mass() const { return Weighted ? weight : 1.0f; }

  /// Below the weight `roulette`, r, a neutron goes on with the probability w / (2 r), and then
  /// with 2 r.
  template <class Generator>
  PERRIN_HD bool survives_roulette(Generator& g, float roulette) {
    if (weight <= 0) return false;
    const float stake = 2 * roulette;
    if (perrin::exact::multiply(g.template uniform<float>(), stake) >= weight) return false;
    weight = stake;
    return true;
  }

  PERRIN_HD void end(Scores::Index how, Scores& scores) const {
    namespace exact = perrin::exact;
    if constexpr (Weighted) {
      const float square = exact::multiply(weight, weight);
      if (how == Scores::transmitted) {
        scores.sum[Scores::transmitted] += in_units(weight, weight_unit);
        scores.sum[Scores::transmitted_square] += in_units(square, weight_unit);
      } else if (how == Scores::reflected) {
        scores.sum[Scores::reflected] += in_units(weight, weight_unit);
        scores.sum[Scores::reflected_square] += in_units(square, weight_unit);
      } else if (how == Scores::slowed) {
        scores.sum[Scores::slowed] += in_units(weight, weight_unit);
        scores.sum[Scores::slowed_square] += in_units(square, weight_unit);
      }
      scores.sum[Scores::absorbed] += in_units(absorbed, weight_unit);
      scores.sum[Scores::absorbed_square] +=
          in_units(exact::multiply(absorbed, absorbed), weight_unit);
      scores.sum[Scores::collisions] += in_units(collided, collisions_unit);
      scores.sum[Scores::collisions_square] +=
          in_units(exact::multiply(collided, collided), square_unit);
      scores.sum[Scores::simulated] += collisions;
    } else {
      scores.sum[Scores::transmitted] += how == Scores::transmitted;
      scores.sum[Scores::reflected] += how == Scores::reflected;
      scores.sum[Scores::absorbed] += how == Scores::absorbed;
      scores.sum[Scores::slowed] += how == Scores::slowed;
      scores.sum[Scores::collisions] += collisions;
      scores.sum[Scores::collisions_square] += std::uint64_t(collisions) * collisions;
    }
  }
};

template <bool Weighted, bool Observe>
struct History : Gathered<Weighted> {
  using Gathered<Weighted>::collisions, Gathered<Weighted>::weight, Gathered<Weighted>::absorbed,
      Gathered<Weighted>::collided;
  float tau = 0, mu = 1;
  int cell = -1;  // Observe; -1: still in front of the slab

  /// One flight and what it leads to: false when the history has ended and been added to `scores`.
  template <class Generator, class Recorder>
  PERRIN_HD bool advance(Generator& g, const Slab& slab, const Bins& bins, Recorder& recorder,
                         Scores& scores) {
    namespace exact = perrin::exact;
    const float length = g.template exponential<float>();
    const float from = tau;
    tau = exact::fma(mu, length, tau);
    if constexpr (Observe) record_flight(from, length, slab, bins, recorder);
    const bool through = tau >= slab.thickness;
    if (through || tau < 0) {
      if constexpr (Observe)
        if (bins.angles > 0)
          recorder.add(bins.angle(through, mu), in_units(Weighted ? weight : 1.0f, angle_unit));
      this->end(through ? Scores::transmitted : Scores::reflected, scores);
      return false;
    }
    ++collisions;
    const std::uint32_t word = g.next();
    if constexpr (Weighted) {
      collided += weight;
      const float before = weight;
      weight = exact::multiply(weight, slab.ratio_at(tau));
      absorbed += before - weight;
      mu = exact::multiply(float(std::int32_t(word ^ 0x80000000u)), 0x1p-31f);
      if (weight <= slab.roulette && !this->survives_roulette(g, slab.roulette)) {
        this->end(Scores::absorbed, scores);
        return false;
      }
    } else {
      std::uint32_t survive = slab.survive[0];
      float per_word = slab.per_word[0];
      for (int k = 1; k < slab.layers; ++k)
        if (tau >= slab.edge[k - 1]) survive = slab.survive[k], per_word = slab.per_word[k];
      // Scattered with probability survive / 2^31; then the word is uniform in 2·survive values,
      // and gives the direction too.
      if ((word >> 1) >= survive) {
        this->end(Scores::absorbed, scores);
        return false;
      }
      mu = exact::multiply(float(std::int32_t(word - survive)), per_word);
    }
    return true;
  }

 private:
  /// Track length: whole cells between the two ends are not visited one by one; the differences
  /// of the crossings are summed up afterwards.
  template <class Recorder>
  PERRIN_HD void record_flight(float from, float length, const Slab& slab, const Bins& bins,
                               Recorder& recorder) {
    namespace exact = perrin::exact;
    if (bins.cells == 0) return;
    const int first = cell;
    const int last = tau < 0 ? -1 : tau >= slab.thickness ? bins.cells : bins.find(tau);
    cell = last;
    const float w = Weighted ? weight : 1.0f;
    if (first == last) {
      recorder.add(first, in_units(exact::multiply(w, length), flux_unit));
      return;
    }
    const float size = mu < 0 ? -mu : mu;
    // A flight along a void would be endless; see docs/guide/neutron-slab.md.
    const float track = exact::multiply(w, size > 0x1p-20f ? exact::divide(1.0f, size) : 0x1p20f);
    const bool forward = last > first;
    if (first >= 0) {
      const float part = forward ? bins.edge[first + 1] - from : from - bins.edge[first];
      recorder.add(first, in_units(exact::multiply(part, track), flux_unit));
    }
    if (last >= 0 && last < bins.cells) {
      const float part = forward ? tau - bins.edge[last] : bins.edge[last + 1] - tau;
      recorder.add(last, in_units(exact::multiply(part, track), flux_unit));
    }
    const int begin = (forward ? first : last) + 1, end = forward ? last : first;
    if (begin == end) return;
    const std::uint64_t value = in_units(track, flux_unit);
    recorder.add(bins.crossing(begin), value);
    recorder.add(bins.crossing(end), 0 - value);
  }
};

}  // namespace neutron
