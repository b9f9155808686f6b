// One neutron with an energy, from the source to its end: the physics, the same bits on CPU and
// GPU.
//
// As in history.h every operation is one of rng/math.h or exact by itself, and every sum is one of
// integers. A flight goes from layer to layer, since the mean free path of each depends on the
// energy.
#pragma once

#include "energies.h"
#include "history.h"

namespace neutron {

constexpr float spectrum_flux_unit = 0x1p30f;  // track lengths, in thicknesses of the slab
/// A track that crosses a layer is at most so many times as long as the layer is thick: in a void
/// nothing ends it.
constexpr float longest_slant = 0x1p20f;

/// Rounded, since a track may be short beside the slab.
PERRIN_HD std::uint64_t nearest_in_units(float value, float unit) {
  return std::uint64_t(perrin::exact::fma(value, unit, 0.5f));
}

template <bool Weighted>
struct EnergyHistory : Gathered<Weighted> {
  using Gathered<Weighted>::collisions, Gathered<Weighted>::weight, Gathered<Weighted>::absorbed,
      Gathered<Weighted>::collided;
  float energy = -1, x = 0, mu = 1;  // negative energy: not yet begun
  int layer = 0;

  /// One flight and what it leads to: false when the history has ended and been added to `scores`.
  template <class Generator, class Recorder>
  PERRIN_HD bool advance(Generator& g, const Media& m, const Bins& bins, Recorder& recorder,
                         Scores& scores) {
    namespace exact = perrin::exact;
    if (energy < 0) {
      energy = m.source.draw_energy(g);
      mu = m.source.draw_mu(g);
      if (energy < m.cutoff) return ends(Scores::slowed, scores);
    }
    const int spectral = energy_bin(m, bins);
    CrossSections here;
    const int face = fly(g.template exponential<float>(), m, bins, spectral, recorder, here);
    if (face != 0) {
      const bool through = face > 0;
      if (bins.angles > 0)
        recorder.add(bins.angle(through, mu), in_units(this->mass(), angle_unit));
      record(through ? Bins::transmitted : Bins::reflected, spectral, this->mass(), bins, recorder);
      return ends(through ? Scores::transmitted : Scores::reflected, scores);
    }
    ++collisions;
    const float ratio = exact::divide(here.scattering, here.total);
    if constexpr (Weighted) {
      collided += weight;
      const float before = weight;
      weight = exact::multiply(weight, ratio < 1.0f ? ratio : 1.0f);
      absorbed += before - weight;
      record(Bins::absorbed, spectral, before - weight, bins, recorder);
      if (weight <= m.roulette && !this->survives_roulette(g, m.roulette))
        return ends(Scores::absorbed, scores);
    } else if (g.template uniform<float>() >= ratio) {
      record(Bins::absorbed, spectral, 1.0f, bins, recorder);
      return ends(Scores::absorbed, scores);
    }
    const Nucleus& nucleus = m.layer[layer].nucleus;
    if (nucleus.mass <= 0) {
      mu = g.template symmetric<float>();
      return true;
    }
    const Scattered to = scatter(g, nucleus, energy);
    energy = to.energy;
    if (energy < m.cutoff) return ends(Scores::slowed, scores);
    mu = turned(mu, to, exact::sincos_turn<float>(g.next()).cos);
    return true;
  }

 private:
  PERRIN_HD bool ends(Scores::Index how, Scores& scores) const {
    this->end(how, scores);
    return false;
  }

