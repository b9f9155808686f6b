// The pair loop over the rows of few particles (small_list.h), for any Body of
// neighbor/pair_loop.h, on a GPU.
//
// A row is cut among 32 lanes, four entries to each, and again from the beginning where it is
// longer. 32 threads are these lanes, or, where many systems keep the GPU busy, four threads eight
// of them each, one after the other: these find positions in shared memory, also when they make
// stale rows. What the lanes have is added in one order: bits are the same.
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
/// Positions that a thread tests beside one another. In shared memory there is one place between
/// those of two threads, so that they read from different banks.
constexpr std::uint32_t small_tested = 32;
constexpr std::uint32_t staged_place(std::uint32_t k) { return k + k / small_tested; }

/// Whether particles are within reach; also some that are further by up to 10^-6 of the longest
/// edge.
class NearTest {
 public:
  __device__ NearTest(const SmallRows& rows, const Position& p)
      : p_(p), metric_(*rows.metric), reach2_(rows.reach2 + p.type() * rows.types) {}
  __device__ bool operator()(const Position& q) const {
    const Real3 d = metric_.vector(p_, q);
    return dot(d, d) < reach2_[q.type()];
  }

 private:
  Position p_;
  Metric metric_;
  const Real* reach2_;
};

/// The same in a box without tilts in single precision: coordinates become floats by additions, for
/// conversions take four times as long.
template <bool OneType>
class QuickNearTest {
 public:
  __device__ QuickNearTest(const SmallRows& rows, const Position& p)
      : p_(p), reach2_(rows.reach2 + p.type() * rows.types) {
    const Metric metric = *rows.metric;
    scale_ = {Real(512) * metric.xx, Real(512) * metric.yy, Real(512) * metric.zz};
    begin_ = {-Real(shift) * scale_.x, -Real(shift) * scale_.y, -Real(shift) * scale_.z};
    // 512 units are 1.2e-7 of an edge; the numbers here are exact to as much.
    const Real slack =
        Real(1e-6) * Real(4294967296.0) * std::max(metric.xx, std::max(metric.yy, metric.zz));
    more_ = slack * (2 * rows.longest + slack);
    first_ = limit(0);
  }
  __device__ bool operator()(const Position& q) const {
    const Real x = along(p_.x - q.x, scale_.x, begin_.x), y = along(p_.y - q.y, scale_.y, begin_.y),
               z = along(p_.z - q.z, scale_.z, begin_.z);
    return x * x + y * y + z * z < (OneType ? first_ : limit(q.type()));
  }

 private:
  static constexpr float shift = 12582912;  // 1.5 · 2^23
  __device__ Real limit(std::uint32_t type) const {
    return reach2_[type] > Real(0) ? reach2_[type] + more_ : Real(0);
  }
  static __device__ Real along(std::uint32_t difference, Real scale, Real begin) {
    const float shifted = __int_as_float((std::int32_t(difference) >> 9) + 0x4b400000);
    return multiply_add(Real(shifted), scale, begin);
  }

  Position p_;
  const Real* reach2_;
  Real3 scale_, begin_;
  Real more_, first_;
};

/// make(test) with the test of particle p: each is a loop of its own.
template <class Make>
__device__ void with_near_test(const SmallRows& rows, const Position& p, const Make& make) {
  if (sizeof(Real) == 8 || rows.metric->skewed)
    make(NearTest(rows, p));
  else if (rows.types == 1)
    make(QuickNearTest<true>(rows, p));
  else
    make(QuickNearTest<false>(rows, p));
}

/// Behind the last entry of a row; of one thread.
__device__ inline void end_row(const SmallRows& rows, std::uint32_t i, const Position& p,
                               std::uint32_t found) {
  rows.count[i] = found < rows.room ? found : rows.room;
  rows.reference[i] = p;
  if (found > rows.room) atomicMax(rows.words + 1, found);
}

/// Bit k is set where position `first` + k is near, unless it is `self`; q: those from `first`
/// on, with others behind the last of `n`.
template <class NearTest>
__device__ __forceinline__ std::uint32_t near_ones(const NearTest& is_near, const Position* q,
                                                   std::uint32_t first, std::uint32_t n,
                                                   std::uint32_t self) {
  std::uint32_t near = 0;
#pragma unroll 8
  for (std::uint32_t k = 0; k < small_tested; ++k) near |= is_near(q[k]) ? 1u << k : 0u;
  if (n - first < small_tested) near &= (1u << (n - first)) - 1;
  const std::uint32_t at = self - first;
  if (at < small_tested) near &= ~(1u << at);
  return near;
}

/// In the row of particle `self`: entries first + k where bit k is set, behind `found` others and
/// those of lanes before; how many there are then. Of all threads of a warp, of which `Lanes` are
/// for one row.
template <unsigned Lanes>
__device__ std::uint32_t add_entries(const SmallRows& rows, std::uint32_t near, std::uint32_t first,
                                     std::uint32_t self, std::uint32_t found) {
  constexpr unsigned warp = 0xffffffffu;
  if (rows.exclusions)
    for (std::uint32_t left = near; left != 0; left &= left - 1) {
      const auto k = std::uint32_t(__ffs(int(left))) - 1;
      if (rows.exclusions.excludes(rows.id[self], rows.id[first + k])) near &= ~(1u << k);
    }
  const auto mine = std::uint32_t(__popc(near));
  std::uint32_t until = mine;  // of this lane and those before
  for (unsigned step = 1; step < Lanes; step *= 2) {
    const std::uint32_t before = __shfl_up_sync(warp, until, step, Lanes);
    if (threadIdx.x % Lanes >= step) until += before;
  }
  std::uint16_t* const row = rows.entries + std::int64_t(self) * rows.room;
  std::uint32_t at = found + until - mine;
  for (; near != 0; near &= near - 1, ++at)
    if (at < rows.room) row[at] = std::uint16_t(first + std::uint32_t(__ffs(int(near))) - 1);
  return found + __shfl_sync(warp, until, Lanes - 1, Lanes);
}

