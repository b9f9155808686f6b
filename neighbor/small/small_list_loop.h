// The pair loop over the rows of few particles (small_list.h), for any Body of
// neighbor/pair_loop.h, on a GPU.
//
// A row is cut among 32 lanes, four entries to each, and again from the beginning where it is
// longer. 32 threads are these lanes, or, where many systems keep the GPU busy, four threads eight
// of them each, one after the other: these find positions in shared memory. What the lanes have is
// added in one order: bits are the same.
#pragma once

#include "engine/device/parallel.h"
#include "neighbor/pair_extra.h"
#include "neighbor/small/small_list.h"

namespace perrin {
namespace detail {

#ifdef __CUDACC__
constexpr unsigned small_lanes = 32, small_stride = 8;
constexpr std::uint32_t entries_of_round = 4 * small_lanes;
/// Positions that a block of many systems has in shared memory: those of systems of so many.
constexpr std::uint32_t small_staged = 2048;

/// Whether particles are within reach; also some that are further by up to 10^-6 of the longest
/// edge. In a box without tilts coordinates become floats by additions: conversions take four times
/// as long.
class NearTest {
 public:
  __device__ NearTest(const SmallRows& rows, const Position& p)
      : p_(p), metric_(*rows.metric), reach2_(rows.reach2 + p.type() * rows.types) {
    of_one_ = rows.types == 1;
    quick_ = sizeof(Real) == 4 && !metric_.skewed;
    // 512 units are 1.2e-7 of an edge; the constants below are exact to as much.
    const Real slack =
        Real(1e-6) * Real(4294967296.0) * std::max(metric_.xx, std::max(metric_.yy, metric_.zz));
    more_ = quick_ ? slack * (2 * rows.longest + slack) : Real(0);
    first_ = limit(0);
  }
  __device__ bool operator()(const Position& q) const {
    const auto x = std::int32_t(p_.x - q.x), y = std::int32_t(p_.y - q.y),
               z = std::int32_t(p_.z - q.z);
    Real3 d;
    if (quick_)
      d = {scaled(x, metric_.xx), scaled(y, metric_.yy), scaled(z, metric_.zz)};
    else
      d = metric_.vector(x, y, z);
    return dot(d, d) < (of_one_ ? first_ : limit(q.type()));
  }

 private:
  __device__ Real limit(std::uint32_t type) const {
    return reach2_[type] > Real(0) ? reach2_[type] + more_ : Real(0);
  }
  static __device__ Real scaled(std::int32_t d, Real unit) {
    const float shifted = __int_as_float(0x4b400000 + (d >> 9));  // 1.5 · 2^23 + d/512
    const Real s = Real(512) * unit;
    return Real(shifted) * s - Real(12582912) * s;
  }

  Position p_;
  Metric metric_;
  const Real* reach2_;
  Real more_, first_;
  bool of_one_, quick_;
};

/// Behind the last entry of a row; of one thread.
__device__ inline void end_row(const SmallRows& rows, std::uint32_t i, const Position& p,
                               std::uint32_t found) {
  rows.count[i] = found < rows.room ? found : rows.room;
  rows.reference[i] = p;
  if (found > rows.room) atomicMax(rows.words + 1, found);
}

/// Makes the row of particle i, with the threads of a warp, all of which are here.
inline __device__ __noinline__ void make_row(const SmallRows& rows, std::int64_t i, bool present) {
  constexpr unsigned warp = 0xffffffffu;
  constexpr unsigned at_once = 4;  // positions on their way
  const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1;
  const Position p = rows.position[i];
  const NearTest is_near(rows, p);
  std::uint16_t* const row = rows.entries + i * rows.room;
  const auto n = std::uint32_t(rows.particles), self = std::uint32_t(i);
  std::uint32_t found = 0;
  for (std::uint32_t first = 0; first < n; first += at_once * 32) {
    Position q[at_once];
    bool near[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t j = first + k * 32 + lane;
      q[k] = rows.position[j < n ? j : self];
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t j = first + k * 32 + lane;
      near[k] = is_near(q[k]) && j < n && j != self && present;
      if (near[k] && rows.exclusions)
        near[k] = !rows.exclusions.excludes(rows.id[self], rows.id[j]);
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const unsigned hits = __ballot_sync(warp, near[k]);
      const std::uint32_t at = found + unsigned(__popc(hits & before));
      if (near[k] && at < rows.room) row[at] = std::uint16_t(first + k * 32 + lane);
      found += unsigned(__popc(hits));
    }
  }
  if (present && lane == 0) end_row(rows, self, p, found);
}

/// Behind the rows of a block: the last one says that lists are built. Of all threads.
__device__ inline void finish_rows(const SmallRows& rows, unsigned blocks) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(rows.words, 1u) + 1 != blocks) return;
  rows.words[0] = 0;
  if (atomicMax(rows.words + 1, 0u) > rows.room) {
    *rows.halt = 1;
  } else {
    *rows.flag = 0;
    *rows.builds += 1;
  }
}

