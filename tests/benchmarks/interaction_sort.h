// Sorting of interactions after E. S. Fomin: a study of searches without lists, for
// `perrin-bench interaction-sort` and its test. docs/papers.md has what it found.
//
// A cubic periodic box is divided into cells as wide as the range, or half as wide. Which particles
// of a neighbouring cell a particle meets depends on the cut:
//   none   all of them;
//   by_x   the particles of cells are in order of x: those no further away along x than what the
//          distance to the row of cells leaves of the range (neighbor/tiles/sorted_rows.cuh);
//   axes   cells have an order along each of the axes that join two cells (13 of them, 49 with half
//          cells): those no further away along the axis of the two cells than the range.
// Orders are made once per step, by one call of the short sorts (neighbor/sort/short_sort.h). Their
// words are all that is kept: the place along the axis, mapped to 16 bits, above the index in the
// cell. For files compiled as CUDA (engine/device/parallel.h).
#pragma once

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "engine/device/parallel.h"
#include "neighbor/cells/cell_sort.h"
#include "neighbor/sort/short_sort.h"

namespace perrin::interaction_sort {

enum class Cut { none, by_x, axes };
inline const char* name_of(Cut cut) {
  return cut == Cut::none ? "none" : cut == Cut::by_x ? "by x" : "joining axes";
}

/// From a cell to one of its neighbours.
struct Direction {
  std::int32_t x, y, z;  // in cells
  std::int32_t axis;     // number of the order along it
  std::int32_t sign;     // of the direction against the axis
  Vec3<Real> along;      // the axis, a unit vector
  Real low, scale;       // a place along the axis within a cell as 16 bits: short_sort_map()
  Real left;             // of the range, when the distance of the middles is taken off
};

/// The directions to all neighbours, (z, y, x) ascending, where `reach` cells make up the range.
/// The own cell is not among them. Returns the number of axes.
inline int make_directions(int reach, double range, double width, std::vector<Direction>& to) {
  struct Axis {
    int x, y, z;
  };
  std::vector<Axis> axes;
  to.clear();
  for (int z = -reach; z <= reach; ++z)
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x) {
        if (x == 0 && y == 0 && z == 0) continue;
        const int divisor = std::gcd(std::gcd(std::abs(x), std::abs(y)), std::abs(z));
        const int sign = z > 0 || (z == 0 && (y > 0 || (y == 0 && x > 0))) ? 1 : -1;
        const Axis a{sign * x / divisor, sign * y / divisor, sign * z / divisor};
        std::size_t number = 0;
        while (number < axes.size() &&
               (axes[number].x != a.x || axes[number].y != a.y || axes[number].z != a.z))
          ++number;
        if (number == axes.size()) axes.push_back(a);
        const double length = std::sqrt(double(a.x * a.x + a.y * a.y + a.z * a.z));
        const double half = width / 2 * (std::abs(a.x) + std::abs(a.y) + std::abs(a.z)) / length;
        to.push_back({x,
                      y,
                      z,
                      int(number),
                      sign,
                      {Real(a.x / length), Real(a.y / length), Real(a.z / length)},
                      Real(-half),
                      Real(65536 / (2 * half)),
                      Real(range * (1 + 1e-5) - divisor * length * width)});
      }
  return int(axes.size());
}

/// Cells, their particles and the orders, for kernels.
struct View {
  std::int32_t cells;          // along each edge
  std::int32_t reach;          // cells to the range
  std::int64_t n;              // particles
  Real width, range;           // of a cell; of the interaction
  const std::int32_t* start;   // of cells
  const Real4* place;          // by cell: from the middle of the cell; w: the cell, as bits
  const std::uint32_t* words;  // [axis][place]: within each cell in order along the axis
  const Direction* directions;
  std::int32_t direction_count;

  PERRIN_HD std::int32_t cell_of(const Real4& p) const {
#ifdef __CUDA_ARCH__
    return __float_as_int(float(p.w));
#else
    const auto w = float(p.w);
    std::int32_t cell;
    std::memcpy(&cell, &w, sizeof cell);
    return cell;
#endif
  }
  /// The cell at the other end of a direction from that at x, y, z.
  PERRIN_HD std::int32_t neighbour(std::int32_t x, std::int32_t y, std::int32_t z) const {
    x += x < 0 ? cells : x >= cells ? -cells : 0;
    y += y < 0 ? cells : y >= cells ? -cells : 0;
    z += z < 0 ? cells : z >= cells ? -cells : 0;
    return (z * cells + y) * cells + x;
  }
};

namespace detail {

struct FindCells {
  const Position* position;
  std::int32_t cells;
  CellCounter counter;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = position[i];
    const auto part = [&](std::uint32_t f) {
      return std::uint32_t((std::uint64_t(f) * std::uint32_t(cells)) >> 32);
    };
    const std::uint32_t c = std::uint32_t(cells);
    counter(i, (part(p.z) * c + part(p.y)) * c + part(p.x));
  }
};

