// The searches of interaction_sort.h as a CPU does them best: cell by cell, every pair once, in
// vectors, by one thread. What a cell meets is brought together first: half of its neighbours, as
// rows of cells, or in the order along each axis. As E. S. Fomin has it (and P. Gonnet, J. Comput.
// Chem. 28, 570 (2007)), the two cells of a pair are gone through in their order along the axis,
// and both ends are cut.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "neighbor/inline.h"
#include "tests/benchmarks/interaction_sort.h"
#ifndef __CUDA_ARCH__
#include <immintrin.h>
#endif

namespace perrin::interaction_sort {

enum class Work { forces, lists, count };

/// Where the work goes; by place.
struct CellResult {
  Real4* force = nullptr;  // added to: w the energy, each pair's whole at one end
  std::vector<std::uint32_t>* entries = nullptr;  // lists one behind the other
  std::uint64_t* begin = nullptr;                 // of each particle's
  std::uint32_t* length = nullptr;
  std::uint64_t met = 0, near = 0;
};

#ifndef __CUDA_ARCH__

/// What a cell has before it.
struct CellScratch {
  static constexpr int width = 16;
  std::vector<Real> x, y, z, fx, fy, fz;   // of candidates
  std::vector<std::uint32_t> who, key;     // their places; along the axis
  std::vector<Real> sums;                  // [own particle][x, y, z, energy][lane]
  std::vector<std::uint32_t> rows, found;  // lists of the cell's particles, `room` words each
  int n = 0, room = 0;

  void make_room(int candidates) {
    const auto size = std::size_t(candidates + 2 * width);
    if (who.size() >= size) return;
    for (auto* v : {&x, &y, &z, &fx, &fy, &fz}) v->resize(2 * size);
    who.resize(2 * size), key.resize(2 * size);
  }
};

#ifndef PERRIN_DOUBLE
/// Appends to `to` those of n candidates that are within range of p; up to sixteen words more are
/// written. Returns their number.
__attribute__((target("avx512f"))) inline std::uint32_t append512(const float* x, const float* y,
                                                                  const float* z,
                                                                  const std::uint32_t* who, int n,
                                                                  const Real3& p, float range2,
                                                                  std::uint32_t* to) {
  const __m512 px = _mm512_set1_ps(p.x), py = _mm512_set1_ps(p.y), pz = _mm512_set1_ps(p.z),
               limit = _mm512_set1_ps(range2);
  std::uint32_t found = 0;
  for (int k = 0; k < n; k += 16) {
    const auto some = __mmask16(n - k >= 16 ? 0xffff : (1 << (n - k)) - 1);
    const __m512 dx = _mm512_sub_ps(px, _mm512_loadu_ps(x + k)),
                 dy = _mm512_sub_ps(py, _mm512_loadu_ps(y + k)),
                 dz = _mm512_sub_ps(pz, _mm512_loadu_ps(z + k));
    const __m512 r2 = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_mul_ps(dz, dz)));
    const __mmask16 near = _mm512_mask_cmp_ps_mask(some, r2, limit, _CMP_LT_OQ);
    _mm512_storeu_si512(to + found, _mm512_maskz_compress_epi32(near, _mm512_loadu_si512(who + k)));
    found += std::uint32_t(__builtin_popcount(near));
  }
  return found;
}
#endif

/// The search of cell c; its pairs with cells behind it.
template <Cut cut, Work work>
struct CellSearch {
  static constexpr int width = CellScratch::width;
  View v;
  CellScratch* scratch;
  CellResult* result;
  Real range2;
  bool avx512;

  /// Brings the particles first … last - 1 of a cell, or all of them in an order, into the scratch.
  PERRIN_INLINE void take(std::int32_t first, std::int32_t last, const Real3& shift,
                          const std::uint32_t* order) const {
    CellScratch& s = *scratch;
    const int count = last - first;
    for (int k = 0; k < count; ++k) {
      const std::int32_t from =
          order ? first + std::int32_t(short_sort_index(order[k])) : first + k;
      const Real4 p = v.place[from];
      s.x[std::size_t(s.n + k)] = p.x + shift.x, s.y[std::size_t(s.n + k)] = p.y + shift.y;
      s.z[std::size_t(s.n + k)] = p.z + shift.z, s.who[std::size_t(s.n + k)] = std::uint32_t(from);
      if (order) s.key[std::size_t(s.n + k)] = short_sort_coordinate(order[k]);
    }
    s.n += count;
  }

