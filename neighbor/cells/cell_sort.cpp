#include "neighbor/cells/cell_sort.h"

#include <algorithm>

#include "engine/device/parallel.h"

#ifdef __CUDACC__
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace perrin {
namespace {

/// CUB's scan does not know that the device may be halted: what it found becomes the starts of
/// cells here.
struct Place {
  const std::uint32_t *scanned, *key, *slot;
  std::uint32_t *start, *member, *count;
  std::int64_t things, cells;
  PERRIN_HD void operator()(std::int64_t i) const {
    if (i < things) member[scanned[key[i]] + slot[i]] = std::uint32_t(i);
    if (i <= cells && start != scanned) start[i] = scanned[i];
    if (i < cells) count[i] = 0;  // for the next sort
  }
};

#ifdef __CUDACC__
/// start[c] = count[0] + … + count[c-1] for c ≤ cells, by one block: one launch for small systems.
/// `count` and `start` have room for a multiple of scan_at_once.
constexpr int scan_threads = 1024, scan_at_once = 8, scan_cells = 32768;
__global__ void __launch_bounds__(scan_threads)
    scan_kernel(const std::uint32_t* count, std::uint32_t* start, std::int64_t cells,
                const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  using Scan = cub::BlockScan<std::uint32_t, scan_threads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage shared;
  std::uint32_t before = 0;
  for (std::int64_t begin = 0; begin <= cells; begin += scan_at_once * scan_threads) {
    const std::int64_t first = begin + scan_at_once * std::int64_t(threadIdx.x);
    union {
      uint4 four[scan_at_once / 4];
      std::uint32_t one[scan_at_once];
    } own = {};
    if (first <= cells) {
#pragma unroll
      for (int k = 0; k < scan_at_once / 4; ++k)
        own.four[k] = reinterpret_cast<const uint4*>(count + first)[k];
#pragma unroll
      for (int k = 0; k < scan_at_once; ++k)
        if (first + k >= cells) own.one[k] = 0;
    }
    std::uint32_t sum = 0;
    Scan(shared).ExclusiveSum(own.one, own.one, sum);
#pragma unroll
    for (int k = 0; k < scan_at_once; ++k) own.one[k] += before;
    if (first <= cells)
#pragma unroll
      for (int k = 0; k < scan_at_once / 4; ++k)
        reinterpret_cast<uint4*>(start + first)[k] = own.four[k];
    before += sum;
    __syncthreads();
  }
}
#endif

}  // namespace

CellSort::CellSort(const Device& device, std::int64_t things, std::int64_t cells)
    : device_(device),
      things_(things),
      cells_(cells),
      // The scan's last threads read and write eight at once; the second half is for what is
      // scanned.
      start_(device, device.is_cuda() ? 2 * (cells + 16) : cells + 1),
      key_(device, things) {
#ifdef __CUDACC__
  if (!device.is_cuda()) return;
  count_ = {device, cells + 16};
  slot_ = {device, things}, member_ = {device, things};
  std::size_t bytes = 0;
  check_cuda(
      cub::DeviceScan::ExclusiveSum(nullptr, bytes, count_.data(), start_.data(), int(cells + 1)),
      "sizing the scan of cells");
  scratch_ = {device, std::int64_t(bytes)};
#endif
}

void CellSort::resize(const Device& device, std::int64_t things, std::int64_t cells) {
  PERRIN_ASSERT(!device.is_cuda());
  device_ = device, things_ = things, cells_ = cells;
  if (start_.size() <= cells) start_ = {device, cells + 1};
  if (key_.size() < things) key_ = {device, things + things / 8};
}

void CellSort::distribute() {
  if (!device_.is_cuda()) {
    if (member_.size() < things_) member_ = {device_, things_};
    std::uint32_t* member = member_.data();
    return distribute([member](std::uint32_t place, std::int64_t thing, std::uint32_t) {
      member[place] = std::uint32_t(thing);
    });
  }
  scan();
  const Arrays a = arrays();
  for_each(device_, "place in cells", std::max(things_, cells_ + 1),
           Place{a.scanned, a.key, a.slot, a.start, a.member, a.count, things_, cells_});
}

CellSort::Arrays CellSort::arrays() {
  std::uint32_t* scanned = start_.data();
#ifdef __CUDACC__
  if (cells_ >= scan_cells) scanned += cells_ + 16;
#endif
  return {count_.data(), start_.data(), key_.data(), slot_.data(), member_.data(), scanned};
}

void CellSort::scan() {
#ifdef __CUDACC__
  if (cells_ < scan_cells) {
    launch_early(device_, "starts of cells", dim3(1), dim3(scan_threads), 0, scan_kernel,
                 static_cast<const std::uint32_t*>(count_.data()), start_.data(), cells_,
                 static_cast<const std::uint32_t*>(device_.halt().word()));
  } else if (!device_.halt().skipping()) {
    std::size_t bytes = std::size_t(scratch_.size());
    device_.queue().next_may_overlap();
    check_cuda(cub::DeviceScan::ExclusiveSum(scratch_.data(), bytes, count_.data(),
                                             start_.data() + cells_ + 16, int(cells_ + 1),
                                             device_.queue().stream()),
               "starts of cells");
  }
#endif
}

std::int64_t CellSort::bytes() const {
  return count_.bytes() + start_.bytes() + key_.bytes() + slot_.bytes() + member_.bytes() +
         scratch_.bytes() + std::int64_t(next_.capacity() * sizeof next_[0]);
}

}  // namespace perrin
