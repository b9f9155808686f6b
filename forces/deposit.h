// How a kernel hands in what it computed for one particle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/components/force.h"

namespace perrin {

/// Sum of r ⊗ f as ForceOutput orders it: xx yy zz xy xz yz.
struct Virial {
  std::array<Real, 6> c{};

  PERRIN_HD void add(Real3 r, Real3 f) {
    c[0] += r.x * f.x;
    c[1] += r.y * f.y;
    c[2] += r.z * f.z;
    c[3] += r.x * f.y;
    c[4] += r.x * f.z;
    c[5] += r.y * f.z;
  }
};

/// Writes or adds, as `out` asks, the force on particle i of n, and its shares of energy and virial
/// (`share` multiplies both). Particles that are not of the force's group get nothing.
PERRIN_HD void deposit(const ForceOutput& out, std::int64_t n, std::int64_t i, Real3 force,
                       Real energy, const Virial& virial, Real share) {
  Real4 total{force.x, force.y, force.z, out.energy ? share * energy : Real(0)};
  if (out.on && !out.on.has(out.id[i])) {
    if (out.add) return;
    total = {}, share = 0;
  }
  if (out.add) {
    const Real4 before = out.force[i];
    total = {before.x + total.x, before.y + total.y, before.z + total.z, before.w + total.w};
  }
  out.force[i] = total;
  if (!out.energy || out.virial == nullptr) return;
  for (int k = 0; k < 6; ++k) {
    Real& place = out.virial[k * n + i];
    const Real value = share * virial.c[static_cast<std::size_t>(k)];
    place = out.add ? place + value : value;
  }
}

/// The same of a pair loop's sums over all pairs of particle i: the force and, with `Energy`, the
/// energy and the virial. Each pair is seen twice: half of these belongs to each particle.
template <bool Energy, std::size_t Sums>
PERRIN_HD void deposit_pairs(const ForceOutput& out, std::int64_t n, std::int64_t i,
                             const Real (&sum)[Sums]) {
  Real4 f = out.add ? out.force[i] : Real4{};
  f.x += sum[0], f.y += sum[1], f.z += sum[2];
  if constexpr (Energy) {
    f.w += Real(0.5) * sum[3];
    if (out.virial) {
      for (int c = 0; c < 6; ++c) {
        Real& v = out.virial[c * n + i];
        v = (out.add ? v : Real(0)) + Real(0.5) * sum[4 + c];
      }
    }
  }
  out.force[i] = f;
}

}  // namespace perrin