/// Of one system: 32 threads to a row. Makes stale rows.
template <class Body>
struct SmallLoop {
  static constexpr int threads = 64;
  static constexpr unsigned particles = unsigned(threads) / small_lanes;  // of a block
  Body body;
  SmallRows rows;

  __device__ void run(unsigned block, unsigned blocks) const {
    admit_successor();
    const unsigned lane = threadIdx.x % small_lanes;
    std::int64_t i = rows.own.begin + block * particles + threadIdx.x / small_lanes;
    const bool present = i < rows.own.end;  // the threads of a warp stay together for shuffles
    if (!present) i = rows.own.begin;
    await_all_before();
    const std::uint32_t stale = *rows.flag;
    if (*rows.halt) return;
    if (stale) {
      make_row(rows, i, present);
      finish_rows(rows, blocks);
    }
    const auto own = body.own(i);
    const Position p = rows.position[i];
    const std::uint32_t count = present ? rows.count[i] : 0;
    const auto* const row = reinterpret_cast<const uint2*>(rows.entries + i * rows.room);
    const Metric metric = *rows.metric;
    Real sum[Body::sums] = {};
    for (std::uint32_t first = 4 * lane; first < count; first += entries_of_round) {
      const uint2 four = row[first / 4];
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) {
        const std::uint32_t two = e < 2 ? four.x : four.y;
        const bool real = first + e < count;
        const std::uint32_t j = real ? (e % 2 ? two >> 16 : two & 0xffffu) : std::uint32_t(i);
        const Position q = rows.position[j];
        Real term[Body::sums];
        body.pair(own, metric.vector(p, q), q.type(), extra_of(body, j), real, term);
        for (int c = 0; c < Body::sums; ++c) sum[c] += term[c];
      }
    }
    for (int c = 0; c < Body::sums; ++c) {
      Real all = sum[c];
      for (unsigned k = 1; k < small_lanes / small_stride; ++k)
        all += __shfl_down_sync(0xffffffffu, sum[c], k * small_stride);
      sum[c] = all;  // of the first eight
    }
    for (int step = int(small_stride) / 2; step > 0; step /= 2)
      for (int c = 0; c < Body::sums; ++c) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], step);
    if (present && lane == 0) body.store(i, sum);
  }
};

/// Of many systems: four threads to a row, and all positions in the shared memory of each block.
template <class Body>
struct SmallLoopOfMany {
  static constexpr int threads = 256;
  static constexpr bool differ = true;  // a block does enough
  static constexpr unsigned of_row = 4, particles = unsigned(threads) / of_row;
  Body body;
  SmallRows rows;

