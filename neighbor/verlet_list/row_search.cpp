// Finding the entries of rows on the CPU: a packet of particles that lie close together looks at
// the same candidates, which are gathered once.
#include "neighbor/verlet_list/row_search.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/device/parallel.h"
#include "neighbor/four_positions.h"
#include "neighbor/inline.h"

#ifndef __CUDA_ARCH__
#include <immintrin.h>
#endif

namespace perrin {
namespace {

[[maybe_unused]] constexpr int width = 16;

/// Candidates from the grid of one class: begin … end-1 of what has been gathered.
struct Segment {
  const RowPair* pair;
  std::size_t begin, end;
};

/// What a thread keeps from chunk to chunk.
struct Scratch {
  std::vector<Real> x, y, z;         // of candidates
  std::vector<std::uint32_t> index;  // in memory
  std::vector<Segment> segments;
  std::vector<CellRun> runs;
  std::vector<std::uint32_t> list;  // rows of the chunk

  // A template, or nvcc warns that device code has no use for it.
  template <class Size>
  void make_room(Size candidates) {
    if (index.size() >= candidates) return;
    for (auto* v : {&x, &y, &z}) v->resize(2 * candidates);
    index.resize(2 * candidates);
  }
};

#ifndef __CUDA_ARCH__

/// Sixteen candidates: bits of those within reach of a point.
PERRIN_INLINE std::uint32_t near_bits(const Real* x, const Real* y, const Real* z, const Real3& p,
                                      Real reach2) {
  std::uint32_t bit[width];
#pragma omp simd simdlen(width)
  for (int k = 0; k < width; ++k) {
    const Real dx = x[k] - p.x, dy = y[k] - p.y, dz = z[k] - p.z;
    bit[k] = dx * dx + dy * dy + dz * dz < reach2 ? 1u << k : 0u;
  }
  std::uint32_t bits = 0;
#pragma omp simd reduction(| : bits)
  for (int k = 0; k < width; ++k) bits |= bit[k];
  return bits;
}

#ifndef PERRIN_DOUBLE
/// The whole row of a particle against n candidates: appends to `to` those within reach but itself,
/// returns their number. Up to sixteen words more are written.
__attribute__((target("avx512f"))) inline std::size_t select512(
    const float* x, const float* y, const float* z, const std::uint32_t* index, std::size_t n,
    const Real3& p, float reach2, std::uint32_t self, std::uint32_t* to) {
  const __m512 px = _mm512_set1_ps(p.x), py = _mm512_set1_ps(p.y), pz = _mm512_set1_ps(p.z),
               limit = _mm512_set1_ps(reach2);
  const __m512i me = _mm512_set1_epi32(int(self));
  std::uint32_t* const begin = to;
  for (std::size_t k = 0; k < n; k += width) {
    const __m512 dx = _mm512_sub_ps(_mm512_loadu_ps(x + k), px),
                 dy = _mm512_sub_ps(_mm512_loadu_ps(y + k), py),
                 dz = _mm512_sub_ps(_mm512_loadu_ps(z + k), pz);
    const __m512 r2 = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_mul_ps(dz, dz)));
    const __m512i j = _mm512_loadu_si512(index + k);
    const __mmask16 near =
        _mm512_mask_cmpneq_epi32_mask(_mm512_cmp_ps_mask(r2, limit, _CMP_LT_OQ), j, me);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(near, j));
    to += __builtin_popcount(near);
  }
  return std::size_t(to - begin);
}
#endif

/// The vectors from `shift` to four positions that follow one another in memory.
PERRIN_INLINE void vectors4(const Position* position, const Position& shift, const Metric& m,
                            Real* x, Real* y, Real* z) {
  FourReals a, b, c;
  FourPositions::from(position, FourPositions::load(&shift)).to_lengths(m, a, b, c);
  std::memcpy(x, &a, sizeof a), std::memcpy(y, &b, sizeof b), std::memcpy(z, &c, sizeof c);
}

struct SearchChunk {
  RowSearch s;
  Scratch* scratch;
  bool avx512;
  std::int64_t n;

  static constexpr std::int64_t chunk = 64;  // particles whose rows are found together
  static constexpr int packet = 16;          // … and that look at the same candidates

  /// The end of the packet that begins with a particle, and the box around it as seen from there.
  PERRIN_INLINE std::int64_t packet_end(std::int64_t first, std::int64_t last, Real3& low,
                                        Real3& high) const {
    const Position p = s.position[first];
    const RowGrid& grid = s.grids[s.class_of[p.type()]];
    low = high = {};
    std::int64_t i = first + 1;
    for (; i < std::min(first + packet, last); ++i) {
      const Position q = s.position[i];
      if (s.class_of[q.type()] != s.class_of[p.type()]) break;
      const Real3 d{grid.unit.x * Real(std::int32_t(q.x - p.x)),
                    grid.unit.y * Real(std::int32_t(q.y - p.y)),
                    grid.unit.z * Real(std::int32_t(q.z - p.z))};
      const Real3 l{std::min(low.x, d.x), std::min(low.y, d.y), std::min(low.z, d.z)};
      const Real3 h{std::max(high.x, d.x), std::max(high.y, d.y), std::max(high.z, d.z)};
      if (h.x - l.x > grid.packet.x || h.y - l.y > grid.packet.y || h.z - l.z > grid.packet.z)
        break;
      low = l, high = h;
    }
    return i;
  }

