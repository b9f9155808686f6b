// The loop over the neighbours of particles that may move (engine/components/trial_moves.h), for
// any body of a pair loop (neighbor/pair_loop.h) that computes energies: term[3] is that of a pair.
#pragma once

#include <utility>

#include "engine/components/step_context.h"
#include "engine/components/trial_moves.h"
#include "engine/device/parallel.h"
#include "engine/system/moved_position.h"
#include "neighbor/exclusions.h"
#include "neighbor/inline.h"
#include "neighbor/neighbors.h"
#include "neighbor/pair_extra.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {
namespace detail {

/// Slots of the cells around one, in pieces of neighbouring cells.
struct TrialSurroundings {
  const TrialCells& cells;
  Vec3<std::int32_t> at;

  PERRIN_HD static std::int32_t span(std::int32_t n) { return n == 1 ? 1 : 3; }
  /// Rows of cells along x; each has two pieces, for it may go round the box.
  PERRIN_HD std::int32_t pieces() const { return 2 * span(cells.cells.y) * span(cells.cells.z); }
  PERRIN_HD static std::int32_t wrapped(std::int32_t c, std::int32_t n) {
    return c < 0 ? c + n : c >= n ? c - n : c;
  }
  PERRIN_HD void piece(std::int32_t k, std::uint32_t& begin, std::uint32_t& end) const {
    const Vec3<std::int32_t>& n = cells.cells;
    const std::int32_t row = k / 2, in_y = span(n.y);
    const std::int32_t z = n.z == 1 ? 0 : wrapped(at.z + row / in_y - 1, n.z);
    const std::int32_t y = n.y == 1 ? 0 : wrapped(at.y + row % in_y - 1, n.y);
    std::int32_t first = 0, last = 0;  // cells along x
    bool empty = k & 1;
    if (n.x > 1) {
      first = at.x - 1, last = at.x + 1;
      if (first < 0) {
        if (k & 1)
          first = last = n.x - 1;
        else
          first = 0;
        empty = false;
      } else if (last >= n.x) {
        if (k & 1)
          first = last = 0;
        else
          last = n.x - 1;
        empty = false;
      }
    }
    const std::int32_t base = cells.key({0, y, z});
    begin = cells.start[base + first];
    end = empty ? begin : cells.start[base + last + 1];
  }
};

/// Finite: the difference of two such sums is a number.
PERRIN_HD Real bounded(Real energy) { return energy < Real(1e30) ? energy : Real(1e30); }

/// One trial, on the CPU.
template <class Body>
struct TrialsOnCpu {
  static constexpr int width = 16, block_size = 128;
  Body body;
  TrialMoves trials;
  Metric metric;
  ExclusionView exclusions;

  using Own = decltype(std::declval<const Body&>().own(0));

  /// Neighbours number by number, in whole vectors.
  struct Block {
    Own own;
    Position before, after;
    std::uint32_t self;
    int filled = 0;
    alignas(64) std::uint32_t x[block_size], y[block_size], z[block_size], type[block_size];
    alignas(64) std::uint32_t place[block_size];
    alignas(64) Real before_sum[width] = {}, after_sum[width] = {};

    Block(const Own& of, const Position& from, const Position& to, std::uint32_t at)
        : own(of), before(from), after(to), self(at) {}
    PERRIN_INLINE void take(const Position& q, std::uint32_t at) {
      x[filled] = q.x, y[filled] = q.y, z[filled] = q.z, type[filled] = q.type();
      place[filled++] = at;
    }
  };

