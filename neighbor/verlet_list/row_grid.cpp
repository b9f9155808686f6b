#include "neighbor/verlet_list/row_grid.h"

#include <algorithm>
#include <cmath>

namespace perrin {

RowGrid make_row_grid(const Box& box, double width, double limit) {
  const auto heights = box.padded_heights();
  RowGrid grid{};
  const auto count = [&](int axis) {
    if (axis >= box.dimension) return 1.0;
    const double edge = std::ldexp(heights[axis], -grid.fold[axis]);
    return std::clamp(std::floor(edge / width), 1.0, 1e9);
  };
  while (count(0) * count(1) * count(2) > limit) {
    int most = 0;
    for (int axis = 1; axis < box.dimension; ++axis)
      if (count(axis) > count(most)) most = axis;
    ++grid.fold[most];
  }
  for (int axis = 0; axis < 3; ++axis) {
    grid.cells[axis] = std::int32_t(count(axis));
    grid.edge[axis] = Real(std::ldexp(heights[axis], -grid.fold[axis]) / grid.cells[axis]);
    grid.unit[axis] = Real(heights[axis] / 4294967296.0);
  }
  return grid;
}

}  // namespace perrin