/// Puts the particles in their places, in order of x or as they are numbered. On the CPU members of
/// cells are in order of their numbers, and sorted by x afterwards.
struct PlaceParticles {
  const Position* position;
  CellRank rank;
  std::int32_t cells;
  Real width;
  Real4* place;
  std::uint32_t* number;  // of the particle at a place
  PERRIN_HD void operator()(std::int64_t k) const {
#ifdef __CUDA_ARCH__
    std::uint32_t i = 0;
    const std::uint32_t at = rank(k, i);
#else
    const std::uint32_t i = rank.member[k];
    const auto at = std::uint32_t(k);
#endif
    const Position p = position[i];
    const auto inside = [&](std::uint32_t f) {
      const std::uint32_t low = f * std::uint32_t(cells);
      return (Real(low) * Real(1.0 / 4294967296.0) - Real(0.5)) * width;
    };
    const auto cell = std::int32_t(rank.key[i]);
#ifdef __CUDA_ARCH__
    const float w = __int_as_float(cell);
#else
    float w;
    std::memcpy(&w, &cell, sizeof w);
#endif
    place[at] = {inside(p.x), inside(p.y), inside(p.z), Real(w)};
    number[at] = i;
  }
};

/// CPU only: the particles of a cell by x, in place; as many as a cell has, insertion does.
struct SortByX {
  const std::int32_t* start;
  Real4* place;
  std::uint32_t* number;
  PERRIN_HD void operator()(std::int64_t cell) const {
    for (std::int32_t k = start[cell] + 1; k < start[cell + 1]; ++k) {
      const Real4 p = place[k];
      const std::uint32_t i = number[k];
      std::int32_t to = k;
      for (; to > start[cell] && place[to - 1].x > p.x; --to)
        place[to] = place[to - 1], number[to] = number[to - 1];
      place[to] = p, number[to] = i;
    }
  }
};

struct Iota {
  std::uint32_t* to;
  PERRIN_HD void operator()(std::int64_t i) const { to[i] = std::uint32_t(i); }
};

/// Keys of all orders, and where each order of each cell begins.
struct PackKeys {
  View v;
  const Direction* first_of_axis;
  std::int32_t axes;
  std::uint32_t* words;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 p = v.place[i];
    const auto index = std::uint32_t(i) - std::uint32_t(v.start[v.cell_of(p)]);
    for (std::int32_t a = 0; a < axes; ++a) {
      const Direction& d = first_of_axis[a];
      words[a * v.n + i] =
          short_sort_word(short_sort_map(dot(d.along, p.xyz()), d.low, d.scale), index);
    }
  }
};

struct OrderOffsets {
  const std::int32_t* start;
  std::int64_t cells, n;  // cells in all
  std::int32_t axes;
  std::int32_t* offsets;
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t axis = k / cells, cell = k % cells;
    offsets[k] = std::int32_t(axis * n) + (axis < axes ? start[cell] : 0);
  }
};

}  // namespace detail

/// The cells of particles in a cubic box, and the orders that a cut needs.
class Orders {
 public:
  /// Cells as wide as the range (reach 1) or half as wide (2). The box has at least 2 reach + 1
  /// cells to an edge; below 65 536 particles in a cell, 2³¹ keys in all.
  Orders(const Device& device, std::int64_t n, double edge, double range, int reach, Cut cut)
      : cut_(cut),
        cells_(std::int32_t(std::floor(edge / range * reach))),
        reach_(reach),
        width_(edge / cells_),
        range_(range),
        sort_(device, n, cell_count()),
        place_(device, n),
        number_(device, n),
        numbers_(device, n) {
    PERRIN_ASSERT(cells_ > 2 * reach);
    std::vector<Direction> directions;
    const int axes = make_directions(reach, range, width_, directions);
    directions_ = {device, std::span<const Direction>(directions)};
    for_each(device, "numbers", n, detail::Iota{numbers_.data()});
    if (cut != Cut::axes) return;
    axes_ = axes;
    std::vector<Direction> first(static_cast<std::size_t>(axes));
    for (const Direction& d : directions) first[std::size_t(d.axis)] = d;
    first_of_axis_ = {device, std::span<const Direction>(first)};
    words_ = {device, n * axes};
    offsets_ = {device, cell_count() * axes + 1};
  }

