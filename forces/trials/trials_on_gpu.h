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

/// Lanes of a warp, 16 or all 32, with the neighbours of a particle.
template <class Body>
struct TrialGroup {
  const Body& body;
  const TrialCells& cells;
  const Metric& metric;
  const ExclusionView& exclusions;
  std::uint32_t lanes, lane;

  __device__ __forceinline__ TrialGroup(const Body& b, const TrialCells& c, const Metric& m,
                                        const ExclusionView& e, std::uint32_t count)
      : body(b), cells(c), metric(m), exclusions(e), lanes(count), lane(threadIdx.x % count) {}

  template <class Own>
  __device__ __forceinline__ Real energy(const Own& own, const Real3& d, std::uint32_t type,
                                         const ExtraOf<Body>& extra, bool real = true) const {
    Real term[Body::sums];
    if constexpr (looks_up<Body>)
      body.pair_with(own, d, type,
                     body.types == 1 ? own.coefficients : entry(body.table, own.row + type), real,
                     term);
    else
      body.pair(own, d, type, extra, real, term);
    return term[3];
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
      for (std::uint32_t slot = begin + lane; slot < end; slot += lanes)
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
  const TrialGroup<Body> group(body, cells, metric, exclusions, trial_lanes);
  const bool was = move.before_as != TrialMove::none, is = move.after_as != TrialMove::none;
  const auto own = body.own(was ? move.before_as : move.after_as);
  const auto turned = own_after(body, trials, k, is ? move.after_as : move.before_as);
  const std::uint32_t id = move.slot != TrialMove::none ? cells.id[move.slot] : 0;
  Real old_sum = 0, new_sum = 0;
  group.for_each_neighbor(cells.cell_of(move.after), move.slot, [&](std::uint32_t slot) {
    if (!trials.meets(move, id, slot)) return;
    const Position q = cells.position[slot];
    const auto extra = extra_of(body, Body::has_extra ? cells.place[slot] : 0u);
    if (was) old_sum += bounded(group.energy(own, metric.vector(move.before, q), q.type(), extra));
    if (is) new_sum += bounded(group.energy(turned, metric.vector(move.after, q), q.type(), extra));
  });
  double change = double(new_sum) - double(old_sum);
  const std::uint32_t half = 0xffffu << (threadIdx.x & 16);
  for (int step = trial_lanes / 2; step > 0; step /= 2)
    change += __shfl_xor_sync(half, change, step);
  if (group.lane == 0) trials.change[k] += change;
}
#endif

}  // namespace perrin::detail
