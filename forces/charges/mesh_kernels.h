// The kernels of the particle mesh (mesh_sum.h). For files compiled as CUDA.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "engine/base/error.h"
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
  std::int64_t row;  // points of a row along z in memory: nz, or more on the CPU (mesh_rows.h)

  PERRIN_HD std::int64_t count() const { return nx * ny * nz; }
  PERRIN_HD std::int64_t room() const { return nx * ny * row; }
};

/// The numbers of the waves of a mesh, in the order of Fft3: of z half.
struct MeshWave {
  std::int64_t x, y, z;

  PERRIN_HD MeshWave(const Points& p, std::int64_t m) {
    const std::int64_t half = p.nz / 2 + 1;
    x = m / (p.ny * half), y = m / half % p.ny, z = m % half;
  }
};

/// Of a slab's cell, which is longer than the box.
PERRIN_HD std::uint32_t fraction_along_z(const Position& p, std::uint64_t ratio) {
  return ratio == 0 ? p.z : std::uint32_t((std::uint64_t(p.z) * ratio) >> 31);
}

/// f with the order as a constant.
template <class F>
void with_order(int order, const F& f) {
  switch (order) {
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    case 6:
      return f(std::integral_constant<int, 6>());
    case 7:
      return f(std::integral_constant<int, 7>());
    case 8:
      return f(std::integral_constant<int, 8>());
    default:
      throw BugError("a mesh has splines of order 3 to 8");
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
};

/// On a GPU whose steps change the box: has it changed since the influence was computed?
struct NoteBox {
  const Box* box;
  Box* weighed;
  std::uint32_t* stale;

  PERRIN_HD void operator()(std::int64_t) const {
    const Box &a = *box, &b = *weighed;
    *stale = a.length.x != b.length.x || a.length.y != b.length.y || a.length.z != b.length.z ||
             a.xy != b.xy || a.xz != b.xz || a.yz != b.yz;
    *weighed = a;
  }
};

struct WeighWave {
  const std::uint32_t* stale;  // nullptr: it is
  const Box* box;
  double stretch, quarter, constant;
  Points points;
  const double* filter;
  Real4* influence;

  PERRIN_HD void operator()(std::int64_t m) const {
    if (stale && *stale == 0) return;
    const auto [x, y, z] = MeshWave(points, m);
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
    const auto [x, y, z] = MeshWave(points, m);
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
    const double both = z > 0 && 2 * z < points.nz ? 2 : 1;  // it, and the one at -n
    const double e = both * 0.5 * double(i.w) *
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

/// f for some lines along x of all waves; of each x.
template <class F>
struct OnLines {
  F f;
  std::int64_t all;  // lines
  Share some;
  PERRIN_HD void operator()(std::int64_t x) const {
    for (std::int64_t line = some.begin; line < some.end; ++line) f(x * all + line);
  }
};

/// Transforms of the field and, in steps with energies, of the potential.
struct MakeFields {
  const Complex* charges;
  const Real4* influence;
  bool with_potential;
  std::int64_t waves;
  Complex* fields;  // [component · waves + wave]
  PERRIN_HD void operator()(std::int64_t m) const {
    const Real4 i = influence[m];
    const Complex potential = i.w * charges[m];
    const Complex turned{potential.im, -potential.re};  // -i times it
    fields[m] = i.x * turned, fields[waves + m] = i.y * turned;
    fields[2 * waves + m] = i.z * turned;
    if (with_potential) fields[3 * waves + m] = potential;
  }
};

/// Transforms of the virial of a unit charge: xx, yy and zz, or xy, xz and yz.
struct MakeVirials {
  const Complex* charges;
  const Real4* influence;
  Real quarter;
  bool diagonal;
  std::int64_t waves;
  Complex* virials;  // [component · waves + wave]
  PERRIN_HD void operator()(std::int64_t m) const {
    const Real4 i = influence[m];
    const Complex potential = i.w * charges[m];
    const Real g = i.w == Real(0) ? Real(0) : spread_of(i, quarter);
    const Real3 of =
        diagonal ? Real3{Real(1) - g * i.x * i.x, Real(1) - g * i.y * i.y, Real(1) - g * i.z * i.z}
                 : Real3{-g * i.x * i.y, -g * i.x * i.z, -g * i.y * i.z};
    virials[m] = of.x * potential, virials[waves + m] = of.y * potential;
    virials[2 * waves + m] = of.z * potential;
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

  PERRIN_HD void give(std::int64_t i, Real q, const Real4& sum) const {
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
  const Real4* fields;  // MakeVirials, back in space
  const Self* self;
  Real* virial;  // as in ForceOutput
  int first;     // of its components: 0 or 3
  std::int64_t particles;

  PERRIN_HD void give(std::int64_t i, Real q, const Real4& sum) const {
    const Real of[3] = {sum.x, sum.y, sum.z};
    for (int k = 0; k < 3; ++k) {
      const Real own = Real(self->virial[first + k] * double(q) * double(q));
      virial[(first + k) * particles + i] += Real(0.5) * q * of[k] - own;
    }
  }
};

}  // namespace perrin::mesh
