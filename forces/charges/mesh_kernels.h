// The kernels of the particle mesh (mesh_sum.h). For files compiled as CUDA.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/charges/mesh_sum.h"
#include "forces/charges/waves.h"
#include "forces/deposit.h"
#include "forces/device_math.h"

namespace perrin::mesh {

using Self = MeshSum::Self;

struct Points {
  std::int64_t nx, ny, nz;
  int order;

  PERRIN_HD std::int64_t count() const { return nx * ny * nz; }
};

/// The weights of the points around a particle along one axis, by the recursion of U. Essmann et
/// al., J. Chem. Phys. 103, 8577 (1995), eq. 4.1.
struct Weights {
  Real w[MeshTerms::most_order];
  std::int32_t first;

  PERRIN_HD Weights(std::uint32_t fraction, std::int64_t points, int order) {
    const std::uint64_t at = std::uint64_t(fraction) * std::uint64_t(points);
    first = std::int32_t(at >> 32);
    const Real f = Real(std::uint32_t(at)) * Real(1.0 / 4294967296.0);
    w[0] = Real(1) - f, w[1] = f;
    for (int p = 3; p <= order; ++p) {
      const Real part = Real(1) / Real(p - 1);
      w[p - 1] = part * f * w[p - 2];
      for (int j = p - 2; j > 0; --j)
        w[j] = part * ((f + Real(p - 1 - j)) * w[j - 1] + (Real(1 + j) - f) * w[j]);
      w[0] = part * (Real(1) - f) * w[0];
    }
  }
};

/// Calls visit(point, weight) for all points that a particle has to do with.
template <class Visit>
PERRIN_HD void around(const Points& points, const Position& p, std::uint64_t ratio,
                      const Visit& visit) {
  const std::uint32_t z = ratio == 0 ? p.z : std::uint32_t((std::uint64_t(p.z) * ratio) >> 31);
  const Weights wx(p.x, points.nx, points.order), wy(p.y, points.ny, points.order),
      wz(z, points.nz, points.order);
  for (int i = 0; i < points.order; ++i) {
    std::int64_t x = wx.first + i;
    x = x < points.nx ? x : x - points.nx;
    for (int j = 0; j < points.order; ++j) {
      std::int64_t y = wy.first + j;
      y = y < points.ny ? y : y - points.ny;
      const Real w = wx.w[i] * wy.w[j];
      const std::int64_t row = (x * points.ny + y) * points.nz;
      for (int k = 0; k < points.order; ++k) {
        std::int64_t c = wz.first + k;
        c = c < points.nz ? c : c - points.nz;
        visit(row + c, w * wz.w[k]);
      }
    }
  }
}

struct Clear {
  std::int64_t* fixed;
  PERRIN_HD void operator()(std::int64_t m) const { fixed[m] = 0; }
};

struct Spread {
  const Position* position;
  AttributeView<1> charge;
  Points points;
  std::uint64_t ratio;
  double units;  // of a unit charge
  bool alone;    // no other thread adds to this mesh
  std::int64_t* fixed;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real q = charge(std::uint32_t(i));
    if (q == Real(0)) return;
    around(points, position[i], ratio, [&](std::int64_t m, Real w) {
#ifdef __CUDA_ARCH__
      const auto add = std::int64_t(std::rint(double(q * w) * units));
      atomicAdd(reinterpret_cast<unsigned long long*>(fixed + m),
                static_cast<unsigned long long>(add));
#else
      // The same: of a sum with 3·2^51 the last bits are the whole number, up to 2^51.
      constexpr double shift = 6755399441055744.0;
      const auto add = std::bit_cast<std::int64_t>(double(q * w) * units + shift) -
                       std::bit_cast<std::int64_t>(shift);
      if (alone)
        fixed[m] += add;
      else
        __atomic_fetch_add(fixed + m, add, __ATOMIC_RELAXED);
#endif
    });
  }
};