  /// Own particle a, at p, and the candidates first … last - 1.
  PERRIN_INLINE void meet(int a, const Real4& p, int first, int last) const {
    if (first >= last) return;
    if constexpr (work == Work::forces) meet_forces(a, p, first, last);
    if constexpr (work == Work::lists) meet_lists(a, p, first, last);
    if constexpr (work == Work::count) {
      result->met += std::uint64_t(last - first);
      for (int k = first; k < last; ++k) result->near += r2(p, k) < range2 ? 1 : 0;
    }
  }
  PERRIN_INLINE Real r2(const Real4& p, int k) const {
    const auto at = std::size_t(k);
    const Real3 d = p.xyz() - Real3{scratch->x[at], scratch->y[at], scratch->z[at]};
    return dot(d, d);
  }
  PERRIN_INLINE void meet_forces(int a, const Real4& p, int first, int last) const {
    Real* __restrict sums = scratch->sums.data() + a * 4 * width;
    const Real limit = range2;
    for (int k0 = first; k0 < last; k0 += width) {
      const Real *__restrict x = scratch->x.data() + k0, *__restrict y = scratch->y.data() + k0,
                 *__restrict z = scratch->z.data() + k0;
      Real *__restrict fx = scratch->fx.data() + k0, *__restrict fy = scratch->fy.data() + k0,
           *__restrict fz = scratch->fz.data() + k0;
      const int left = last - k0;
#pragma omp simd simdlen(width)
      for (int l = 0; l < width; ++l) {
        const Real dx = p.x - x[l], dy = p.y - y[l], dz = p.z - z[l];
        const Real square = dx * dx + dy * dy + dz * dz;
        const bool inside = (l < left) & (square < limit);
        const Real inverse2 = Real(1) / (inside ? square : limit);
        const Real inverse6 = inverse2 * inverse2 * inverse2;
        const Real f = inside ? inverse2 * inverse6 * (Real(48) * inverse6 - Real(24)) : Real(0);
        sums[l] += f * dx, sums[width + l] += f * dy, sums[2 * width + l] += f * dz;
        sums[3 * width + l] += inside ? Real(4) * inverse6 * (inverse6 - Real(1)) : Real(0);
        fx[l] -= f * dx, fy[l] -= f * dy, fz[l] -= f * dz;
      }
    }
  }
  PERRIN_INLINE void meet_lists(int a, const Real4& p, int first, int last) const {
    CellScratch& s = *scratch;
    std::uint32_t& found = s.found[std::size_t(a)];
    std::uint32_t* to = s.rows.data() + a * s.room + found;
#ifndef PERRIN_DOUBLE
    if (avx512) {
      found +=
          append512(&s.x[std::size_t(first)], &s.y[std::size_t(first)], &s.z[std::size_t(first)],
                    &s.who[std::size_t(first)], last - first, p.xyz(), range2, to);
      return;
    }
#endif
    for (int k = first; k < last; ++k) {
      *to = s.who[std::size_t(k)];
      const int near = r2(p, k) < range2 ? 1 : 0;
      to += near, found += std::uint32_t(near);
    }
  }

