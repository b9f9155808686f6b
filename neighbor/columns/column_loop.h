// The pair loop over neighbouring columns.
#pragma once

#include "neighbor/columns/column_walk.h"
#include "neighbor/groups/group_loop.h"

namespace perrin {

/// Runs the body over all pairs within the range.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, const ColumnSearch& search, const Body& body) {
  const Device& device = search.particles().device();
  if (device.halt().skipping()) return;
  detail::run_groups<ColumnWalk>(device, search.view(), body, search.particles().size() > 256);
}

}  // namespace perrin
