// The pair loop over neighbouring columns, for any Body of pair_loop.h, on the CPU, without lists.
//
// Up to eight particles that follow one another in a column share their candidates: these are
// brought together, as coordinates relative to the first of the eight, which then meet all of them,
// two at a time, in whole vectors. Every pair is seen from both sides. What a particle gets is
// added in the order of the columns, so the result does not depend on the number of threads.
#pragma once

#include <cstring>

#include "engine/core/parallel.h"
#include "neighbor/columns/column_search.h"
#include "neighbor/inline.h"

namespace perrin {
namespace detail {

template <class Body>
struct ColumnLoop {
  static constexpr int width = 16, sums = Body::sums, most = 8, room = 512;
  static constexpr std::uint32_t nobody = 0xffffffffu;
  static constexpr std::int64_t chunk = 64;  // particles; groups end where a chunk does
  Body body;
  ColumnView list;

  struct Candidates {
    alignas(64) Real x[room + width], y[room + width], z[room + width];
    alignas(64) std::uint32_t type[room + width], index[room + width];
    alignas(64) std::uint32_t who[room + width];  // the index, or that of him whom it must not meet
    int n = 0;
  };

  struct Group {
    std::int64_t place = 0;  // of the first
    int count = 0;
    std::uint32_t index[most];
    Real x[most], y[most], z[most];    // relative to the first
    std::int64_t low[3]{}, high[3]{};  // along the axes of the grid
    alignas(64) Real partial[most][sums][width];
  };

  /// A column, and those around it in all images.
  struct Column {
    std::int64_t number = -1;
    struct Neighbor {
      const std::int32_t* bins;
      double low[2], high[2];  // lengths along the axes across
      Coordinate x, y, z;      // shift to the image
    } around[49];
    int count = 0;
  };

  PERRIN_INLINE Real difference(Coordinate a, Coordinate b) const {
#ifdef PERRIN_DOUBLE
    return a - b;
#else
    return Real(std::int32_t(a - b)) * list.unit;
#endif
  }

  PERRIN_INLINE void look_around(Column& column) const {
    const ColumnGrid& grid = list.grid;
    const auto turns = [](std::int32_t a, std::int32_t n) {
      return a >= 0 ? a / n : -((n - 1 - a) / n);
    };
    const std::int32_t nu = grid.cells[0], nv = grid.cells[1];
    const auto u0 = std::int32_t(column.number / nv), v0 = std::int32_t(column.number % nv);
    column.count = 0;
    for (std::int32_t u = u0 - grid.reach[0]; u <= u0 + grid.reach[0]; ++u)
      for (std::int32_t v = v0 - grid.reach[1]; v <= v0 + grid.reach[1]; ++v) {
        const std::int32_t mu = turns(u, nu), mv = turns(v, nv);
        const auto& a = list.edge[grid.axis[0]];
        const auto& b = list.edge[grid.axis[1]];
        const auto i = Coordinate(mu), j = Coordinate(mv);
        const double wide_u = 4294967296.0 / nu / list.per_length.x,
                     wide_v = 4294967296.0 / nv / list.per_length.y;
        column.around[column.count++] = {
            list.start + (std::int64_t(u - mu * nu) * nv + (v - mv * nv)) * grid.cells[2],
            {u * wide_u, v * wide_v},
            {(u + 1) * wide_u, (v + 1) * wide_v},
            i * a.x + j * b.x,
            i * a.y + j * b.y,
            i * a.z + j * b.z};
      }
  }

  /// Particles from this place on that are not far from one another; `end`: of their column or
  /// cell.
  PERRIN_INLINE void begin(Group& g, std::int64_t place, std::int64_t end) const {
    g.place = place, g.count = 0;
    const ColumnGrid& grid = list.grid;
    const Real limit = Real(list.range);
    for (std::int64_t k = place; k < end && g.count < most; ++k) {
      const std::uint32_t i = list.order[k];
      const Position p = list.position[i];
      const int m = g.count;
      const Real x = difference(list.x[k], list.x[place]), y = difference(list.y[k], list.y[place]),
                 z = difference(list.z[k], list.z[place]);
      if (std::abs(x) > limit || std::abs(y) > limit || std::abs(z) > limit) break;
      g.index[m] = i, g.x[m] = x, g.y[m] = y, g.z[m] = z;
      for (int a = 0; a < 3; ++a) {
        const std::int64_t at = fraction_along(p, grid.axis[a]);
        g.low[a] = m == 0 ? at : std::min(g.low[a], at);
        g.high[a] = m == 0 ? at : std::max(g.high[a], at);
      }
      ++g.count;
    }
    std::memset(g.partial, 0, sizeof g.partial);
  }