  __device__ void run(unsigned block, unsigned) const {
    __shared__ Position staged[small_staged];
    if (begin_kernel(rows.halt)) return;
    const Position* const position = rows.position;
    const auto n = std::uint32_t(rows.particles);
    const bool has_room = n <= small_staged;
    for (std::uint32_t k = threadIdx.x; has_room && k < n; k += unsigned(threads))
      staged[k] = position[k];
    __syncthreads();
    const Metric metric = *rows.metric;
    std::int64_t i = rows.own.begin + block * particles + threadIdx.x / of_row;
    const bool present = i < rows.own.end;  // the threads of a warp stay together for shuffles
    if (!present) i = rows.own.begin;
    Real sum[Body::sums];
    if (has_room)
      add_up<4>(metric, i, present, sum, [&](std::uint32_t j) { return staged[j]; });
    else
      add_up<1>(metric, i, present, sum, [&](std::uint32_t j) { return position[j]; });
    for (int step = int(of_row) / 2; step > 0; step /= 2)
      for (int c = 0; c < Body::sums; ++c) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], step);
    if (present && threadIdx.x % of_row == 0) body.store(i, sum);
  }

 private:
  /// Of the lanes `sub` and `sub` + 4 of the first eight, and of those that are eight apart.
  template <int Unroll, class PositionOf>
  __device__ __forceinline__ void add_up(const Metric& metric, std::int64_t i, bool present,
                                         Real (&sum)[Body::sums],
                                         const PositionOf& position_of) const {
    const auto own = body.own(i);
    const Position p = position_of(std::uint32_t(i));
    const std::uint32_t count = present ? rows.count[i] : 0;
    const auto* const row = reinterpret_cast<const uint2*>(rows.entries + i * rows.room);
    Real next[Body::sums] = {}, other[Body::sums] = {};  // whose turn it is, and the other four
    unsigned lane = threadIdx.x % of_row;
    uint2 four = 4 * lane < count ? row[lane] : uint2{};
    for (; lane < small_lanes && 4 * lane < count; lane += of_row) {
      const bool more = lane + of_row < small_lanes && 4 * (lane + of_row) < count;
      const uint2 coming = more ? row[lane + of_row] : uint2{};
      Real part[Body::sums] = {};
      for (std::uint32_t first = 4 * lane;;) {
#pragma unroll Unroll
        for (unsigned e = 0; e < 4; ++e) {
          const std::uint32_t two = e < 2 ? four.x : four.y;
          const bool real = first + e < count;
          const std::uint32_t j = real ? (e % 2 ? two >> 16 : two & 0xffffu) : std::uint32_t(i);
          const Position q = position_of(j);
          Real term[Body::sums];
          body.pair(own, metric.vector(p, q), q.type(), extra_of(body, j), real, term);
          for (int c = 0; c < Body::sums; ++c) part[c] += term[c];
        }
        first += entries_of_round;
        if (first >= count) break;
        four = row[first / 4];
      }
      four = coming;
      for (int c = 0; c < Body::sums; ++c) {
        const Real done = next[c] + part[c];
        next[c] = other[c], other[c] = done;
      }
    }
    for (int c = 0; c < Body::sums; ++c) sum[c] = next[c] + other[c];
  }
};
#endif

}  // namespace detail

/// Runs the body over all rows, which are made first if they do not hold any more.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, [[maybe_unused]] const SmallList& list,
               [[maybe_unused]] const Body& body) {
#ifdef __CUDACC__
  const Device& device = list.particles().device();
  const SmallRows rows = list.rows();
  using Alone = detail::SmallLoop<Body>;
  using OfMany = detail::SmallLoopOfMany<Body>;
  const auto blocks = [&](std::int64_t particles) {
    return (rows.own.size() + particles - 1) / particles;
  };
  if (device.queue().collects())
    note_grid(device, name, blocks(OfMany::particles), OfMany{body, rows});
  else
    start_grid(device, name, blocks(Alone::particles), Alone{body, rows});
#endif
}

}  // namespace perrin
