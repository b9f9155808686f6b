// Spreading charges on the mesh and gathering from it, on the CPU: points along z are numbers of a
// vector. Rows of points along z have some more at their ends in memory, which stand for those at
// their beginnings, so that the points of a charge are always side by side. The order of the
// splines is a constant of the compiler, and sums stay in registers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "engine/device/parallel.h"
#include "forces/charges/mesh_kernels.h"
#include "neighbor/inline.h"

namespace perrin::mesh {

/// At the end of a row, more than a charge reaches.
constexpr std::int64_t beyond_row = 8;
static_assert(MeshTerms::most_order <= beyond_row);

// Anywhere in memory where such numbers are.
using EightReals
    [[gnu::vector_size(8 * sizeof(Real)), gnu::aligned(sizeof(Real)), gnu::may_alias]] = Real;
using EightDoubles [[gnu::vector_size(64)]] = double;
using EightIntegers [[gnu::vector_size(64), gnu::aligned(8), gnu::may_alias]] = std::int64_t;

/// The weights of the points around a particle along the three axes at a time: those of Weights.
template <int order>
struct RowWeights {
  FourReals w[order];    // x, y, z
  std::int32_t x, y, z;  // the first points

  PERRIN_INLINE RowWeights(const Position& p, const Points& points, std::uint64_t ratio) {
    const std::uint64_t at_x = std::uint64_t(p.x) * std::uint64_t(points.nx),
                        at_y = std::uint64_t(p.y) * std::uint64_t(points.ny),
                        at_z = std::uint64_t(fraction_along_z(p, ratio)) * std::uint64_t(points.nz);
    x = std::int32_t(at_x >> 32), y = std::int32_t(at_y >> 32), z = std::int32_t(at_z >> 32);
    const FourReals f =
        Real(1.0 / 4294967296.0) * FourReals{Real(std::uint32_t(at_x)), Real(std::uint32_t(at_y)),
                                             Real(std::uint32_t(at_z)), Real(0)};
    w[0] = Real(1) - f, w[1] = f;
    for (int p = 3; p <= order; ++p) {
      const Real part = Real(1) / Real(p - 1);
      w[p - 1] = part * f * w[p - 2];
      for (int j = p - 2; j > 0; --j)
        w[j] = part * ((f + Real(p - 1 - j)) * w[j - 1] + (Real(1 + j) - f) * w[j]);
      w[0] = part * (Real(1) - f) * w[0];
    }
  }
  /// Calls visit(first, weight) for the rows of points, by the first along z.
  template <class Visit>
  PERRIN_INLINE void for_rows(const Points& points, const Visit& visit) const {
    const auto nx = std::int32_t(points.nx), ny = std::int32_t(points.ny);
    for (int i = 0; i < order; ++i) {
      const std::int32_t at_x = x + i < nx ? x + i : x + i - nx;
      const Real weight = w[i][0];
      for (int j = 0; j < order; ++j) {
        const std::int32_t at_y = y + j < ny ? y + j : y + j - ny;
        visit(std::int64_t(at_x * ny + at_y) * points.row + z, weight * w[j][1]);
      }
    }
  }
};

/// In fixed point: of a sum with 3·2^51 the last bits are the whole number, up to 2^51. (A function
/// of its own: nvcc fails to compile it within a lambda.)
PERRIN_INLINE EightIntegers in_units(const EightReals& parts, double units) {
  constexpr double shift = 6755399441055744.0;
  const EightDoubles sums = __builtin_convertvector(parts, EightDoubles) * units + shift;
  return reinterpret_cast<EightIntegers>(sums) - std::bit_cast<std::int64_t>(shift);
}

template <int order>
struct SpreadByRows {
  Spread all;

  PERRIN_INLINE void operator()(std::int64_t i) const {
    const Real q = all.charge(std::uint32_t(i));
    if (q == Real(0)) return;
    const RowWeights<order> weights(all.position[i], all.points, all.ratio);
    EightReals along{};
    for (int k = 0; k < order; ++k) along[k] = weights.w[k][2];
    weights.for_rows(all.points, [&](std::int64_t m, Real w) {
      const EightIntegers units = in_units(q * (w * along), all.units);
      if (all.alone)
        *reinterpret_cast<EightIntegers*>(all.fixed + m) += units;  // beyond the order: 0
      else
        for (int k = 0; k < order; ++k)
          __atomic_fetch_add(all.fixed + m + k, units[k], __ATOMIC_RELAXED);
    });
  }
};

/// Body: GatherForces or GatherVirials.
template <int order, class Body>
struct GatherByRows {
  Body body;
  const std::uint32_t* places;  // of the particles; nullptr: from `begin` on
  std::int64_t begin;