  /// Of the places begin … end - 1, in order along the column, the first that is not before
  /// `limit`.
  PERRIN_INLINE std::int32_t first_from(std::int32_t begin, std::int32_t end,
                                        std::int64_t limit) const {
    const auto bound = std::uint32_t(limit);
    for (;; begin += width) {
      int before = 0;
      const int left = end - begin;
      const std::uint32_t* w = list.w + begin;
#pragma omp simd reduction(+ : before) simdlen(width)
      for (int k = 0; k < width; ++k) before += w[k] < bound && k < left ? 1 : 0;
      if (before < width) return begin + before;
    }
  }

  /// Candidates of the group, for whole cells: those next to its own.
  PERRIN_INLINE void search_cells(Group& g, const Column& column, std::int32_t cell,
                                  Candidates& c) const {
    const std::int32_t cells = list.grid.cells[2];
    const std::int32_t from = cell - list.grid.reach[2], to = cell + list.grid.reach[2];
    for (int n = 0; n < column.count; ++n)
      for (std::int32_t image = -1; image <= 1; ++image) {
        const std::int32_t a = std::max(from - image * cells, 0),
                           b = std::min(to - image * cells, cells - 1);
        const auto& near = column.around[n];
        if (a <= b) add(g, c, near.bins[a], near.bins[b + 1], near, image);
      }
  }

  /// Candidates of the group, from sequences cut at both ends.
  PERRIN_INLINE void search_order(Group& g, const Column& column, Candidates& c) const {
    const std::int64_t bins = list.grid.cells[2];
    constexpr std::int64_t turn = std::int64_t(1) << 32;
    const double range2 = list.range * list.range;
    const double u0 = double(g.low[0]) / list.per_length.x,
                 u1 = double(g.high[0]) / list.per_length.x;
    const double v0 = double(g.low[1]) / list.per_length.y,
                 v1 = double(g.high[1]) / list.per_length.y;
    for (int n = 0; n < column.count; ++n) {
      const auto& near = column.around[n];
      const double du = std::max(0.0, std::max(u0 - near.high[0], near.low[0] - u1));
      const double dv = std::max(0.0, std::max(v0 - near.high[1], near.low[1] - v1));
      if (du > list.range || dv > list.range) continue;
      // In a skewed box distances along the axes are no legs of a right angle.
      const double rest = range2 - (list.orthogonal ? du * du + dv * dv : 0);
      if (rest <= 0) continue;
      const auto reach = std::int64_t(std::sqrt(rest) * list.per_length.z) + 1 + list.grid.slack;
      const std::int64_t from = g.low[2] - reach, to = g.high[2] + reach;
      for (std::int32_t image = from < 0 ? -1 : 0; image <= (to >= turn ? 1 : 0); ++image) {
        const std::int64_t a = std::max<std::int64_t>(from - image * turn, 0),
                           b = std::min<std::int64_t>(to - image * turn, turn - 1);
        if (a > b) continue;
        const std::int32_t *low = near.bins + ((a * bins) >> 32),
                           *high = near.bins + ((b * bins) >> 32);
        add(g, c, first_from(low[0], low[1], a),
            b + 1 < turn ? first_from(high[0], high[1], b + 1) : high[1], near, image);
      }
    }
  }

  /// The particles at places first … last - 1 of a column, in an image along it.
  PERRIN_INLINE void add(Group& g, Candidates& c, std::int32_t first, std::int32_t last,
                         const typename Column::Neighbor& near, std::int32_t image) const {
    const auto& along = list.edge[list.grid.axis[2]];
    const auto turns = Coordinate(image);
    const Coordinate x0 = list.x[g.place] - near.x - turns * along.x,
                     y0 = list.y[g.place] - near.y - turns * along.y,
                     z0 = list.z[g.place] - near.z - turns * along.z;
    while (first < last) {
      const int n = std::min(last - first, room - c.n);
      for (int k0 = 0; k0 < n; k0 += width) {
        const std::int32_t from = first + k0;
        const int to = c.n + k0;
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) {
          c.x[to + k] = difference(list.x[from + k], x0);
          c.y[to + k] = difference(list.y[from + k], y0);
          c.z[to + k] = difference(list.z[from + k], z0);
          c.type[to + k] = list.type[from + k];
          c.index[to + k] = c.who[to + k] = list.order[from + k];
        }
      }
      c.n += n, first += n;
      if (c.n == room) meet(g, c);
    }
  }

  /// One of two particles that meet the candidates together.
  template <class Own>
  struct Member {
    Own own;
    Real x, y, z;
    std::uint32_t self;
  };

  // A function of its own: GCC does not vectorise over structs declared in the simd loop.
  template <class Own>
  PERRIN_INLINE void evaluate(const Member<Own>& a, const Member<Own>& b, const Candidates& c,
                              int k, Real (&term_a)[sums], Real (&term_b)[sums]) const {
    const Real3 d_a{a.x - c.x[k], a.y - c.y[k], a.z - c.z[k]};
    const Real3 d_b{b.x - c.x[k], b.y - c.y[k], b.z - c.z[k]};
    Real4 extra{};
    if constexpr (Body::has_extra) extra = body.extra(c.index[k]);
    body.pair(a.own, d_a, c.type[k], extra, c.who[k] != a.self, term_a);
    body.pair(b.own, d_b, c.type[k], extra, c.who[k] != b.self, term_b);
  }

