// The loop over all neighbours of all particles, once for CPU and GPU.
//
// A Body is a small trivially copyable struct that says what happens for one pair:
//
//     struct Body {
//       static constexpr int sums = 4;        // Reals added up per particle
//       static constexpr int odd = 3;         // the first so many change sign when i and j do
//       static constexpr bool has_extra = …;  // a pair needs more of j than position and type
//       struct Own { … };                     // what is loaded once for particle i
//       PERRIN_HD Own own(std::int64_t i) const;
//       PERRIN_HD Real4 extra(std::uint32_t j) const;  // one 16-byte word; {} without has_extra
//       PERRIN_HD void pair(const Own&, Real3 d, std::uint32_t type, const Real4& extra, bool real,
//                           Real (&term)[sums]) const;
//       PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const;
//     };
//
// d is the minimum image vector from j to i; type and extra are those of j. pair() fills all of
// `term`, with zeros where the pair does not count: branches would keep the CPU loop from
// vectorising. `real` is false for lanes beyond the end of the list (d is then zero).
// Each pair is seen from both sides; what i gets from j is added in the order of the list, in a
// fixed pattern of partial sums, so that the result does not depend on the number of threads.
#pragma once

#include "engine/core/parallel.h"
#include "neighbor/clusters/cluster_loop.h"
#include "neighbor/columns/column_loop.h"
#include "neighbor/neighbors.h"
#include "neighbor/rows/row_loop.h"
#include "neighbor/tiles/tile_loop.h"

namespace perrin {
/// Runs the body over all pairs of the neighbour list. `name` appears in errors and profiles.
template <class Body>
void pair_loop(const char* name, Neighbors& neighbors, const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body> && Body::odd <= Body::sums);
  const Particles& particles = neighbors.particles();
  if (particles.size() == 0) return;
#ifdef __CUDACC__
  const Device& device = particles.device();
  if (const TileList* tiles = neighbors.tiles()) {
    if (!neighbors.direct()) return detail::tile_loop(device, name, particles, tiles->view(), body);
    detail::direct_loop(device, name, neighbors.search(), *tiles, body);
    // A search that found no room halts the device; a recorded one is looked after by the host later.
    if (!device.recording() && !device.skipping() && neighbors.recover())
      pair_loop(name, neighbors, body);
    return;
  }
#endif
  if (const ClusterList* clusters = neighbors.clusters())
    return cluster_loop(name, *clusters, particles, body);
  if (neighbors.direct()) return column_loop(name, particles.device(), neighbors.columns(), body);
  row_loop(name, neighbors.rows()->view(), particles, body);
}

}  // namespace perrin
