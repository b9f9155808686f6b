// What the checkerboard's CPU and GPU loops share: the shifted grid, a domain's coordinates, the
// random numbers of a trial and the energy of a pair.
#pragma once

#include <cmath>

#include "engine/base/real.h"
#include "engine/device/parallel.h"
#include "neighbor/cells/cell_of.h"
#include "pair_energy.h"
#include "rng/keyed.h"

namespace perrin::metropolis {

/// The grid of one sweep: even numbers of cells, the whole shifted by a random vector. Fixed-point
/// coordinates make the shift a subtraction that wraps.
struct CheckerboardGrid {
  Vec3<std::uint32_t> shift;
  Vec3<std::int32_t> cells;

  PERRIN_HD static std::uint32_t along(std::uint32_t p, std::uint32_t origin, std::int32_t n) {
    return std::uint32_t(cell_along(p - origin, n));
  }
  PERRIN_HD Vec3<std::int32_t> cell(const Position& p) const {
    return {std::int32_t(along(p.x, shift.x, cells.x)), std::int32_t(along(p.y, shift.y, cells.y)),
            std::int32_t(along(p.z, shift.z, cells.z))};
  }
  PERRIN_HD std::int32_t index(Vec3<std::int32_t> c) const {
    return (c.z * cells.y + c.y) * cells.x + c.x;
  }
  PERRIN_HD std::int32_t count() const { return cells.x * cells.y * cells.z; }
  PERRIN_HD Vec3<std::int32_t> coordinates(std::int32_t index_) const {
    const std::int32_t row = index_ / cells.x;
    return {index_ - row * cells.x, row % cells.y, row / cells.y};
  }
  PERRIN_HD static std::int32_t wrap(std::int32_t c, std::int32_t n) {
    return c < 0 ? c + n : c >= n ? c - n : c;
  }
  /// One of the 27 cells around c and c itself, which is number 0.
  PERRIN_HD std::int32_t neighbor(Vec3<std::int32_t> c, int number) const {
    const int k = number == 0 ? 13 : number <= 13 ? number - 1 : number;
    return index({wrap(c.x + k % 3 - 1, cells.x), wrap(c.y + k / 3 % 3 - 1, cells.y),
                  wrap(c.z + k / 9 - 1, cells.z)});
  }
  /// The first coordinate of cell i of n: the smallest p for which along(p, origin, n) is i.
  PERRIN_HD static std::uint32_t lower(std::int32_t i, std::uint32_t origin, std::int32_t n) {
    return origin + std::uint32_t(((std::uint64_t(std::uint32_t(i)) << 32) + std::uint32_t(n - 1)) /
                                  std::uint32_t(n));
  }
};

/// A cell in which particles are being moved. Local coordinates are relative to its centre: as
/// integers they are exact, as T rounded once, to 2^-24 of a few cells in single precision.
template <class T>
struct CheckerboardDomain {
  Vec3<std::uint32_t> center, half, width;  // fixed-point units
  Vec3<T> scale;                            // length per unit
  Vec3<T> reach;                            // half of the width as length

  PERRIN_HD CheckerboardDomain(const CheckerboardGrid& g, Vec3<std::int32_t> c, Vec3<T> length)
      : scale(length) {
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t lower = CheckerboardGrid::lower(c[a], g.shift[a], g.cells[a]);
      width[a] = CheckerboardGrid::lower(c[a] + 1, g.shift[a], g.cells[a]) - lower;
      half[a] = width[a] / 2;
      center[a] = lower + half[a];
      reach[a] = T(half[a] + 1) * scale[a];
    }
  }
  PERRIN_HD Vec3<std::int32_t> local(const Position& p) const {
    return {std::int32_t(p.x - center.x), std::int32_t(p.y - center.y),
            std::int32_t(p.z - center.z)};
  }
  PERRIN_HD bool inside(Vec3<std::int32_t> p) const {
    return std::uint32_t(p.x) + half.x < width.x && std::uint32_t(p.y) + half.y < width.y &&
           std::uint32_t(p.z) + half.z < width.z;
  }
  PERRIN_HD Vec3<T> point(Vec3<std::int32_t> p) const {
    return {T(p.x) * scale.x, T(p.y) * scale.y, T(p.z) * scale.z};
  }
  /// The square of the distance of a local point from the domain.
  PERRIN_HD T beyond2(Vec3<T> r) const {
    T sum = 0;
    for (int a = 0; a < 3; ++a) {
      T out = std::fabs(r[a]) - reach[a];
      out = out > T(0) ? out : T(0);
      sum += out * out;
    }
    return sum;
  }
};