  /// Candidates to whole cells, or cut by x: the own cell is one of them.
  PERRIN_INLINE void search_rows(std::int32_t c, std::int32_t x, std::int32_t y,
                                 std::int32_t z) const {
    CellScratch& s = *scratch;
    const std::int32_t begin = v.start[c], end = v.start[c + 1];
    // The row of the own cell from itself on; then whole rows.
    for (std::int32_t dz = 0; dz <= v.reach; ++dz)
      for (std::int32_t dy = dz == 0 ? 0 : -v.reach; dy <= v.reach; ++dy) {
        const bool own = dy == 0 && dz == 0;
        if (cut == Cut::by_x) s.n = 0;
        const int row = s.n;
        for (std::int32_t dx = own ? 0 : -v.reach; dx <= v.reach; ++dx) {
          const std::int32_t other = v.neighbour(x + dx, y + dy, z + dz);
          take(v.start[other], v.start[other + 1],
               {Real(dx) * v.width, Real(dy) * v.width, Real(dz) * v.width}, nullptr);
        }
        if (cut != Cut::by_x) continue;
        clear_forces();
        int low = row, high = row;
        for (std::int32_t i = begin; i < end; ++i) {
          const Real4 p = v.place[i];
          const auto gap = [&](std::int32_t cells, Real at) {
            const Real g =
                Real(cells > 0 ? cells : -cells) * v.width - v.width / 2 + (cells > 0 ? -at : at);
            return cells == 0 || g < Real(0) ? Real(0) : g;
          };
          const Real gy = gap(dy, p.y), gz = gap(dz, p.z);
          const Real left = v.range * v.range * Real(1.00001) - gy * gy - gz * gz;
          if (!(left > Real(0))) continue;
          const Real chord = std::sqrt(left);
          // From where the last particle's were.
          const auto at = [&](int k) { return s.x[std::size_t(k)]; };
          while (low < s.n && at(low) < p.x - chord) ++low;
          while (low > row && at(low - 1) >= p.x - chord) --low;
          while (high < s.n && at(high) <= p.x + chord) ++high;
          while (high > row && at(high - 1) > p.x + chord) --high;
          meet(i - begin, p, own ? i - begin + 1 : low, high);
        }
        put_forces();
      }
    if (cut == Cut::by_x) return;
    clear_forces();
    for (std::int32_t i = begin; i < end; ++i) meet(i - begin, v.place[i], i - begin + 1, s.n);
    put_forces();
  }

  /// Pairs of the own cell; then each neighbour behind it, in order along the axis to it.
  PERRIN_INLINE void search_axes(std::int32_t c, std::int32_t x, std::int32_t y,
                                 std::int32_t z) const {
    CellScratch& s = *scratch;
    const std::int32_t begin = v.start[c], end = v.start[c + 1];
    take(begin, end, {}, nullptr);
    clear_forces();
    for (std::int32_t i = begin; i < end; ++i) meet(i - begin, v.place[i], i - begin + 1, s.n);
    put_forces();
    for (std::int32_t k = v.direction_count / 2; k < v.direction_count; ++k) {
      const Direction& d = v.directions[k];
      const std::int32_t other = v.neighbour(x + d.x, y + d.y, z + d.z);
      const std::uint32_t *mine = v.words + d.axis * v.n + begin,
                          *theirs = v.words + d.axis * v.n + v.start[other];
      // In bins of the 16 bits: one more for the fractions of both, one for rounding.
      const auto left = std::int32_t(std::ceil(d.left * d.scale)) + 2;
      const std::int32_t first = v.start[other], last = v.start[other + 1];
      if (first == last || begin == end ||
          std::int32_t(short_sort_coordinate(theirs[0])) >
              std::int32_t(short_sort_coordinate(mine[end - begin - 1])) + left)
        continue;
      s.n = 0;
      take(first, last, {Real(d.x) * v.width, Real(d.y) * v.width, Real(d.z) * v.width}, theirs);
      clear_forces();
      int count = s.n;
      for (std::int32_t m = end - begin - 1; m >= 0; --m) {
        const std::int32_t limit = std::int32_t(short_sort_coordinate(mine[m])) + left;
        while (count > 0 && std::int32_t(s.key[std::size_t(count - 1)]) > limit) --count;
        if (count == 0) break;
        const auto a = std::int32_t(short_sort_index(mine[m]));
        meet(a, v.place[begin + a], 0, count);
      }
      put_forces();
    }
  }