/// Positions `begin`, …, `begin` + count - 1 into shared memory, at staged_place(), and behind them
/// others, of types that there are, up to a multiple of small_tested. Of all threads of a block.
__device__ inline void stage_positions(const SmallRows& rows, Position* staged, std::uint32_t begin,
                                       std::uint32_t count) {
  const std::uint32_t whole = (count + small_tested - 1) / small_tested * small_tested;
  for (std::uint32_t k = threadIdx.x; k < whole; k += blockDim.x)
    staged[staged_place(k)] = rows.position[begin + (k < count ? k : 0)];
}

/// Makes the row of particle i with `Lanes` threads beside one another, of a block whose threads
/// are all here, each with a row or without (not `present`). Positions are staged as many at a
/// time as there is room for; with `all_staged` all of them are already.
template <unsigned Lanes>
__device__ __noinline__ void make_row_of_staged(const SmallRows& rows, Position* staged,
                                                bool all_staged, std::int64_t i, bool present) {
  const auto n = std::uint32_t(rows.particles), self = std::uint32_t(i);
  const Position p = rows.position[i];
  with_near_test(rows, p, [&](const auto& is_near) {
    std::uint32_t found = 0;
    for (std::uint32_t begin = 0; begin < n; begin += small_staged) {
      const std::uint32_t count = n - begin < small_staged ? n - begin : small_staged;
      if (!all_staged) {
        __syncthreads();
        stage_positions(rows, staged, begin, count);
        __syncthreads();
      }
      for (std::uint32_t first = 0; first < count; first += Lanes * small_tested) {
        const std::uint32_t mine = first + threadIdx.x % Lanes * small_tested;
        const std::uint32_t near = mine < count ? near_ones(is_near, staged + staged_place(mine),
                                                            mine, count, self - begin)
                                                : 0;
        found = add_entries<Lanes>(rows, present ? near : 0, begin + mine, self, found);
      }
    }
    if (present && threadIdx.x % Lanes == 0) end_row(rows, self, p, found);
  });
}

/// Makes the row of particle i, with the threads of a warp, all of which are here.
inline __device__ __noinline__ void make_row(const SmallRows& rows, std::int64_t i, bool present) {
  constexpr unsigned warp = 0xffffffffu;
  constexpr unsigned at_once = 4;  // positions on their way
  const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1;
  const Position p = rows.position[i];
  std::uint16_t* const row = rows.entries + i * rows.room;
  const auto n = std::uint32_t(rows.particles), self = std::uint32_t(i);
  with_near_test(rows, p, [&](const auto& is_near) {
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
  });
}

/// Behind the rows of a block: the last one says that lists are built. Of all threads.
__device__ inline void finish_rows(const SmallRows& rows, unsigned blocks, unsigned of_these = 1) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(rows.words, of_these) + of_these != blocks) return;
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

/// Of many systems: four threads to a row, and all positions in the shared memory of a block. Makes
/// stale rows.
template <class Body>
struct SmallLoopOfMany {
  static constexpr int threads = 256;
  static constexpr unsigned resident = 4, most_in_turn = 2;
  static constexpr unsigned of_row = 4, particles = unsigned(threads) / of_row;
  Body body;
  SmallRows rows;

  __device__ void run_several(unsigned first, unsigned last, unsigned blocks) const {
    __shared__ Position staged[staged_place(small_staged)];
    if (begin_kernel(rows.halt)) return;
    const std::uint32_t stale = *rows.flag;
    const auto n = std::uint32_t(rows.particles);
    const bool has_room = n <= small_staged;
    if (has_room) stage_positions(rows, staged, 0, n);
    __syncthreads();
    for (unsigned block = first; stale && block < last; ++block) make_rows(staged, has_room, block);
#pragma unroll 1
    for (unsigned block = first; block < last; ++block) add_up(staged, has_room, block);
    if (stale) finish_rows(rows, blocks, last - first);
  }

 private:
  __device__ void make_rows(Position* staged, bool has_room, unsigned block) const {
    const std::int64_t i = rows.own.begin + block * particles + threadIdx.x / of_row;
    const bool present = i < rows.own.end;
    make_row_of_staged<of_row>(rows, staged, has_room, present ? i : rows.own.begin, present);
    __syncwarp();
  }

  __device__ __forceinline__ void add_up(const Position* staged, bool has_room,
                                         unsigned block) const {
    const Metric metric = *rows.metric;
    std::int64_t i = rows.own.begin + block * particles + threadIdx.x / of_row;
    const bool present = i < rows.own.end;  // the threads of a warp stay together for shuffles
    if (!present) i = rows.own.begin;
    Real sum[Body::sums];
    if (has_room)
      add_row<4>(metric, i, present, sum, [&](std::uint32_t j) { return staged[staged_place(j)]; });
    else
      add_row<1>(metric, i, present, sum, [&](std::uint32_t j) { return rows.position[j]; });
    for (int step = int(of_row) / 2; step > 0; step /= 2)
      for (int c = 0; c < Body::sums; ++c) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], step);
    if (present && threadIdx.x % of_row == 0) body.store(i, sum);
  }

  /// Of the lanes `sub` and `sub` + 4 of the first eight, and of those that are eight apart.
  template <int Unroll, class PositionOf>
  __device__ __forceinline__ void add_row(const Metric& metric, std::int64_t i, bool present,
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
