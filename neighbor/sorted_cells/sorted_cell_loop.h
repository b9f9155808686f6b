// The pair loop over sorted cells. Pairs of two cells are found from one side, and the particles of
// the other note what they are given, axis by axis; when all cells are done, that is added up.
#pragma once

#include "neighbor/groups/group_loop.h"
#include "neighbor/sorted_cells/sorted_cell_walk.h"

namespace perrin {
namespace detail {

template <class Body>
struct StoreSums {
  Body body;
  ColumnView cells;
  OpenSums open;
  PERRIN_INLINE void operator()(std::int64_t place) const {
    const std::uint32_t i = cells.order[place];
    if (!cells.own.meets(i, 1)) return;
    Real sum[Body::sums];
    for (int s = 0; s < Body::sums; ++s) sum[s] = open.row(0, s, Body::sums)[place];
    body.store(i, sum);
  }
};

}  // namespace detail

/// Runs the body over all pairs within the range.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, const SortedCells& search, const Body& body) {
  const Device& device = search.particles().device();
  if (device.halt().skipping()) return;
  const SortedCellView view = search.view();
  const bool many = view.cells.n > 256;
  const detail::OpenSums open{search.room_for_sums(Body::sums), view.cells.n};
  detail::run_groups<SortedCellWalk>(device, view, body, many, open);
  const detail::StoreSums<Body> store{body, view.cells, open};
  for_tasks(
      device, SortedCellWalk::parts(view),
      [&](std::int64_t part, int) {
        const auto places = SortedCellWalk::complete_sums(view, part, open.sums, Body::sums);
        run_range(store, places.begin, places.end);
      },
      many);
}

}  // namespace perrin