/// One trial: where to, and the largest energy change that is accepted.
template <class T>
struct CheckerboardTrial {
  Vec3<std::int32_t> move;
  T threshold;

  /// `step`: the largest displacement along each axis in fixed-point units. The numbers, and so the
  /// attempted moves, have the same bits on every device.
  PERRIN_HD static CheckerboardTrial draw(const RunKey& key, std::uint64_t sweep, std::uint32_t id,
                                          std::uint32_t trial, Vec3<T> step, T kT) {
    auto random = keyed<Philox>(key, sweep, id, trial);
    CheckerboardTrial t;
    t.move.x = std::int32_t(std::rint(exact::multiply(random.symmetric<T>(), step.x)));
    t.move.y = std::int32_t(std::rint(exact::multiply(random.symmetric<T>(), step.y)));
    t.move.z = std::int32_t(std::rint(exact::multiply(random.symmetric<T>(), step.z)));
    t.threshold = exact::multiply(kT, random.exponential<T>());
    return t;
  }
};

PERRIN_HD Vec3<std::int32_t> displaced(Vec3<std::int32_t> p, Vec3<std::int32_t> by) {
  return {std::int32_t(std::uint32_t(p.x) + std::uint32_t(by.x)),
          std::int32_t(std::uint32_t(p.y) + std::uint32_t(by.y)),
          std::int32_t(std::uint32_t(p.z) + std::uint32_t(by.z))};
}

/// Where unused places of a list point to: beyond every cut-off.
template <class T>
constexpr T checkerboard_far = T(1e9);

/// The domains of one colour, and where their particles are, which are sorted by (cell, id).
struct CheckerboardColor {
  CheckerboardGrid grid;
  Vec3<std::int32_t> color;    // parity of the active cells
  const std::uint32_t* start;  // of each cell; count() + 1

  PERRIN_HD std::int64_t domains() const { return grid.count() / 8; }
  PERRIN_HD Vec3<std::int32_t> domain(std::int64_t d) const {
    const std::int32_t nx = grid.cells.x / 2, ny = grid.cells.y / 2;
    const std::int32_t i = std::int32_t(d), row = i / nx;
    return {2 * (i - row * nx) + color.x, 2 * (row % ny) + color.y, 2 * (row / ny) + color.z};
  }
  /// The places of a domain's particles.
  PERRIN_HD Share places(std::int64_t d) const {
    const std::int32_t c = grid.index(domain(d));
    return {start[c], start[c + 1]};
  }
};

/// What one colour of one sweep works on.
template <class T>
struct CheckerboardSweep : CheckerboardColor {
  Share own;  // the domains of this process
  Position* position;
  const std::uint32_t* id;
  const PairRow<T>* table;
  std::uint32_t types;
  Vec3<T> scale;  // length per fixed-point unit
  Vec3<T> step;   // largest displacement, fixed-point units
  T range2;       // square of the longest cut-off
  T list2;        // square of the radius of the lists of candidates
  T margin2;      // square of how far a particle may go from where its list was made
  T kT;
  int trials;  // of each particle, one after the other
  RunKey key;
  std::uint64_t sweep;
  double* energy;           // change, per cell of the coarse grid, added to
  std::uint64_t* accepted;  // likewise
};

/// Lennard-Jones with a cut-off and no core, in as few operations as can be. Unlike AnyPair it says
/// infinity or nothing (NaN) of two atoms at one point: bounded() is for the sum.
struct CutLennardJones {
  template <class T>
  PERRIN_HD static T energy(T r2, const PairRow<T>& p) {
    const T s2 = p.a * quick_reciprocal(r2);
    const T s6 = s2 * s2 * s2, scaled = p.b * s6;
    const T u = scaled * s6 - scaled;
    return r2 < p.cutoff2 ? u : T(0);
  }
};

/// The energy of a particle, where it is a number below 10³⁰, else that: no state is so bad that
/// differences from it do not exist.
template <class T>
PERRIN_HD T bounded(T energy) {
  return energy < T(1e30) ? energy : T(1e30);
}

}  // namespace perrin::metropolis
