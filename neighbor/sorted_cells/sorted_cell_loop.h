// The pair loop over sorted cells.
#pragma once

#include "neighbor/groups/group_loop.h"
#include "neighbor/sorted_cells/sorted_cell_walk.h"

namespace perrin {

/// Runs the body over all pairs within the range.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, const SortedCells& search, const Body& body) {
  detail::run_groups<SortedCellWalk>(search.particles().device(), search.view(), body,
                                     search.particles().size() > 256);
}

}  // namespace perrin