  /// Once per step: particles into cells, and the orders. Device work only.
  void prepare(const Position* position) {
    sort_cells(position);
    if (axes_ > 0) sort_interactions();
  }
  /// How many particles the fullest cell has. Waits.
  std::int32_t fullest_cell() const {
    std::vector<std::uint32_t> start(std::size_t(cell_count()) + 1);
    place_.device().memory().copy_out(start.data(), sort_.start(), start.size() * sizeof start[0]);
    std::uint32_t most = 0;
    for (std::size_t c = 0; c + 1 < start.size(); ++c)
      most = std::max(most, start[c + 1] - start[c]);
    return std::int32_t(most);
  }
  void sort_cells(const Position* position) {
    const Device& device = place_.device();
    const std::int64_t n = place_.size();
    for_each(device, "cells", n, detail::FindCells{position, cells_, sort_.counter()});
    sort_.distribute();
    for_each(device, "places", n,
             detail::PlaceParticles{
                 position, sort_.rank(numbers_.data(), cut_ == Cut::by_x ? position : nullptr),
                 cells_, Real(width_), place_.data(), number_.data()});
    if (cut_ == Cut::by_x && !device.is_cuda())
      for_each(device, "by x", cell_count(),
               detail::SortByX{view().start, place_.data(), number_.data()});
  }
  void sort_interactions() {
    const Device& device = place_.device();
    const std::int64_t n = place_.size(), orders = cell_count() * axes_;
    for_each(device, "offsets of orders", orders + 1,
             detail::OrderOffsets{view().start, cell_count(), n, axes_, offsets_.data()});
    for_each(device, "keys of orders", n,
             detail::PackKeys{view(), first_of_axis_.data(), axes_, words_.data()});
    short_sort(device, words_.data(), words_.data(), offsets_.data(), orders);
  }

  View view() const {
    return {cells_,
            reach_,
            place_.size(),
            Real(width_),
            Real(range_),
            reinterpret_cast<const std::int32_t*>(sort_.start()),
            place_.data(),
            words_.data(),
            directions_.data(),
            std::int32_t(directions_.size())};
  }
  /// The particle at each place.
  const Buffer<std::uint32_t>& number() const { return number_; }
  const Device& device() const { return place_.device(); }
  Cut cut() const { return cut_; }
  std::int64_t cell_count() const { return std::int64_t(cells_) * cells_ * cells_; }
  int axes() const { return axes_; }
  double width() const { return width_; }

 private:
  Cut cut_;
  std::int32_t cells_;
  int reach_, axes_ = 0;
  double width_, range_;
  CellSort sort_;
  Buffer<Real4> place_;
  Buffer<std::uint32_t> number_, numbers_;
  Buffer<Direction> directions_, first_of_axis_;
  Buffer<std::uint32_t> words_;
  Buffer<std::int32_t> offsets_;
};

/// A thread for each particle: every pair is seen from both sides. Body: State, begin(place),
/// meet(state, vector from the other, its square, place of the other), end(place, state).
template <Cut cut, class Body>
struct ParticleSearch {
  View v;
  Body body;

  using State = typename Body::State;

  PERRIN_HD void meet(State& state, const Real3& r, std::int32_t other) const {
    const Real3 d = r - v.place[other].xyz();
    body.meet(state, d, dot(d, d), std::uint32_t(other));
  }

  PERRIN_HD void own_cell(State& state, const Real3& r, std::int32_t i, std::int32_t cell) const {
    for (std::int32_t k = v.start[cell]; k < v.start[cell + 1]; ++k)
      if (k != i) meet(state, r, k);
  }

  /// The neighbour's particles from the near end of its order along the axis of the two cells.
  PERRIN_HD void along_axis(State& state, const Real3& r, const Real3& from, const Direction& d,
                            std::int32_t cell) const {
    const Real at = dot(d.along, r), sign = Real(d.sign), limit = at + sign * d.left;
    if (sign * limit < d.low) return;  // nobody is near enough
    const std::int32_t begin = v.start[cell], end = v.start[cell + 1];
    // Descending where the axis points the other way: the complement of a word ascends.
    const std::uint32_t flip = d.sign > 0 ? 0u : 0xffffffffu;
    const std::uint32_t last =
        short_sort_word(short_sort_map(limit, d.low, d.scale), d.sign > 0 ? 0xffffu : 0u) ^ flip;
    const std::uint32_t* words = v.words + d.axis * v.n + (d.sign > 0 ? begin : end - 1);
    for (std::int32_t left = end - begin; left > 0; --left, words += d.sign) {
      const std::uint32_t word = *words;
      if ((word ^ flip) > last) break;
      meet(state, from, begin + std::int32_t(short_sort_index(word)));
    }
  }

  /// Those of a cell in order of x that are no further away along x than `chord`.
  PERRIN_HD void along_x(State& state, const Real3& from, Real chord, std::int32_t side,
                         std::int32_t cell) const {
    std::int32_t begin = v.start[cell], end = v.start[cell + 1];
    const Real first = from.x - chord, last = from.x + chord;
    if (side < 0) {
      for (std::int32_t k = end - 1; k >= begin && v.place[k].x >= first; --k) meet(state, from, k);
    } else {
      if (side == 0)
        while (begin < end && v.place[begin].x < first) ++begin;
      for (std::int32_t k = begin; k < end && v.place[k].x <= last; ++k) meet(state, from, k);
    }
  }

