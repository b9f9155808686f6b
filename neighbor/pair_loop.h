// The loop over all neighbours of all particles, once for CPU and GPU.
//
// A Body is a small trivially copyable struct that says what happens for one pair:
//
//     struct Body {
//       static constexpr int sums = 4;        // Reals added up per particle
//       static constexpr int odd = 3;         // of these, the first so many change sign when i and
//                                             // j are exchanged
//       static constexpr bool has_extra = …;  // a pair needs more of j than position and type
//       struct Own { … };                     // what is loaded once for particle i
//       PERRIN_HD Own own(std::int64_t i) const;
//       PERRIN_HD Extra extra(std::uint32_t j) const;  // one, two or four Reals
//       PERRIN_HD void pair(const Own&, Real3 d, std::uint32_t type, const Extra& extra, bool real,
//                           Real (&term)[sums]) const;
//       PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const;
//     };
//
// d is the minimum image vector from j to i; type and extra are those of j. pair() fills all of
// `term`, with zeros where the pair does not count: branches would keep the CPU loop from
// vectorising. `real` is false for lanes beyond the end of the list (d is then zero). Pairs are
// seen from both sides, or, by `clusters`, from one: then the other particle gets the same terms
// with the first `odd` reversed. A body with `one_type` true does not look at
// `type`: a GPU may leave it out. A body with `looks_up` true has a table [type_i · types + type_j]
// of Coefficients, its members `table` and `types`, and pair_with(own, d, type, coefficients, real,
// term), with has_extra pair_with(own, d, type, coefficients, extra, real, term), which `clusters`
// calls instead of pair(): it lays coefficients out for whole vectors. What a particle gets is
// added in an order fixed by list and traversal, so that the result does not depend on the number
// of threads.
#pragma once

#include "neighbor/clusters/cluster_loop.h"
#include "neighbor/columns/column_loop.h"
#include "neighbor/neighbors.h"
#include "neighbor/small/small_list_loop.h"
#include "neighbor/sorted_cells/sorted_cell_loop.h"
#include "neighbor/tiles/direct_loop.h"
#include "neighbor/tiles/tile_loop.h"
#include "neighbor/verlet_list/verlet_list_loop.h"

namespace perrin {

/// Runs the body over all pairs. `name` appears in errors and profiles.
template <class Body>
void pair_loop(const char* name, Neighbors& neighbors, const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body> && Body::odd <= Body::sums);
  if (neighbors.particles().size() == 0) return;
  do {
    neighbors.visit([&](const auto& traversal) { run_pairs(name, traversal, body); });
  } while (neighbors.must_search_again());
}

}  // namespace perrin
