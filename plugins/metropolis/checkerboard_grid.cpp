#include "checkerboard_grid.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "engine/base/error.h"

namespace perrin::metropolis {

Vec3<std::int32_t> checkerboard_cells(const Vec3<double>& box, double range,
                                      std::int64_t particles) {
  Vec3<std::int32_t> cells;
  for (int a = 0; a < 3; ++a) {
    const double fit = box[a] / (2 * range);
    if (!(fit >= 2))
      throw UserError(fmt::format(
          "engine \"checkerboard\" needs box edges of at least 4 cut-offs ({:g}); edge {} is {:g}",
          4 * range, "xyz"[a], box[a]));
    cells[a] = 2 * std::int32_t(std::min(fit, 512.0));
    // A cell may be a unit narrower than the average; it must not be narrower than the range.
    const double narrowest = (0x1p32 / cells[a] - 1) * box[a] * 0x1p-32;
    if (narrowest < range && cells[a] > 4) cells[a] -= 2;
  }
  // A thin gas: larger domains, still with a few particles each.
  for (int a = 0; std::int64_t(cells.x) * cells.y * cells.z > particles; a = (a + 1) % 3) {
    if (cells.x == 4 && cells.y == 4 && cells.z == 4) break;
    if (cells[a] > 4) cells[a] -= 2;
  }
  return cells;
}

CheckerboardPlan checkerboard_plan(const RunKey& key, std::uint64_t sweep,
                                   Vec3<std::int32_t> cells) {
  auto random = keyed<Philox>(key, sweep, 0);
  CheckerboardPlan plan;
  plan.grid.cells = cells;
  for (int a = 0; a < 3; ++a) plan.grid.shift[a] = random.next();
  for (int k = 0; k < 8; ++k) plan.colors[std::size_t(k)] = {k & 1, (k >> 1) & 1, k >> 2};
  for (std::uint32_t k = 8; k > 1; --k) std::swap(plan.colors[k - 1], plan.colors[random.below(k)]);
  return plan;
}

}  // namespace perrin::metropolis
