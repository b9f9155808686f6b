// The pair loop over clusters, for any Body of pair_loop.h, on the CPU.
//
// Each pair is evaluated once, from the side of the particle whose row names it: pair() is given
// that particle as i. The other one gets the same sums with the first Body::odd of them reversed.
// What a particle gets is added in an order fixed by the list, so the result does not depend on
// the number of threads.
#pragma once

#include "engine/device/parallel.h"
#include "neighbor/clusters/clusters.h"
#include "neighbor/clusters/lane_coefficients.h"
#include "neighbor/inline.h"
#include "neighbor/pair_extra.h"

namespace perrin {
namespace detail {

template <class Body>
struct ClusterRows {
  static constexpr int width = cluster_size, sums = Body::sums;
  using Lanes = LaneCoefficients<Body>;
  Body body;
  ClusterView list;
  LoadCluster load;
  Lanes lanes;
  Real* coordinates;  // of a task's clusters; all tasks of a thread use the same memory
  Real* results;      // blocks of sums; each task has its own

  /// A particle of the two that share a row.
  template <class Own>
  struct Member {
    Own own;
    Real x, y, z;
    std::uint32_t type;
  };

  // A function of its own: GCC does not vectorise over structs declared in the simd loop.
  template <class Own>
  PERRIN_INLINE void evaluate(const Member<Own>& a, const Member<Own>& b, Real x, Real y, Real z,
                              std::uint32_t type, std::int64_t j, const Real* of_a,
                              const Real* of_b, bool real_a, bool real_b, Real (&term_a)[sums],
                              Real (&term_b)[sums]) const {
    const Real3 d_a{a.x - x, a.y - y, a.z - z}, d_b{b.x - x, b.y - y, b.z - z};
    const auto extra = extra_of(body, j);
    if constexpr (Lanes::used && Body::has_extra) {
      body.pair_with(a.own, d_a, type, Lanes::load(of_a), extra, real_a, term_a);
      body.pair_with(b.own, d_b, type, Lanes::load(of_b), extra, real_b, term_b);
    } else if constexpr (Lanes::used) {
      body.pair_with(a.own, d_a, type, Lanes::load(of_a), real_a, term_a);
      body.pair_with(b.own, d_b, type, Lanes::load(of_b), real_b, term_b);
    } else {
      body.pair(a.own, d_a, type, extra, real_a, term_a);
      body.pair(b.own, d_b, type, extra, real_b, term_b);
    }
  }

  /// Both particles of the row with the sixteen of a cluster.
  template <bool Masked, class Own>
  PERRIN_INLINE void tile(const Member<Own>& a, const Member<Own>& b, const ClusterEntry& entry,
                          std::uint32_t mask, const ClusterTask& task, Real* given,
                          Real (&sum_a)[sums][width], Real (&sum_b)[sums][width]) const {
    const Real* at = coordinates + std::int64_t(entry.cluster) * lanes.block();
    Real* to = given + std::int64_t(entry.cluster) * (sums * width);
    const std::uint32_t cluster = task.clusters[entry.cluster];
    const std::uint32_t* type = list.type + std::int64_t(cluster) * width;
    const std::int64_t first = list.first[cluster];
    Real room_a[Lanes::room], room_b[Lanes::room];
    const Real* of_a = lanes.find(at, a.type, type, room_a);
    const Real* of_b = lanes.find(at, b.type, type, room_b);
#pragma omp simd simdlen(width)
    for (int k = 0; k < width; ++k) {
      Real term_a[sums], term_b[sums];
      evaluate(a, b, at[k] + entry.x, at[width + k] + entry.y, at[2 * width + k] + entry.z, type[k],
               first + k, of_a + k, of_b + k, !Masked || ((mask >> k) & 1u) != 0,
               !Masked || ((mask >> (width + k)) & 1u) != 0, term_a, term_b);
      for (int s = 0; s < sums; ++s) {
        sum_a[s][k] += term_a[s];
        sum_b[s][k] += term_b[s];
        const Real sum = to[s * width + k];
        to[s * width + k] =
            s < Body::odd ? (sum - term_a[s]) - term_b[s] : (sum + term_a[s]) + term_b[s];
      }
    }
  }

  using Four = FourReals;

  static PERRIN_INLINE void quarter(const Real* from, Four& to) {
    const Four* f = reinterpret_cast<const Four*>(from);
    to = (f[0] + f[2]) + (f[1] + f[3]);
  }
  /// to[k] = the sum of the numbers of from[k]: a transposition and three additions.
  static PERRIN_INLINE void sum_of_each(const Four* from, Real* to) {
    const Four a = __builtin_shufflevector(from[0], from[1], 0, 4, 1, 5);
    const Four b = __builtin_shufflevector(from[2], from[3], 0, 4, 1, 5);
    const Four c = __builtin_shufflevector(from[0], from[1], 2, 6, 3, 7);
    const Four d = __builtin_shufflevector(from[2], from[3], 2, 6, 3, 7);
    const Four e = a + c, f = b + d;
    *reinterpret_cast<Four*>(to) =
        __builtin_shufflevector(e, f, 0, 1, 4, 5) + __builtin_shufflevector(e, f, 2, 3, 6, 7);
  }