  // A function of its own: GCC does not vectorise over structs declared in the simd loop.
  PERRIN_INLINE Real energy(const Own& own, const Position& p, std::uint32_t x, std::uint32_t y,
                            std::uint32_t z, std::uint32_t type, std::uint32_t at,
                            bool real) const {
    Real term[Body::sums];
    const Real3 d =
        metric.vector(std::int32_t(p.x - x), std::int32_t(p.y - y), std::int32_t(p.z - z));
    body.pair(own, d, type, extra_of(body, at), real, term);
    return bounded(term[3]);
  }
  PERRIN_INLINE void evaluate(Block& b) const {
    const int padded = (b.filled + width - 1) / width * width, filled = b.filled;
    while (b.filled < padded) b.take(b.before, b.self);
    for (int first = 0; first < padded; first += width) {
#pragma omp simd simdlen(width)
      for (int n = 0; n < width; ++n) {
        const int at = first + n;
        b.before_sum[n] += energy(b.own, b.before, b.x[at], b.y[at], b.z[at], b.type[at],
                                  b.place[at], at < filled);
        b.after_sum[n] +=
            energy(b.own, b.after, b.x[at], b.y[at], b.z[at], b.type[at], b.place[at], at < filled);
      }
    }
    b.filled = 0;
  }

  PERRIN_INLINE void operator()([[maybe_unused]] std::int64_t k) const {
#ifndef __CUDA_ARCH__
    const TrialMove move = trials.move[k];
    if (move.slot == TrialMove::none) return;
    const TrialCells& cells = trials.cells;
    const auto own = body.own(move.place);
    const Position before = cells.position[move.slot];
    const std::uint32_t id = cells.id[move.slot];
    const bool some = exclusions && exclusions.begin[id] < exclusions.begin[id + 1];
    const TrialSurroundings around{cells, cells.active_cell(k)};
    Block block{own, before, move.after, move.place};
    for (std::int32_t piece = 0; piece < around.pieces(); ++piece) {
      std::uint32_t begin, end;
      around.piece(piece, begin, end);
      for (std::uint32_t slot = begin; slot < end; ++slot) {
        const bool left_out =
            slot == move.slot || (some && exclusions.excludes(id, cells.id[slot]));
        if (!left_out) block.take(cells.position[slot], cells.place[slot]);
        if (block.filled == block_size) evaluate(block);
      }
    }
    evaluate(block);
    double change = 0;
    for (int n = 0; n < width; ++n)
      change += double(block.after_sum[n]) - double(block.before_sum[n]);
    trials.change[k] += change;
#endif
  }
};

#ifdef __CUDACC__
constexpr int trial_lanes = 16, trial_block = 128;  // a row of three cells of a liquid

/// Sixteen threads, of which half a warp is made, with the neighbours of a particle.
template <class Body>
struct TrialGroup {
  const Body& body;
  const TrialCells& cells;
  const Metric& metric;
  const ExclusionView& exclusions;
  std::uint32_t lane, mask;

  __device__ __forceinline__ TrialGroup(const Body& b, const TrialCells& c, const Metric& m,
                                        const ExclusionView& e)
      : body(b),
        cells(c),
        metric(m),
        exclusions(e),
        lane(threadIdx.x % trial_lanes),
        mask(0xffffu << (threadIdx.x & 16)) {}

