// Neutrons with energies, as the kernels see them: layers with cross-sections that depend on the
// energy, nuclei that take energy up, faces, and the source.
//
// Lengths are the user's, energies the user's. A place is a layer and a distance from that layer's
// near side, so that a neutron that crosses into a layer begins exactly at its edge.
#pragma once

#include <cstdint>

#include "rng/density.h"
#include "rng/math.h"
#include "slab.h"

namespace neutron {

/// At one energy, in 1/length.
struct CrossSections {
  float total = 0, scattering = 0;
};

/// Energies at which cross-sections are kept: in each octave 2^(23 - shift), evenly spaced, so that
/// the bits of a float give the place.
struct EnergyGrid {
  std::uint32_t first = 0;  // bits of the lowest node, shifted
  int shift = 17;
  int nodes = 0;

  double energy(int node) const {
    return double(perrin::exact::bits_of<float>((first + std::uint32_t(node)) << shift));
  }
  /// Linear in the energy between two nodes of `table`.
  PERRIN_HD CrossSections at(const CrossSections* table, float energy) const {
    const auto bits = perrin::exact::bits_of<std::uint32_t>(energy);
    const std::uint32_t node = (bits >> shift) - first;
    const std::uint32_t low = bits & ((1u << shift) - 1u);
    const float t = perrin::exact::divide(float(low), float(1u << shift));
    const CrossSections a = table[node], b = table[node + 1];
    return {perrin::exact::fma(t, b.total - a.total, a.total),
            perrin::exact::fma(t, b.scattering - a.scattering, a.scattering)};
  }
};

/// A nucleus at rest, of a mass in that of the neutron.
struct Nucleus {
  float mass = 0;  // 0: infinite, scattering is isotropic in the laboratory and keeps the energy
  float least = 0, twice = 0, scale = 0, rest = 0;  // (A - 1)^2, 2 A, 1 / (A + 1)^2, 1 - A

  static Nucleus of(double a) {
    return {float(a), float((a - 1) * (a - 1)), float(2 * a), float(1 / ((a + 1) * (a + 1))),
            float(1 - a)};
  }
};

/// After a collision: the energy, and the cosine and sine of the angle in the laboratory.
struct Scattered {
  float energy, cosine, sine;
};

/// Elastic, every direction in the frame of the centre of mass equally likely: with its cosine c,
/// E' = E (A^2 + 2 A c + 1) / (A + 1)^2, and the cosine in the laboratory is
/// (1 + A c) / sqrt(A^2 + 2 A c + 1). One word.
template <class Generator>
PERRIN_HD Scattered scatter(Generator& g, const Nucleus& n, float energy) {
  namespace exact = perrin::exact;
  const float v = exact::fma(float(g.next()), 0x1p-31f, 0x1p-32f);  // 1 + c, in (0, 2]
  const float q = exact::fma(n.twice, v, n.least);                  // A^2 + 2 A c + 1
  const float size = exact::sqrt(q);
  const float cosine = exact::divide(exact::fma(n.mass, v, n.rest), size);
  const float sine =
      exact::divide(exact::multiply(n.mass, exact::sqrt(exact::multiply(v, 2.0f - v))), size);
  return {exact::multiply(exact::multiply(energy, q), n.scale), cosine, sine};
}

/// The cosine to an axis after scattering, before it `mu`; `azimuth` is the cosine of the angle
/// around the old direction.
PERRIN_HD float turned(float mu, const Scattered& to, float azimuth) {
  namespace exact = perrin::exact;
  const float across = exact::sqrt(exact::multiply(1.0f - mu, 1.0f + mu));
  const float part = exact::multiply(exact::multiply(across, to.sine), azimuth);
  const float after = exact::fma(mu, to.cosine, part);
  return after > 1.0f ? 1.0f : after < -1.0f ? -1.0f : after;
}

struct MediumLayer {
  float thickness = 0;
  float begin = 0;  // near side, in bins of the depth
  Nucleus nucleus;
};

struct NeutronSource {
  enum Direction { beam, isotropic, cosine };
  enum Spectrum { one_energy, maxwell, density };
  int direction = beam;
  int spectrum = one_energy;
  float mu = 1;      // beam
  float energy = 1;  // one_energy; of maxwell the temperature k_B T
  perrin::DensityView<float> table;

  /// The cosine to the normal: of an isotropic source at the face every direction inwards is
  /// equally likely; an isotropic flux outside sends in ones of density 2 mu.
  template <class Generator>
  PERRIN_HD float draw_mu(Generator& g) const {
    if (direction == beam) return mu;
    const float u = g.template uniform_open<float>();
    return direction == isotropic ? u : perrin::exact::sqrt(u);
  }
  /// Of a Maxwellian gas the flux has E exp(-E/T) / T^2: the sum of two exponentials.
  template <class Generator>
  PERRIN_HD float draw_energy(Generator& g) const {
    if (spectrum == one_energy) return energy;
    if (spectrum == density) return table.draw(g);
    const float a = g.template exponential<float>(), b = g.template exponential<float>();
    return perrin::exact::multiply(energy, a + b);
  }
};

struct Media {
  int layers = 1;
  MediumLayer layer[max_layers];
  const CrossSections* table = nullptr;  // by layer, then by node
  EnergyGrid grid;
  float roulette = 0;
  bool near_reflects = false, far_reflects = false;
  float cutoff = 0;      // a history ends below this energy
  float log_cutoff = 0;  // its logarithm
  float per_log = 0;     // bins of the spectra in one unit of the logarithm
  float per_length = 0;  // bins of the depth in one unit of length
  float per_slab = 0;    // 1 / thickness of the slab
  NeutronSource source;

  PERRIN_HD CrossSections at(int k, float energy) const {
    return grid.at(table + std::int64_t(k) * grid.nodes, energy);
  }
};

}  // namespace neutron