  /// All particles of the group with all candidates; of these there are then none.
  PERRIN_INLINE void meet(Group& g, Candidates& c) const {
    const int padded = (c.n + width - 1) / width * width;
    for (int k = c.n; k < padded; ++k) {
      c.x[k] = c.y[k] = c.z[k] = list.far, c.type[k] = 0;
      c.index[k] = g.index[0], c.who[k] = nobody;
    }
    // Exclusions are one particle's: then each is on its own.
    const int together = list.exclusions ? 1 : 2;
    for (int m = 0; m < g.count; m += together) {
      const int other = together == 2 && m + 1 < g.count ? m + 1 : m;
      const bool some = list.exclusions && exclude(g.index[m], c);
      using Own = decltype(body.own(0));
      const Member<Own> a{body.own(g.index[m]), g.x[m], g.y[m], g.z[m], g.index[m]};
      const Member<Own> b{body.own(g.index[other]), other == m ? -list.far : g.x[other], g.y[other],
                          g.z[other], g.index[other]};
      alignas(64) Real sum_a[sums][width] = {}, sum_b[sums][width] = {};
      for (int first = 0; first < padded; first += width) {
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) {
          Real term_a[sums], term_b[sums];
          evaluate(a, b, c, first + k, term_a, term_b);
          for (int s = 0; s < sums; ++s) sum_a[s][k] += term_a[s], sum_b[s][k] += term_b[s];
        }
      }
      for (int s = 0; s < sums; ++s) {
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) {
          g.partial[m][s][k] += sum_a[s][k];
          if (other != m) g.partial[other][s][k] += sum_b[s][k];
        }
      }
      if (some)
        for (int k = 0; k < c.n; ++k) c.who[k] = c.index[k];
    }
    c.n = 0;
  }

  /// Marks those that particle i must not meet.
  PERRIN_INLINE bool exclude(std::uint32_t i, Candidates& c) const {
    const std::uint32_t me = list.id[i];
    const std::uint32_t begin = list.exclusions.begin[me], end = list.exclusions.begin[me + 1];
    for (std::uint32_t e = begin; e < end; ++e) {
      const std::uint32_t j = list.index[list.exclusions.excluded[e]];
      for (int k = 0; k < c.n; ++k) c.who[k] = c.index[k] == j ? i : c.who[k];
    }
    return begin < end;
  }

  PERRIN_INLINE bool is_wanted(const Group& g) const {
    for (int m = 0; m < g.count; ++m)
      if (list.own.meets(g.index[m], 1)) return true;
    return false;
  }

  PERRIN_INLINE void operator()(std::int64_t part) const {
    const std::int64_t end = std::min(list.n, (part + 1) * chunk), bins = list.grid.cells[2];
    Candidates candidates;
    Group g;
    Column column;
    std::int64_t bin = list.grid.bin(list.position[list.order[part * chunk]]);
    for (std::int64_t place = part * chunk; place < end; place += g.count) {
      while (list.start[bin + 1] <= place) ++bin;
      if (bin / bins != column.number) {
        column.number = bin / bins;
        look_around(column);
      }
      const std::int64_t stop = list.start[list.sorted ? (column.number + 1) * bins : bin + 1];
      begin(g, place, std::min(end, stop));
      if (!is_wanted(g)) continue;
      if (list.sorted)
        search_order(g, column, candidates);
      else
        search_cells(g, column, std::int32_t(bin % bins), candidates);
      meet(g, candidates);
      for (int m = 0; m < g.count; ++m) {
        Real sum[sums];
        for (int s = 0; s < sums; ++s) {
          for (int half = width / 2; half > 0; half /= 2)
            for (int k = 0; k < half; ++k) g.partial[m][s][k] += g.partial[m][s][k + half];
          sum[s] = g.partial[m][s][0];
        }
        body.store(g.index[m], sum);
      }
    }
  }
};

}  // namespace detail

/// Runs the body over all pairs within the range.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, const ColumnSearch& search, const Body& body) {
  using Loop = detail::ColumnLoop<Body>;
  const Device& device = search.particles().device();
  if (device.skipping()) return;
  const Loop loop{body, search.view()};
  const std::int64_t n = loop.list.n, chunks = (n + Loop::chunk - 1) / Loop::chunk;
  const auto evaluate = [&](std::int64_t k, int) { run_range(loop, k, k + 1); };
  for_tasks(device, chunks, evaluate, n > 256);
}

}  // namespace perrin
