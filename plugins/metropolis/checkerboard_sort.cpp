#include "checkerboard_sort.h"

#include "engine/device/parallel.h"

namespace perrin::metropolis {
namespace {

struct FindCells {
  CheckerboardGrid grid;
  const Position* position;
  CellCounter cells;
  PERRIN_HD void operator()(std::int64_t i) const {
    cells(i, std::uint32_t(grid.index(grid.cell(position[i]))));
  }
};

struct MoveSorted {
  CellRank rank;
  const Position* position;
  const std::uint32_t* id;
  Position* sorted;
  std::uint32_t* sorted_id;
  PERRIN_HD void operator()(std::int64_t k) const {
    std::uint32_t i = 0;
    const std::uint32_t to = rank(k, i);
    sorted[to] = position[i];
    sorted_id[to] = id[i];
  }
};

}  // namespace

void CheckerboardSort::sort(const CheckerboardGrid& grid, Buffer<Position>& position,
                            Buffer<std::uint32_t>& id) {
  const std::int64_t n = position.size();
  for_each(device_, "checkerboard cells", n, FindCells{grid, position.data(), cells_.counter()});
  cells_.distribute();
  for_each(device_, "checkerboard order", n,
           MoveSorted{cells_.rank(id.data()), position.data(), id.data(), sorted_.data(),
                      sorted_id_.data()});
  position.swap(sorted_);
  id.swap(sorted_id_);
}

}  // namespace perrin::metropolis