  PERRIN_INLINE void operator()(std::int64_t t) const {
    const ClusterTask task = list.task[t];
    Real* given = results + std::int64_t(task.block) * (sums * width);
    for (std::uint32_t k = 0; k < task.span; ++k) {
      Real* at = coordinates + k * lanes.block();
      load(task.clusters[k], at);
      lanes.prepare(at, k == 0, list.type + std::int64_t(task.clusters[k]) * width);
      for (int n = 0; n < sums * width; ++n) given[k * (sums * width) + unsigned(n)] = 0;
    }
    for (std::uint32_t cluster = task.begin; cluster < task.end; ++cluster) {
      const std::uint32_t first = list.first[cluster], count = list.end[cluster] - first;
      const Real* at = coordinates + (cluster - task.begin) * lanes.block();
      Four quarters[sums][width] = {};
      for (std::uint32_t lane = 0; lane < count; lane += 2) {
        const ClusterRow row = list.row[std::int64_t(cluster) * (width / 2) + lane / 2];
        // The last particle may be alone: its companion is nowhere near.
        const bool two = lane + 1 < count;
        using Own = decltype(body.own(first));
        const std::uint32_t* type = list.type + std::int64_t(cluster) * width + lane;
        const Member<Own> a{body.own(first + lane), at[lane], at[width + lane],
                            at[2 * width + lane], type[0]};
        const Member<Own> b{body.own(first + lane + (two ? 1 : 0)), two ? at[lane + 1] : -load.far,
                            at[width + lane + 1], at[2 * width + lane + 1], type[1]};
        alignas(64) Real sum_a[sums][width] = {}, sum_b[sums][width] = {};
        for (std::uint32_t k = row.begin; k < row.plain; ++k)
          tile<true>(a, b, task.entries[k], task.masks[row.mask + k - row.begin], task, given,
                     sum_a, sum_b);
        for (std::uint32_t k = row.plain; k < row.end; ++k)
          tile<false>(a, b, task.entries[k], 0, task, given, sum_a, sum_b);
        for (int s = 0; s < sums; ++s) {
          quarter(sum_a[s], quarters[s][lane]);
          quarter(sum_b[s], quarters[s][lane + 1]);
        }
      }
      alignas(64) Real total[sums][width];
      for (int s = 0; s < sums; ++s)
        for (int lane = 0; lane < width; lane += 4)
          sum_of_each(&quarters[s][lane], total[s] + lane);
      Real* to = given + (cluster - task.begin) * (sums * width);
      for (int s = 0; s < sums; ++s)
        for (int k = 0; k < width; ++k) to[s * width + k] += total[s][k];
    }
  }
};

/// Adds what the tasks have found for a cluster and hands it to the body.
template <class Body>
struct StoreClusters {
  static constexpr int width = cluster_size, sums = Body::sums;
  Body body;
  ClusterView list;
  const Real* results;

  PERRIN_INLINE void operator()(std::int64_t cluster) const {
    // Fours, in registers; left to itself GCC puts its vectors across the blocks, with gathers.
    FourReals four[sums * width / 4] = {};
    for (std::uint32_t k = list.source_begin[cluster]; k < list.source_begin[cluster + 1]; ++k) {
      const Real* block = results + std::int64_t(list.source[k]) * (sums * width);
#ifndef __CUDACC__  // nvcc knows no such pragma
#pragma GCC unroll 40
#endif
      for (int n = 0; n < sums * width / 4; ++n)
        four[n] += reinterpret_cast<const FourReals*>(block)[n];
    }
    const Real* total = reinterpret_cast<const Real*>(four);
    const std::uint32_t first = list.first[cluster], count = list.end[cluster] - first;
    for (std::uint32_t lane = 0; lane < count; ++lane) {
      Real sum[sums];
      for (int s = 0; s < sums; ++s) sum[s] = total[s * width + int(lane)];
      body.store(first + lane, sum);
    }
  }
};

}  // namespace detail

/// Runs the body over all pairs of the list.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, const ClusterList& clusters, const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body>);
  const Particles& particles = clusters.particles();
  const Device& device = particles.device();
  if (device.halt().skipping() || particles.size() == 0) return;
  const ClusterView list = clusters.view();
  const detail::LoadCluster load = clusters.loader();
  constexpr std::int64_t row = cluster_size;
  const detail::LaneCoefficients<Body> lanes(body);
  const std::int64_t share = list.longest_span * lanes.block() + lanes.shared;
  Real* workspace = clusters.workspace(device.threads() * share + list.blocks * Body::sums * row);
  Real* results = workspace + device.threads() * share;
  const detail::StoreClusters<Body> store{body, list, results};
  const auto evaluate = [&](std::int64_t t, int thread) {
    if (!list.task[t].wanted) return;
    Real* own = workspace + thread * share;
    const detail::ClusterRows<Body> rows{
        body, list, load, lanes.with_common(own + list.longest_span * lanes.block()), own, results};
    run_range(rows, t, t + 1);
  };
  for_tasks(device, list.tasks, evaluate, particles.size() > 512);
  for_pieces(device, list.own_end - list.own_begin, 32, [&](std::int64_t begin, std::int64_t end) {
    run_range(store, list.own_begin + begin, list.own_begin + end);
  });
}

}  // namespace perrin