  PERRIN_HD void operator()(std::int64_t index) const {
    const auto i = std::int32_t(index);
    const Real4 p = v.place[i];
    const Real3 r = p.xyz();
    const std::int32_t cell = v.cell_of(p);
    const std::int32_t x = cell % v.cells, y = cell / v.cells % v.cells,
                       z = cell / v.cells / v.cells;
    State state = body.begin(index);
    own_cell(state, r, i, cell);
    for (std::int32_t k = 0; k < v.direction_count; ++k) {
      const Direction d = v.directions[k];
      const std::int32_t other = v.neighbour(x + d.x, y + d.y, z + d.z);
      const Real3 from{r.x - Real(d.x) * v.width, r.y - Real(d.y) * v.width,
                       r.z - Real(d.z) * v.width};
      if constexpr (cut == Cut::none) {
        for (std::int32_t m = v.start[other]; m < v.start[other + 1]; ++m) meet(state, from, m);
      } else if constexpr (cut == Cut::by_x) {
        // To the row of cells along x.
        const auto gap = [&](std::int32_t cells, Real at) {
          const Real g = (cells > 0 ? -at : at) - v.width / 2;
          return cells == 0 || g < Real(0) ? Real(0) : g;
        };
        const Real gy = gap(d.y, from.y), gz = gap(d.z, from.z);
        const Real left = v.range * v.range * Real(1.00001) - gy * gy - gz * gz;
        if (left > Real(0)) along_x(state, from, std::sqrt(left), d.x, other);
      } else {
        along_axis(state, r, from, d, other);
      }
    }
    body.end(index, state);
  }
};

/// Lennard-Jones forces and energies (half of the pair's for each), sigma = epsilon = 1.
struct ForceBody {
  Real range2;
  Real4* force;
  using State = Real4;
  PERRIN_HD State begin(std::int64_t) const { return {}; }
  PERRIN_HD void meet(State& sum, const Real3& d, Real r2, std::uint32_t) const {
    if (r2 < range2) {
      const Real inverse2 = Real(1) / r2, inverse6 = inverse2 * inverse2 * inverse2;
      const Real f = inverse2 * inverse6 * (Real(48) * inverse6 - Real(24));
      sum.x += f * d.x, sum.y += f * d.y, sum.z += f * d.z;
      sum.w += Real(2) * inverse6 * (inverse6 - Real(1));
    }
  }
  PERRIN_HD void end(std::int64_t i, const State& sum) const { force[i] = sum; }
};

/// How many each particle met, and how many of them were in range.
struct CountBody {
  Real range2;
  std::uint32_t *met, *near;
  struct State {
    std::uint32_t met, near;
  };
  PERRIN_HD State begin(std::int64_t) const { return {0, 0}; }
  PERRIN_HD void meet(State& s, const Real3&, Real r2, std::uint32_t) const {
    ++s.met, s.near += r2 < range2 ? 1u : 0u;
  }
  PERRIN_HD void end(std::int64_t i, const State& s) const { met[i] = s.met, near[i] = s.near; }
};

/// Verlet lists: entry k of the particle at place i is entries[k · n + i]; those beyond `most` are
/// counted only.
struct ListBody {
  Real range2;
  std::int64_t n;
  std::uint32_t most;
  std::uint32_t *entries, *count;
  struct State {
    std::uint32_t found;
    std::uint32_t* next;
  };
  PERRIN_HD State begin(std::int64_t i) const { return {0, entries + i}; }
  PERRIN_HD void meet(State& s, const Real3&, Real r2, std::uint32_t other) const {
    if (r2 < range2) {
      if (s.found < most) *s.next = other;
      ++s.found, s.next += n;
    }
  }
  PERRIN_HD void end(std::int64_t i, const State& s) const { count[i] = s.found; }
};

/// Runs the search of the orders' cut. Device work only.
template <class Body>
void search_particles(const Orders& orders, const Body& body) {
  const View v = orders.view();
  const Device& device = orders.device();
  switch (orders.cut()) {
    case Cut::none:
      return for_each(device, "search, whole cells", v.n, ParticleSearch<Cut::none, Body>{v, body});
    case Cut::by_x:
      return for_each(device, "search, cut by x", v.n, ParticleSearch<Cut::by_x, Body>{v, body});
    case Cut::axes:
      return for_each(device, "search, joining axes", v.n,
                      ParticleSearch<Cut::axes, Body>{v, body});
  }
}

}  // namespace perrin::interaction_sort
