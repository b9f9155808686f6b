// The pair loop over the rows of few particles (small_list.h), for any Body of
// neighbor/pair_loop.h, on a GPU.
//
// A row is cut among 32 lanes, four entries to each, and again from the beginning where it is
// longer. 32 threads are these lanes, or, where many systems keep the GPU busy, eight threads four
// of them each, one after the other. What the lanes have is added in one order: bits are the same.
#pragma once

#include "engine/device/parallel.h"
#include "neighbor/pair_extra.h"
#include "neighbor/small/small_list.h"

namespace perrin {
namespace detail {

#ifdef __CUDACC__
constexpr unsigned small_lanes = 32, small_stride = 8;
constexpr std::uint32_t entries_of_round = 4 * small_lanes;

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

/// Makes the row of particle i, with Lanes threads beside one another; all of the warp are here.
template <unsigned Lanes>
__device__ __noinline__ void make_row(const SmallRows& rows, std::int64_t i, bool present) {
  constexpr unsigned warp = 0xffffffffu, mine = Lanes == 32 ? warp : (1u << Lanes % 32) - 1;
  constexpr unsigned at_once = 4;  // positions on their way
  const unsigned sub = threadIdx.x % Lanes, shift = threadIdx.x % 32 - sub;
  const unsigned before = (1u << sub) - 1;
  const Position p = rows.position[i];
  const NearTest is_near(rows, p);
  std::uint16_t* const row = rows.entries + i * rows.room;
  const auto n = std::uint32_t(rows.particles), self = std::uint32_t(i);
  std::uint32_t found = 0;
  for (std::uint32_t first = 0; first < n; first += at_once * Lanes) {
    Position q[at_once];
    bool near[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t j = first + k * Lanes + sub;
      q[k] = rows.position[j < n ? j : self];
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t j = first + k * Lanes + sub;
      near[k] = is_near(q[k]) && j < n && j != self && present;
      if (near[k] && rows.exclusions)
        near[k] = !rows.exclusions.excludes(rows.id[self], rows.id[j]);
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const unsigned hits = (__ballot_sync(warp, near[k]) >> shift) & mine;
      const std::uint32_t at = found + unsigned(__popc(hits & before));
      if (near[k] && at < rows.room) row[at] = std::uint16_t(first + k * Lanes + sub);
      found += unsigned(__popc(hits));
    }
  }
  if (!present || sub != 0) return;
  rows.count[self] = found < rows.room ? found : rows.room;
  rows.reference[self] = p;
  if (found > rows.room) atomicMax(rows.words + 1, found);
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

/// Lanes: 32, which also make stale rows, or 8.
template <class Body, unsigned Lanes>
struct SmallLoop {
  static constexpr int threads = Lanes == small_lanes ? 64 : 128;
  static constexpr unsigned particles = unsigned(threads) / Lanes;  // of a block
  Body body;
  SmallRows rows;

  __device__ void run(unsigned block, unsigned blocks) const {
    admit_successor();
    const unsigned sub = threadIdx.x % Lanes;
    std::int64_t i = rows.own.begin + block * particles + threadIdx.x / Lanes;
    const bool present = i < rows.own.end;  // the threads of a warp stay together for shuffles
    if (!present) i = rows.own.begin;
    await_all_before();
    const std::uint32_t stale = Lanes == small_lanes ? *rows.flag : 0;
    if (*rows.halt) return;
    if constexpr (Lanes == small_lanes)
      if (stale) {
        make_row<Lanes>(rows, i, present);
        finish_rows(rows, blocks);
      }
    const auto own = body.own(i);
    const Position p = rows.position[i];
    const std::uint32_t count = present ? rows.count[i] : 0;
    const auto* const row = reinterpret_cast<const uint2*>(rows.entries + i * rows.room);
    const Metric metric = *rows.metric;
    constexpr int shares = small_lanes / Lanes;  // of each thread
    uint2 first_round[shares];
#pragma unroll
    for (int v = 0; v < shares; ++v) {
      const unsigned lane = sub + unsigned(v) * Lanes;
      first_round[v] = 4 * lane < count ? row[lane] : uint2{};
    }
    Real sum[Body::sums] = {};
    // Lanes sub, sub + 8, sub + 16, sub + 24, whoever they are.
    for (int v = 0; v < shares; ++v) {
      const unsigned lane = sub + unsigned(v) * Lanes;
      if (4 * lane >= count) break;
      uint2 four = first_round[0];
#pragma unroll
      for (int k = 1; k < shares; ++k)
        if (k == v) four = first_round[k];
      Real part[Body::sums] = {};
      for (std::uint32_t first = 4 * lane;;) {
#pragma unroll
        for (unsigned e = 0; e < 4; ++e) {
          const std::uint32_t two = e < 2 ? four.x : four.y;
          const bool real = first + e < count;
          const std::uint32_t j = real ? (e % 2 ? two >> 16 : two & 0xffffu) : std::uint32_t(i);
          const Position q = rows.position[j];
          Real term[Body::sums];
          body.pair(own, metric.vector(p, q), q.type(), extra_of(body, j), real, term);
          for (int c = 0; c < Body::sums; ++c) part[c] += term[c];
        }
        first += entries_of_round;
        if (first >= count) break;
        four = row[first / 4];
      }
      for (int c = 0; c < Body::sums; ++c) sum[c] = v == 0 ? part[c] : sum[c] + part[c];
    }
    if constexpr (Lanes == small_lanes)
      for (int c = 0; c < Body::sums; ++c) {
        Real all = sum[c];
        for (unsigned k = 1; k < small_lanes / small_stride; ++k)
          all += __shfl_down_sync(0xffffffffu, sum[c], k * small_stride);
        sum[c] = all;  // of the first eight
      }
    for (int step = int(small_stride) / 2; step > 0; step /= 2)
      for (int c = 0; c < Body::sums; ++c) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], step);
    if (present && sub == 0) body.store(i, sum);
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
  using Alone = detail::SmallLoop<Body, detail::small_lanes>;
  using OfMany = detail::SmallLoop<Body, detail::small_stride>;
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