  PERRIN_INLINE void operator()(std::int64_t k) const {
    if (places && places[k] == TrialMove::none) return;
    const std::int64_t i = places ? std::int64_t(places[k]) : begin + k;
    const Real q = body.charge(std::uint32_t(i));
    FourReals total{};
    if (q != Real(0)) {
      constexpr int pairs = (order + 1) / 2;
      const RowWeights<order> weights(body.position[i], body.points, body.ratio);
      EightReals sum[pairs] = {};
      weights.for_rows(body.points, [&](std::int64_t m, Real w) {
        const auto* row = reinterpret_cast<const EightReals*>(body.fields + m);
        for (int k = 0; k < pairs; ++k) sum[k] += w * row[k];
      });
      for (int k = 0; k < order; ++k) {
        const FourReals of = k % 2 == 0
                                 ? __builtin_shufflevector(sum[k / 2], sum[k / 2], 0, 1, 2, 3)
                                 : __builtin_shufflevector(sum[k / 2], sum[k / 2], 4, 5, 6, 7);
        total += weights.w[k][2] * of;
      }
    }
    body.give(i, q, std::bit_cast<Real4>(total));
  }
};

/// A row of charges, of what was spread on it in all copies of the mesh.
struct RowToReal {
  const std::int64_t* fixed;  // [copy · room + point in rows]
  Points points;
  int copies;
  double unit;
  Real* charges;  // [point]

  PERRIN_INLINE void operator()(std::int64_t row) const {
    const std::int64_t* from = fixed + row * points.row;
    Real* to = charges + row * points.nz;
    std::int64_t folded[beyond_row];
    for (std::int64_t k = 0; k < beyond_row; ++k) folded[k] = from[k] + from[points.nz + k];
    for (int copy = 1; copy < copies; ++copy)
      for (std::int64_t k = 0; k < beyond_row; ++k)
        folded[k] += from[copy * points.room() + k] + from[copy * points.room() + points.nz + k];
    for (std::int64_t k = 0; k < points.nz; ++k) {
      std::int64_t sum = from[k];
      for (int copy = 1; copy < copies; ++copy) sum += from[copy * points.room() + k];
      to[k] = Real(double(sum) * unit);
    }
    for (std::int64_t k = 0; k < beyond_row && k < points.nz; ++k)
      to[k] = Real(double(folded[k]) * unit);
  }
};

/// All that a particle takes of a point beside each other.
struct RowOfFields {
  const Real* of;  // [component · points + point]
  Points points;
  bool four;
  Real4* fields;  // [point in rows]

  PERRIN_INLINE void operator()(std::int64_t row) const {
    const Real* from = of + row * points.nz;
    const std::int64_t all = points.count();
    Real4* to = fields + row * points.row;
    for (std::int64_t k = 0; k < points.nz; ++k)
      to[k] = {from[k], from[all + k], from[2 * all + k], four ? from[3 * all + k] : Real(0)};
    for (std::int64_t k = 0; k < beyond_row; ++k) to[points.nz + k] = to[k];
  }
};

template <class Body>
void for_rows(const Device& device, const Share& rows, const Body& body) {
  if (device.halt().skipping()) return;
  for_pieces(device, rows.size(), 64, [&](std::int64_t begin, std::int64_t end) {
    run_range(body, rows.begin + begin, rows.begin + end);
  });
}

/// Of these particles, on the mesh at body.fixed or on one for each thread.
inline void spread_by_rows(const Device& device, const Share& share, const Spread& body,
                           int copies) {
  with_order(body.points.order, [&](auto order) {
    using Kernel = SpreadByRows<order()>;
    if (copies == 1) return for_rows(device, share, Kernel{body});
    if (device.halt().skipping()) return;
    const std::int64_t tasks = 8 * copies, piece = (share.size() + tasks - 1) / tasks;
    for_tasks(device, tasks, [&](std::int64_t task, int thread) {
      Kernel own{body};
      own.all.alone = true;
      own.all.fixed += thread * body.points.room();
      const std::int64_t begin = std::min(share.end, share.begin + task * piece),
                         end = std::min(share.end, begin + piece);
      if (begin < end) run_range(own, begin, end);
    });
  });
}

/// As for_each_particle().
template <class Body>
void gather_by_rows(StepContext& s, const ForceOutput& output, const Body& body) {
  const Share share = s.particles().share();
  const std::int64_t n = output.places ? output.count : share.size();
  with_order(body.points.order, [&](auto order) {
    for_rows(s.device(), {0, n}, GatherByRows<order(), Body>{body, output.places, share.begin});
  });
}

}  // namespace perrin::mesh