struct ToComplex {
  const std::int64_t* fixed;  // [copy · points + point]
  std::int64_t points;
  int copies;
  double unit;
  Complex* charges;
  PERRIN_HD void operator()(std::int64_t m) const {
    std::int64_t sum = fixed[m];
    for (int copy = 1; copy < copies; ++copy) sum += fixed[copy * points + m];
    charges[m] = {Real(double(sum) * unit), Real(0)};
  }
};

struct WeighPoint {
  const Box* box;
  double stretch, quarter, constant;
  Points points;
  const double* filter;
  Real4* influence;

  PERRIN_HD void operator()(std::int64_t m) const {
    const std::int64_t x = m / (points.ny * points.nz), y = m / points.nz % points.ny,
                       z = m % points.nz;
    const auto number = [](std::int64_t n, std::int64_t all) {
      return double(2 * n < all ? n : n - all);
    };
    const Box cell = repeated_cell(*box, stretch);
    const Vec3<double> k =
        wave_vector(cell, number(x, points.nx), number(y, points.ny), number(z, points.nz));
    const double square = dot(k, k);
    constexpr double pi = 3.141592653589793;
    const double filtered = filter[x] * filter[points.nx + y] * filter[points.nx + points.ny + z];
    const double k_max =
        longest_wave(cell, double(points.nx), double(points.ny), double(points.nz));
    const double weight =
        m == 0 || square > k_max * k_max
            ? 0.0
            : filtered * 4 * pi * constant / (cell.volume() * square) * std::exp(-square * quarter);
    influence[m] = {Real(k.x), Real(k.y), Real(k.z), Real(weight)};
  }
};

/// 2 (1/k² + 1/4α²)
PERRIN_HD Real spread_of(const Real4& i, Real quarter) {
  return Real(2) * (reciprocal(Real(1e-24) + i.x * i.x + i.y * i.y + i.z * i.z) + quarter);
}

/// What the mesh adds to a charge and itself more than a sum over waves, on average; and, once,
/// what that sum adds, with the mean over directions beyond the last wave (ewald_sum.h).
struct AddSelf {
  const Real4* influence;
  const double *filter, *squares;
  Points points;
  const Box* box;
  double stretch, constant;
  double quarter;  // 1/(4 α²)
  PERRIN_HD Self operator()(std::int64_t m) const {
    const std::int64_t x = m / (points.ny * points.nz), y = m / points.nz % points.ny,
                       z = m % points.nz;
    Self s;
    if (m == 0) {
      constexpr double pi = 3.141592653589793;
      const Box cell = repeated_cell(*box, stretch);
      const double k_max =
          longest_wave(cell, double(points.nx), double(points.ny), double(points.nz));
      const double last = std::sqrt(quarter) * k_max;
      s.energy = constant * std::erf(last) / std::sqrt(4 * pi * quarter);
      for (int c = 0; c < 3; ++c)
        s.virial[c] = constant * k_max * std::exp(-last * last) / (3 * pi);
      return s;
    }
    const Real4 i = influence[m];
    if (i.w == Real(0)) return s;
    const std::int64_t at_y = points.nx + y, at_z = points.nx + points.ny + z;
    const double e = 0.5 * double(i.w) *
                     (squares[x] * squares[at_y] * squares[at_z] -
                      1 / (filter[x] * filter[at_y] * filter[at_z]));
    const double g = e * double(spread_of(i, Real(quarter)));
    const double kx = double(i.x), ky = double(i.y), kz = double(i.z);
    s.energy = e;
    s.virial[0] = e - g * kx * kx, s.virial[1] = e - g * ky * ky, s.virial[2] = e - g * kz * kz;
    s.virial[3] = -g * kx * ky, s.virial[4] = -g * kx * kz, s.virial[5] = -g * ky * kz;
    return s;
  }
};

PERRIN_HD Complex operator*(Real a, const Complex& b) { return {a * b.re, a * b.im}; }
/// a + i b, of transforms of real numbers: both come back in one transform.
PERRIN_HD Complex together(const Complex& a, const Complex& b) {
  return {a.re - b.im, a.im + b.re};
}