  template <class T>
  __device__ __forceinline__ T sum(T value) const {
    for (int step = trial_lanes / 2; step > 0; step /= 2)
      value += __shfl_xor_sync(mask, value, step);
    return value;
  }
  template <class Own>
  __device__ __forceinline__ Real energy(const Own& own, const Real3& d, std::uint32_t type,
                                         std::uint32_t place) const {
    Real term[Body::sums];
    body.pair(own, d, type, extra_of(body, place), true, term);
    return bounded(term[3]);
  }
  /// f(slot) for every neighbour that interacts with a particle, by this thread's turn.
  template <class F>
  __device__ __forceinline__ void for_each_neighbor(const Vec3<std::int32_t>& cell,
                                                    std::uint32_t self, const F& f) const {
    const TrialSurroundings around{cells, cell};
    const std::int32_t pieces = around.pieces();
    const std::uint32_t id = exclusions ? cells.id[self] : 0;
    const bool some = exclusions && exclusions.begin[id] < exclusions.begin[id + 1];
    for (std::int32_t piece = 0; piece < pieces; ++piece) {
      std::uint32_t begin, end;
      around.piece(piece, begin, end);
      for (std::uint32_t slot = begin + lane; slot < end; slot += trial_lanes)
        if (slot != self && !(some && exclusions.excludes(id, cells.id[slot]))) f(slot);
    }
  }
};

template <class Body>
__global__ void __launch_bounds__(trial_block)
    trial_kernel(const __grid_constant__ Body body, const __grid_constant__ TrialMoves trials,
                 const Metric* kept_metric, const ExclusionView exclusions,
                 const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const std::int64_t k = (std::int64_t(blockIdx.x) * trial_block + threadIdx.x) / trial_lanes;
  const TrialCells& cells = trials.cells;
  if (k >= cells.active()) return;
  const TrialMove move = trials.move[k];
  if (move.slot == TrialMove::none) return;
  const Metric metric = *kept_metric;
  const TrialGroup<Body> group(body, cells, metric, exclusions);
  const auto own = body.own(move.place);
  const Position before = cells.position[move.slot];
  Real old_sum = 0, new_sum = 0;
  group.for_each_neighbor(cells.active_cell(k), move.slot, [&](std::uint32_t slot) {
    const Position q = cells.position[slot];
    const std::uint32_t place = Body::has_extra ? cells.place[slot] : 0u;
    old_sum += group.energy(own, metric.vector(before, q), q.type(), place);
    new_sum += group.energy(own, metric.vector(move.after, q), q.type(), place);
  });
  const double change = group.sum(double(new_sum) - double(old_sum));
  if (group.lane == 0) trials.change[k] += change;
}

/// Neighbours of a particle that makes several trials: as vectors from where it was.
struct NotedNeighbors {
  static constexpr std::uint32_t room = 128;
  Real4 vector[room];  // w: the type, as a word
  std::uint32_t place[room];
};

template <class Body>
__global__ void __launch_bounds__(trial_block)
    trial_chain_kernel(const __grid_constant__ Body body,
                       const __grid_constant__ TrialChains chains, const Metric* kept_metric,
                       const ExclusionView exclusions, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  constexpr int groups = trial_block / trial_lanes;
  __shared__ __align__(16) unsigned char memory[groups * sizeof(NotedNeighbors)];
  const std::int64_t k = (std::int64_t(blockIdx.x) * trial_block + threadIdx.x) / trial_lanes;
  const TrialCells& cells = chains.cells;
  if (k >= cells.active()) return;
  NotedNeighbors& noted = reinterpret_cast<NotedNeighbors*>(memory)[threadIdx.x / trial_lanes];
  const Metric metric = *kept_metric;
  const TrialGroup<Body> group(body, cells, metric, exclusions);
  const Vec3<std::int32_t> cell = cells.active_cell(k);
  const std::int32_t key = cells.key(cell);
  const Real reach2 = (chains.range + chains.margin) * (chains.range + chains.margin);
  TrialCounts counts;
  for (std::uint32_t self = cells.start[key]; self < cells.start[key + 1]; ++self) {
    const std::uint32_t id = cells.id[self], place = cells.place[self];
    if (!chains.proposal.group.has(id)) continue;
    const auto own = body.own(place);
    const Position first = cells.position[self];
    // Its energy, and who is near.
    Real old_part = 0;
    std::uint32_t count = 0;
    {
      const TrialSurroundings around{cells, cell};
      const std::int32_t pieces = around.pieces();
      const bool some = exclusions && exclusions.begin[id] < exclusions.begin[id + 1];
      for (std::int32_t piece = 0; piece < pieces; ++piece) {
        std::uint32_t begin, end;
        around.piece(piece, begin, end);
        for (std::uint32_t from = begin; from < end; from += trial_lanes) {
          const std::uint32_t slot = from + group.lane;
          const Position q = cells.position[slot < end ? slot : self];
          const Real3 d = metric.vector(first, q);
          const bool near = slot < end && slot != self && dot(d, d) < reach2 &&
                            !(some && exclusions.excludes(id, cells.id[slot]));
          const std::uint32_t who = __ballot_sync(group.mask, near) >> (threadIdx.x & 16) & 0xffffu;
          const std::uint32_t at = count + __popc(who & ((1u << group.lane) - 1));
          count += __popc(who);
          if (!near) continue;
          const std::uint32_t its_place = Body::has_extra ? cells.place[slot] : 0u;
          old_part += group.energy(own, d, q.type(), its_place);
          if (at < NotedNeighbors::room) {
            noted.vector[at] = {d.x, d.y, d.z, type_to_real(q.type())};
            if constexpr (Body::has_extra) noted.place[at] = its_place;
          }
        }
      }
    }
    __syncwarp(group.mask);
    double old_energy = group.sum(double(old_part));
    Position here = first;
    for (std::uint32_t trial = 0; trial < chains.trials; ++trial) {
      const TrialProposal::Drawn drawn = chains.proposal.draw(id, trial);
      const Position after = moved_by_axes(here, metric.fixed_word(drawn.by));
      if (cells.key(cells.cell_of(after)) != key) continue;
      Real new_part = 0;
      const Real3 moved = metric.vector(after, first);
      if (count <= NotedNeighbors::room && dot(moved, moved) <= chains.margin * chains.margin) {
        for (std::uint32_t n = group.lane; n < count; n += trial_lanes) {
          const Real4 v = noted.vector[n];
          new_part += group.energy(own, v.xyz() + moved, real_to_type(v.w),
                                   Body::has_extra ? noted.place[n] : 0u);
        }
      } else {
        group.for_each_neighbor(cell, self, [&](std::uint32_t slot) {
          const Position q = cells.position[slot];
          new_part += group.energy(own, metric.vector(after, q), q.type(),
                                   Body::has_extra ? cells.place[slot] : 0u);
        });
      }
      const double new_energy = group.sum(double(new_part));
      if (!(new_energy - old_energy <= -chains.kt * double(drawn.log_of_uniform))) continue;
      here = after, old_energy = new_energy;
      ++counts.accepted;
    }
    counts.tried += chains.trials;
    if (group.lane == 0) {
      cells.position[self] = here;
      chains.particles.go(place, first, here);
    }
    __syncwarp(group.mask);
  }
  if (group.lane == 0) chains.counts[k] += counts;
}
#endif

}  // namespace detail