  /// Moves `length` mean free paths, or out: -1 and 1 tell of the faces, 0 of a collision, where
  /// `here` are the cross-sections.
  template <class Recorder>
  PERRIN_HD int fly(float length, const Media& m, const Bins& bins, int spectral,
                    Recorder& recorder, CrossSections& here) {
    namespace exact = perrin::exact;
    float slant = slant_of();
    float from = depth(m), path = 0,
          whole = 0;  // path: since the last mirror; whole: of the flight
    int face = 0;
    for (;;) {
      const float thickness = m.layer[layer].thickness;
      const float room = exact::multiply(mu > 0 ? thickness - x : x, slant);
      here = m.at(layer, energy);
      const float needed = exact::multiply(here.total, room);
      if (needed > length) {
        const float part = exact::divide(length, here.total);
        path += part;
        x = exact::fma(mu, part, x);
        if (x < 0) x = 0;
        if (x > thickness) x = thickness;
        break;
      }
      length -= needed;
      path += room;
      const bool forward = mu > 0;
      const bool last = forward ? layer + 1 == m.layers : layer == 0;
      if (!last) {
        layer += forward ? 1 : -1;
        x = forward ? 0.0f : m.layer[layer].thickness;
        continue;
      }
      x = forward ? thickness : 0.0f;
      if (!(forward ? m.far_reflects : m.near_reflects)) {
        face = forward ? 1 : -1;
        break;
      }
      record_track(from, depth(m), path, slant, m, bins, recorder);
      from = depth(m);
      whole += path;
      path = 0;
      mu = -mu;
    }
    record_track(from, depth(m), path, slant, m, bins, recorder);
    whole += path;
    if (bins.energies > 0)
      recorder.add(
          bins.spectrum(Bins::flux, spectral),
          nearest_in_units(exact::multiply(this->mass(), exact::multiply(whole, m.per_slab)),
                           spectrum_flux_unit));
    return face;
  }

  PERRIN_HD float slant_of() const {
    const float size = mu < 0 ? -mu : mu;
    return size > 1.0f / longest_slant ? perrin::exact::divide(1.0f, size) : longest_slant;
  }
  /// In bins.
  PERRIN_HD float depth(const Media& m) const {
    return perrin::exact::fma(x, m.per_length, m.layer[layer].begin);
  }
  PERRIN_HD int energy_bin(const Media& m, const Bins& bins) const {
    namespace exact = perrin::exact;
    return within(int(exact::multiply(exact::log(energy) - m.log_cutoff, m.per_log)),
                  bins.energies);
  }
  PERRIN_HD static int within(int bin, int bins) {
    return bin < 0 ? 0 : bin < bins ? bin : bins - 1;
  }
  template <class Recorder>
  PERRIN_HD void record(int kind, int spectral, float value, const Bins& bins,
                        Recorder& recorder) const {
    if (bins.energies > 0) recorder.add(bins.spectrum(kind, spectral), in_units(value, angle_unit));
  }

  /// A straight track from one depth to another, both in bins: what it crosses whole is kept as a
  /// difference at both ends, as in history.h.
  template <class Recorder>
  PERRIN_HD void record_track(float from, float to, float path, float slant, const Media& m,
                              const Bins& bins, Recorder& recorder) const {
    namespace exact = perrin::exact;
    if (bins.cells == 0) return;
    const float w = this->mass();
    const int first = within(int(from), bins.cells), last = within(int(to), bins.cells);
    if (first == last) {
      recorder.add(first, nearest_in_units(exact::multiply(w, exact::multiply(path, m.per_length)),
                                           flux_unit));
      return;
    }
    const float track = exact::multiply(w, slant);
    const bool forward = last > first;
    const float before = forward ? float(first + 1) - from : from - float(first);
    const float after = forward ? to - float(last) : float(last + 1) - to;
    recorder.add(first, nearest_in_units(exact::multiply(before, track), flux_unit));
    recorder.add(last, nearest_in_units(exact::multiply(after, track), flux_unit));
    const int begin = (forward ? first : last) + 1, end = forward ? last : first;
    if (begin == end) return;
    const std::uint64_t value = nearest_in_units(track, flux_unit);
    recorder.add(bins.crossing(begin), value);
    recorder.add(bins.crossing(end), 0 - value);
  }
};

}  // namespace neutron