  /// Gathers what a packet has to look at in the grid of one class.
  PERRIN_INLINE void gather(const Position& p, const Real3& low, const Real3& high,
                            const RowGrid& grid, const RowPair& pair) const {
    const RowWalk walk(grid, pair, s.cell_start, s.orthogonal, p, low, high);
    Scratch& to = *scratch;
    to.runs.clear();
    std::size_t candidates = 0;
    for (std::int32_t kz = 0; kz < walk.rows_z(); ++kz)
      for (std::int32_t ky = 0; ky < walk.rows_y(); ++ky) {
        const CellRun run = walk.row(ky, kz);
        if (run.count + run.count2 == 0) continue;
        to.runs.push_back(run);
        candidates += run.count + run.count2;
      }
    if (candidates == 0) return;
    const std::size_t begin =
        to.segments.empty() ? 0 : (to.segments.back().end + width - 1) / width * width;
    to.make_room(begin + candidates + 2 * width);
    std::size_t k = begin;
    const auto copy = [&](std::uint32_t first, std::uint32_t count) __attribute__((always_inline)) {
      // In fours; what is too much is overwritten by what follows. There is room to read beyond the
      // end (Device::allocate).
      for (std::uint32_t j = 0; j < count; j += 4) {
        vectors4(s.position + first + j, p, *s.metric, &to.x[k + j], &to.y[k + j], &to.z[k + j]);
        for (std::uint32_t e = 0; e < 4; ++e) to.index[k + j + e] = first + j + e;
      }
      k += count;
    };
    for (const CellRun& run : to.runs) {
      copy(run.begin, run.count);
      copy(run.begin2, run.count2);
    }
    for (std::size_t e = k; e < k + width; ++e) to.x[e] = Real(1e15);  // padding
    to.segments.push_back({&pair, begin, k});
  }

  /// Appends to the list at `end` what particle i, at p as seen from the first of its packet, has
  /// within reach among the candidates of a segment.
  PERRIN_INLINE std::size_t select(std::int64_t i, const Real3& p, const Segment& segment,
                                   std::size_t end) const {
    const RowPair& pair = *segment.pair;
    const std::size_t candidates = segment.end - segment.begin;
    auto& list = scratch->list;
    if (list.size() < end + candidates + 2 * width) list.resize(2 * (end + candidates) + 1024);
    const Real *x = &scratch->x[segment.begin], *y = &scratch->y[segment.begin],
               *z = &scratch->z[segment.begin];
    const std::uint32_t* index = &scratch->index[segment.begin];
    std::size_t found = 0;
    std::uint32_t* to = list.data() + end;
#ifndef PERRIN_DOUBLE
    if (avx512)
      found = select512(x, y, z, index, candidates, p, pair.reach2, std::uint32_t(i), to);
    else
#endif
      for (std::size_t k = 0; k < candidates; k += width)
        for (std::uint32_t bits = near_bits(x + k, y + k, z + k, p, pair.reach2); bits != 0;
             bits &= bits - 1) {
          const std::uint32_t j = index[k + std::size_t(__builtin_ctz(bits))];
          to[found] = j;
          found += j != std::uint32_t(i) ? 1 : 0;
        }
    if (!pair.mixed && !s.exclusions) return end + found;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < found; ++k) {
      const std::uint32_t j = to[k];
      if (pair.mixed) {
        const Position a = s.position[i], b = s.position[j];
        const Real3 d = s.metric->vector(a, b);
        if (!(dot(d, d) < s.reach2[a.type() * s.types + b.type()])) continue;
      }
      if (s.is_excluded(i, j)) continue;
      to[kept++] = j;
    }
    return end + kept;
  }

  PERRIN_INLINE void operator()(std::int64_t c) const {
    const std::int64_t begin = c * chunk, last = std::min(begin + chunk, n);
    std::uint32_t units = 0;
    for (std::int64_t first = begin, end = 0; first < last; first = end) {
      Real3 low, high;
      end = packet_end(first, last, low, high);
      const Position p = s.position[first];
      scratch->segments.clear();
      for (std::uint32_t b = 0; b < s.classes; ++b) {
        const RowPair& pair = s.pairs[s.class_of[p.type()] * s.classes + b];
        if (pair.reach2 > Real(0)) gather(p, low, high, s.grids[b], pair);
      }
      for (std::int64_t i = first; i < end; ++i) {
        const Real3 at = s.metric->vector(s.position[i], p);
        const std::size_t row = std::size_t(units) * row_unit;
        std::size_t row_end = row;
        for (const Segment& segment : scratch->segments) row_end = select(i, at, segment, row_end);
        s.begin[i] = units;
        s.count[i] = std::uint32_t(row_end - row);
        units += std::uint32_t((row_end - row + row_unit - 1) / row_unit);
      }
    }
    const std::uint32_t base = __atomic_fetch_add(s.used, units, __ATOMIC_RELAXED);
    if (std::uint64_t(base) + units > s.room) return;  // seen when the list is finished
    for (std::int64_t i = begin; i < last; ++i) s.begin[i] += base;
    std::memcpy(s.entries + std::size_t(base) * row_unit, scratch->list.data(),
                std::size_t(units) * row_unit * sizeof(std::uint32_t));
  }
};

#endif

}  // namespace

void search_rows([[maybe_unused]] const Device& device, [[maybe_unused]] const RowSearch& search) {
#ifndef __CUDA_ARCH__
  // Of whole chunks: who is looked for together decides in which order neighbours are found.
  constexpr std::int64_t chunk = SearchChunk::chunk;
  const Share own = search.own;
  const std::int64_t first = own.begin / chunk, chunks = (own.end + chunk - 1) / chunk - first;
  const bool avx512 = instruction_set() == InstructionSet::avx512;
  std::vector<Scratch> scratch(std::size_t(device.threads()));
  const auto find = [&](std::int64_t c, int thread) {
    run_range(SearchChunk{search, &scratch[std::size_t(thread)], avx512, search.particles},
              first + c, first + c + 1);
  };
  if (own.size() > 0) for_tasks(device, chunks, find, chunks > 4);
#endif
}

}  // namespace perrin
