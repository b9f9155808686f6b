#include "plugins/metropolis/checkerboard_sort.h"

#include "engine/core/parallel.h"

#ifdef __CUDACC__
#include <cub/device/device_scan.cuh>
#endif

namespace perrin::metropolis {
namespace {

struct FindCells {
  CheckerboardGrid grid;
  const Position* position;
  std::uint32_t *cell, *slot, *count;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t c = std::uint32_t(grid.index(grid.cell(position[i])));
    cell[i] = c;
#ifdef __CUDA_ARCH__
    slot[i] = atomicAdd(&count[c], 1u);  // any order: Rank mends it
#endif
  }
};

struct Scatter {
  const std::uint32_t *cell, *slot, *start, *id;
  SortEntry* entry;
  PERRIN_HD void operator()(std::int64_t i) const {
    entry[start[cell[i]] + slot[i]] = {id[i], std::uint32_t(i)};
  }
};

/// Every particle goes to its place among those of its cell.
struct Rank {
  const SortEntry* entry;
  const std::uint32_t *cell, *start;
  const Position* position;
  Position* sorted;
  std::uint32_t* sorted_id;
  PERRIN_HD void operator()(std::int64_t k) const {
    const SortEntry own = entry[k];
    const std::uint32_t c = cell[own.from];
    const std::uint32_t begin = start[c], end = start[c + 1];
    std::uint32_t to = begin;
    for (std::uint32_t other = begin; other < end; ++other) to += entry[other].id < own.id ? 1 : 0;
    sorted[to] = position[own.from];
    sorted_id[to] = own.id;
  }
};

}  // namespace

CheckerboardSort::CheckerboardSort(const Device& device, std::int64_t particles,
                                   Vec3<std::int32_t> cells)
    : device_(device),
      cells_(std::int64_t(cells.x) * cells.y * cells.z),
      sorted_(device, particles),
      sorted_id_(device, particles),
      cell_(device, particles),
      slot_(device, device.is_cuda() ? particles : 0),
      count_(device, cells_ + 1),
      start_(device, cells_ + 1),
      entry_(device, particles) {
#ifdef __CUDACC__
  if (device.is_cuda()) {
    std::size_t bytes = 0;
    check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, count_.data(), start_.data(),
                                             int(cells_ + 1), device.stream()),
               "checkerboard: size of the scan");
    scratch_ = Buffer<char>(device, std::int64_t(bytes));
  }
#endif
}

void CheckerboardSort::sort_cpu(const CheckerboardGrid& grid, const Buffer<Position>& position,
                                const Buffer<std::uint32_t>& id) {
  const std::int64_t n = position.size();
  for_each(device_, "checkerboard cells", n,
           FindCells{grid, position.data(), cell_.data(), nullptr, nullptr});
  std::uint32_t *start = start_.data(), *fill = count_.data();
  start_.zero();
  for (std::int64_t i = 0; i < n; ++i) ++start[cell_.data()[i] + 1];
  for (std::int64_t c = 0; c < cells_; ++c) start[c + 1] += start[c], fill[c] = start[c];
  for (std::int64_t i = 0; i < n; ++i)
    entry_.data()[fill[cell_.data()[i]]++] = {id.data()[i], std::uint32_t(i)};
}

void CheckerboardSort::sort(const CheckerboardGrid& grid, Buffer<Position>& position,
                            Buffer<std::uint32_t>& id) {
  const std::int64_t n = position.size();
  if (!device_.is_cuda()) sort_cpu(grid, position, id);
#ifdef __CUDACC__
  if (device_.is_cuda()) {
    count_.zero();
    for_each(device_, "checkerboard cells", n,
             FindCells{grid, position.data(), cell_.data(), slot_.data(), count_.data()});
    std::size_t bytes = std::size_t(scratch_.bytes());
    check_cuda(cub::DeviceScan::ExclusiveSum(scratch_.data(), bytes, count_.data(), start_.data(),
                                             int(cells_ + 1), device_.stream()),
               "checkerboard: scan");
    for_each(device_, "checkerboard scatter", n,
             Scatter{cell_.data(), slot_.data(), start_.data(), id.data(), entry_.data()});
  }
#endif
  for_each(device_, "checkerboard rank", n,
           Rank{entry_.data(), cell_.data(), start_.data(), position.data(), sorted_.data(),
                sorted_id_.data()});
  position.swap(sorted_);
  id.swap(sorted_id_);
}

}  // namespace perrin::metropolis
