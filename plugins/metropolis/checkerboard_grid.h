// The plan of a sweep: host side.
#pragma once

#include <array>

#include "checkerboard_model.h"

namespace perrin::metropolis {

/// Even numbers of cells, as many as have edges of at least `range`, but not many more than
/// particles. Throws UserError where an edge of
/// the box is shorter than four ranges: then a domain would see an image of itself.
Vec3<std::int32_t> checkerboard_cells(const Vec3<double>& box, double range,
                                      std::int64_t particles);

struct CheckerboardPlan {
  CheckerboardGrid grid;
  std::array<Vec3<std::int32_t>, 8> colors;
};
/// The shift and the order of the colours: those of (key, sweep).
CheckerboardPlan checkerboard_plan(const RunKey& key, std::uint64_t sweep,
                                   Vec3<std::int32_t> cells);

}  // namespace perrin::metropolis
