// The energy of two sites, for any floating-point type T, on the CPU and on the GPU.
#pragma once

#include <type_traits>

#include "forces/potentials/gaussian_core.h"
#include "forces/potentials/morse.h"
#include "forces/potentials/soft_dpd.h"
#include "forces/potentials/wca.h"
#include "forces/potentials/yukawa.h"
#include "model.h"

namespace perrin::metropolis {

/// What the loops need of a pair of types.
template <class T>
struct PairRow {
  T a, b;            // Lennard-Jones: sigma², 4 epsilon
  T c;               // the third parameter of the others
  T cutoff2, core2;  // length²; cutoff2 is very large where there is none
  T core_energy;     // of an overlap of cores: so much that no such move is accepted
  std::uint32_t kind;
};

/// Length per fixed-point unit along the axes.
template <class T>
struct Scale {
  T x, y, z;
  PERRIN_HD static Scale of(const Vec3<double>& box) {
    return {T(box.x * 0x1p-32), T(box.y * 0x1p-32), T(box.z * 0x1p-32)};
  }
};

template <class T>
PERRIN_HD T to_real(std::int32_t d) {
#ifdef __CUDA_ARCH__
  // Conversion to double is slow there; an exclusive or and a subtraction do it exactly.
  if constexpr (std::is_same_v<T, double>)
    return __hiloint2double(0x43300000, d ^ int(0x80000000u)) - 4503601774854144.0;
#endif
  return T(d);
}

/// 1/x to about the last bit; whatever at 0.
template <class T>
PERRIN_HD T quick_reciprocal(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  } else {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));  // 20 bits
    y = __fma_rn(__fma_rn(-x, y, 1.0), y, y);
    return __fma_rn(__fma_rn(-x, y, 1.0), y, y);
  }
#else
  return T(1) / x;
#endif
}

/// The minimum image of two sites.
template <class T>
PERRIN_HD Vec3<T> separation(std::uint32_t ax, std::uint32_t ay, std::uint32_t az, std::uint32_t bx,
                             std::uint32_t by, std::uint32_t bz, const Scale<T>& s) {
  return {to_real<T>(std::int32_t(ax - bx)) * s.x, to_real<T>(std::int32_t(ay - by)) * s.y,
          to_real<T>(std::int32_t(az - bz)) * s.z};
}
template <class T>
PERRIN_HD T distance2(std::uint32_t ax, std::uint32_t ay, std::uint32_t az, std::uint32_t bx,
                      std::uint32_t by, std::uint32_t bz, const Scale<T>& s) {
  const Vec3<T> d = separation<T>(ax, ay, az, bx, by, bz, s);
  return d.x * d.x + d.y * d.y + d.z * d.z;
}

/// (sigma/r)², at most 10⁵: two sites at one point have a large energy, not an infinite one, so
/// that differences of energies exist.
template <class T>
PERRIN_HD T scaled_inverse2(T r2, T sigma2) {
  const T s2 = sigma2 * quick_reciprocal(r2);
  return s2 < T(1e5) ? s2 : T(1e5);
}

/// Without cut-off or core, Lennard-Jones alone.
struct PlainLennardJones {
  static constexpr bool plain = true;
  template <class T>
  PERRIN_HD static T energy(T r2, const PairRow<T>& p) {
    const T s2 = scaled_inverse2(r2, p.a);
    const T s6 = s2 * s2 * s2;
    return p.b * s6 * (s6 - T(1));
  }
};

/// Everything that a row may say.
struct AnyPair {
  static constexpr bool plain = false;

  /// Before cut-off and core. The last three read their coefficients as forces/potentials/ makes
  /// them; c shifts Lennard-Jones (WCA).
  template <class T>
  PERRIN_HD static PairForce<T> uncut(T r2, const PairRow<T>& p) {
    switch (PairKind(p.kind)) {
      case PairKind::yukawa:
        return Yukawa::evaluate<T>(r2, {Real(p.a), Real(p.b)});
      case PairKind::morse:
        return Morse::evaluate<T>(r2, {Real(p.a), Real(p.b), Real(p.c)});
      case PairKind::gaussian_core:
        return GaussianCore::evaluate<T>(r2, {Real(p.a), Real(p.b)});
      case PairKind::soft_dpd:
        return SoftDpd::evaluate<T>(r2, {Real(p.a), Real(p.b)});
      default: {
        const T s2 = scaled_inverse2(r2, p.a);
        const T s6 = s2 * s2 * s2;
        const T scaled = p.b * s6;
        return {T(6) * scaled * (T(2) * s6 - T(1)) * (s2 / p.a), scaled * (s6 - T(1)) + p.c};
      }
    }
  }
  template <class T>
  PERRIN_HD static T energy(T r2, const PairRow<T>& p) {
    T u;
    if (p.kind <= std::uint32_t(PairKind::wca)) {
      const T s2 = scaled_inverse2(r2, p.a);
      const T s6 = s2 * s2 * s2;
      u = p.b * s6 * (s6 - T(1)) + p.c;
    } else {
      u = uncut(r2, p).energy;
    }
    u = r2 < p.cutoff2 ? u : T(0);
    return r2 < p.core2 ? p.core_energy : u;
  }
};

}  // namespace perrin::metropolis