  PERRIN_INLINE void clear_forces() const {
    CellScratch& s = *scratch;
    if constexpr (work == Work::forces)
      for (auto* f : {&s.fx, &s.fy, &s.fz})
        std::memset(f->data(), 0, std::size_t(s.n + width) * sizeof(Real));
  }
  /// To the candidates.
  PERRIN_INLINE void put_forces() const {
    if constexpr (work != Work::forces) return;
    const CellScratch& s = *scratch;
    for (std::size_t k = 0; k < std::size_t(s.n); ++k) {
      Real4& f = result->force[s.who[k]];
      f.x += s.fx[k], f.y += s.fy[k], f.z += s.fz[k];
    }
  }

  /// Begins the results of the cell's own particles.
  PERRIN_INLINE void begin_own(int own) const {
    CellScratch& s = *scratch;
    if constexpr (work == Work::forces) s.sums.assign(std::size_t(own) * 4 * width, Real(0));
    if constexpr (work == Work::lists) {
      s.found.assign(std::size_t(own), 0u);
      s.rows.resize(std::max(s.rows.size(), std::size_t(own) * std::size_t(s.room)));
    }
  }
  PERRIN_INLINE void end_own(std::int32_t begin, int own) const {
    CellScratch& s = *scratch;
    for (int a = 0; a < own; ++a) {
      if constexpr (work == Work::forces) {
        Real sum[4];
        for (int part = 0; part < 4; ++part) {
          const Real* lanes = s.sums.data() + (a * 4 + part) * width;
          Real total = 0;
#pragma omp simd reduction(+ : total)
          for (int l = 0; l < width; ++l) total += lanes[l];
          sum[part] = total;
        }
        Real4& f = result->force[begin + a];
        f.x += sum[0], f.y += sum[1], f.z += sum[2], f.w += sum[3];
      }
      if constexpr (work == Work::lists) {
        const std::uint32_t* row = s.rows.data() + a * s.room;
        auto& entries = *result->entries;
        const std::uint64_t at = result->near;
        const std::uint32_t found = s.found[std::size_t(a)];
        if (entries.size() < at + found) entries.resize(2 * (at + found));
        std::memcpy(entries.data() + at, row, found * sizeof(std::uint32_t));
        result->begin[begin + a] = at, result->length[begin + a] = found;
        result->near += found;
      }
    }
  }

  PERRIN_INLINE void operator()(std::int64_t cell) const {
    const auto c = std::int32_t(cell);
    const std::int32_t x = c % v.cells, y = c / v.cells % v.cells, z = c / v.cells / v.cells;
    const std::int32_t begin = v.start[c];
    const int own = v.start[c + 1] - begin;
    if (own == 0) return;
    int candidates = own;
    for (std::int32_t k = 0; k < v.direction_count; ++k) {
      const Direction& d = v.directions[k];
      const std::int32_t other = v.neighbour(x + d.x, y + d.y, z + d.z);
      if (k >= v.direction_count / 2) candidates += v.start[other + 1] - v.start[other];
    }
    scratch->make_room(candidates);
    scratch->n = 0, scratch->room = candidates + width;
    begin_own(own);
    if constexpr (cut == Cut::axes)
      search_axes(c, x, y, z);
    else
      search_rows(c, x, y, z);
    end_own(begin, own);
  }
};

#endif

/// All cells, by the calling thread. Orders of the CPU.
template <Work work>
void search_cells([[maybe_unused]] const Orders& orders, [[maybe_unused]] CellResult& result) {
#ifndef __CUDA_ARCH__
  CellScratch scratch;
  const View v = orders.view();
  const Real range2 = v.range * v.range;
  const bool avx512 = instruction_set() == InstructionSet::avx512;
  result.met = result.near = 0;
  if (result.force) std::fill(result.force, result.force + v.n, Real4{});
  const auto run = [&](const auto& search) { run_range(search, 0, orders.cell_count()); };
  switch (orders.cut()) {
    case Cut::none:
      return run(CellSearch<Cut::none, work>{v, &scratch, &result, range2, avx512});
    case Cut::by_x:
      return run(CellSearch<Cut::by_x, work>{v, &scratch, &result, range2, avx512});
    case Cut::axes:
      return run(CellSearch<Cut::axes, work>{v, &scratch, &result, range2, avx512});
  }
#endif
}

}  // namespace perrin::interaction_sort
