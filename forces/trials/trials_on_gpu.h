// Trial moves with the neighbours of their particles, on a CUDA device; see
// forces/trials/trial_loop.h.
#pragma once

#include "engine/device/parallel.h"
#include "engine/system/moved_position.h"
#include "forces/trials/trial_surroundings.h"
#include "neighbor/exclusions.h"
#include "neighbor/pair_extra.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin::detail {

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
    if constexpr (looks_up<Body>)
      body.pair_with(own, d, type,
                     body.types == 1 ? own.coefficients : entry(body.table, own.row + type), true,
                     term);
    else
      body.pair(own, d, type, extra_of(body, place), true, term);
    return bounded(term[3]);
  }
  /// f(slot) for every neighbour that interacts with a particle, by this thread's turn; `self`: its
  /// slot, or none.
  template <class F>
  __device__ __forceinline__ void for_each_neighbor(const Vec3<std::int32_t>& cell,
                                                    std::uint32_t self, const F& f) const {
    const TrialSurroundings around{cells, cell};
    const std::int32_t pieces = around.pieces();
    const bool excludes = exclusions && self != TrialMove::none;
    const std::uint32_t id = excludes ? cells.id[self] : 0;
    const bool some = excludes && exclusions.begin[id] < exclusions.begin[id + 1];
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
  if (k >= trials.count) return;
  const TrialMove move = trials.move[k];
  if (!move.is_tried()) return;
  const Metric metric = *kept_metric;
  const TrialGroup<Body> group(body, cells, metric, exclusions);
  const bool was = move.before_as != TrialMove::none, is = move.after_as != TrialMove::none;
  const auto own = body.own(was ? move.before_as : move.after_as);
  const auto own_after = body.own(is ? move.after_as : move.before_as);
  const std::uint32_t id = move.slot != TrialMove::none ? cells.id[move.slot] : 0;
  Real old_sum = 0, new_sum = 0;
  group.for_each_neighbor(cells.cell_of(move.after), move.slot, [&](std::uint32_t slot) {
    if (!trials.meets(move, id, slot)) return;
    const Position q = cells.position[slot];
    const std::uint32_t place = Body::has_extra ? cells.place[slot] : 0u;
    if (was) old_sum += group.energy(own, metric.vector(move.before, q), q.type(), place);
    if (is) new_sum += group.energy(own_after, metric.vector(move.after, q), q.type(), place);
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

}  // namespace perrin::detail