/// Adds to trials.change what the trials change of the energies of pairs. Device work only.
template <class Body>
void trial_loop(const char* name, StepContext& s, const TrialMoves& trials, const Body& body) {
  const Device& device = s.device();
  if (device.skipping()) return;
  const Current<Metric> metric = s.particles.metric();
  const ExclusionView exclusions = s.neighbors->exclusions();
  const std::int64_t n = trials.cells.active();
#ifdef __CUDACC__
  if (device.is_cuda()) {
    const std::int64_t blocks =
        (n * detail::trial_lanes + detail::trial_block - 1) / detail::trial_block;
    launch_early(device, name, dim3(unsigned(blocks)), dim3(detail::trial_block), 0,
                 detail::trial_kernel<Body>, body, trials, metric.kept, exclusions,
                 static_cast<const std::uint32_t*>(device.halt_word()));
    return;
  }
#endif
  (void)name;
  detail::for_each_on_cpu(device, n, detail::TrialsOnCpu<Body>{body, trials, *metric, exclusions},
                          8);
}

/// Whole chains of trials, on a GPU. Device work only.
template <class Body>
void trial_chain_loop([[maybe_unused]] const char* name, [[maybe_unused]] StepContext& s,
                      [[maybe_unused]] const TrialChains& chains,
                      [[maybe_unused]] const Body& body) {
#ifdef __CUDACC__
  const std::int64_t threads = chains.cells.active() * detail::trial_lanes;
  launch_early(s.device(), name,
               dim3(unsigned((threads + detail::trial_block - 1) / detail::trial_block)),
               dim3(detail::trial_block), 0, detail::trial_chain_kernel<Body>, body, chains,
               s.particles.metric().kept, s.neighbors->exclusions(),
               static_cast<const std::uint32_t*>(s.device().halt_word()));
#endif
}

}  // namespace perrin