/// Transforms of the field: (x, y) and (z, potential), or z alone.
struct MakeFields {
  const Complex* charges;
  const Real4* influence;
  bool with_potential;
  Complex *a, *b;
  PERRIN_HD void operator()(std::int64_t m) const {
    const Real4 i = influence[m];
    const Complex potential = i.w * charges[m];
    const Complex turned{potential.im, -potential.re};  // -i times it
    a[m] = together(i.x * turned, i.y * turned);
    b[m] = with_potential ? together(i.z * turned, potential) : i.z * turned;
  }
};

/// All that a particle takes of a point beside each other.
struct JoinFields {
  const Complex *a, *b;
  Real4* fields;  // x, y and z; w: the potential
  PERRIN_HD void operator()(std::int64_t m) const {
    fields[m] = {a[m].re, a[m].im, b[m].re, b[m].im};
  }
};

/// sum += w field
PERRIN_HD void add_weighted(Real w, const Real4& field, Real4& sum) {
#ifdef __CUDA_ARCH__
  sum.x += w * field.x, sum.y += w * field.y, sum.z += w * field.z, sum.w += w * field.w;
#else
  sum = std::bit_cast<Real4>(w * std::bit_cast<FourReals>(field) + std::bit_cast<FourReals>(sum));
#endif
}

/// Transforms of the virial of a unit charge: (xx, yy), (zz, xy) and (xz, yz).
struct MakeVirials {
  Complex* charges;  // and (xz, yz)
  const Real4* influence;
  Real quarter;
  Complex *a, *b;
  PERRIN_HD void operator()(std::int64_t m) const {
    const Real4 i = influence[m];
    const Complex potential = i.w * charges[m];
    const Real g = i.w == Real(0) ? Real(0) : spread_of(i, quarter);
    a[m] = together((Real(1) - g * i.x * i.x) * potential, (Real(1) - g * i.y * i.y) * potential);
    b[m] = together((Real(1) - g * i.z * i.z) * potential, (-g * i.x * i.y) * potential);
    charges[m] = together((-g * i.x * i.z) * potential, (-g * i.y * i.z) * potential);
  }
};

/// Forces, and energies in steps with these.
struct GatherForces {
  const Position* position;
  AttributeView<1> charge;
  Points points;
  std::uint64_t ratio;
  const Real4* fields;
  const Self* self;  // in steps with energies
  ForceOutput out;
  std::int64_t particles;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real q = charge(std::uint32_t(i));
    Real4 sum{};
    if (q != Real(0))
      around(points, position[i], ratio,
             [&](std::int64_t m, Real w) { add_weighted(w, fields[m], sum); });
    const Real energy =
        self ? Real(0.5) * q * sum.w - Real(self->energy * double(q) * double(q)) : Real(0);
    const Real weighted = out.slow * q;
    deposit(out, particles, i, {weighted * sum.x, weighted * sum.y, weighted * sum.z}, energy,
            Virial{}, Real(1));
  }
};

struct GatherVirials {
  const Position* position;
  AttributeView<1> charge;
  Points points;
  std::uint64_t ratio;
  const Complex *a, *b, *c;  // of MakeVirials, back in space
  const Self* self;
  Real* virial;  // as in ForceOutput
  std::int64_t particles;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real q = charge(std::uint32_t(i));
    Real sum[6] = {};
    if (q != Real(0))
      around(points, position[i], ratio, [&](std::int64_t m, Real w) {
        sum[0] += w * a[m].re, sum[1] += w * a[m].im;
        sum[2] += w * b[m].re, sum[3] += w * b[m].im;
        sum[4] += w * c[m].re, sum[5] += w * c[m].im;
      });
    for (int k = 0; k < 6; ++k) {
      const Real own = Real(self->virial[k] * double(q) * double(q));
      virial[k * particles + i] += Real(0.5) * q * sum[k] - own;
    }
  }
};

}  // namespace perrin::mesh
