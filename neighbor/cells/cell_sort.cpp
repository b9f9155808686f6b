#include "neighbor/cells/cell_sort.h"

#include "engine/core/parallel.h"

#ifdef __CUDACC__
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace perrin {
namespace {

struct CountCells {
  CellCounter counter;
  const Position* position;
  PERRIN_HD void operator()(std::int64_t i) const { counter(i, position[i]); }
};

/// CUB's scan does not know that the device may be halted: what it found becomes the starts of cells here.
struct Place {
  const std::uint32_t *scanned, *key, *slot;
  std::uint32_t *start, *order, *count;
  std::int64_t particles, cells;
  PERRIN_HD void operator()(std::int64_t i) const {
    if (i < particles) order[scanned[key[i]] + slot[i]] = std::uint32_t(i);
    if (i <= cells && start != scanned) start[i] = scanned[i];
    if (i < cells) count[i] = 0;  // for the next sort
  }
};

/// The slots came in any order: ranks the few particles of a cell by id, or by x and then id, and
/// moves each to where it belongs.
struct MoveSorted {
  const std::uint32_t *start, *key, *any_order;
  Particles::Arrays from, to;
  std::uint32_t *index, *order;
  bool by_x;

  PERRIN_HD void operator()(std::int64_t k) const {
    const std::uint32_t i = any_order[k], me = from.id[i];
    const std::uint32_t begin = start[key[i]], end = start[key[i] + 1];
    const std::uint32_t x = by_x ? from.position[i].x : 0;
    std::uint32_t at = begin;
    for (std::uint32_t m = begin; m < end; ++m) {
      const std::uint32_t other = any_order[m], its_x = by_x ? from.position[other].x : 0;
      at += its_x < x || (its_x == x && from.id[other] < me) ? 1 : 0;
    }
    to.copy(at, from, i);
    index[me] = at;
    if (order) order[at] = i;
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

CellSort::CellSort(const Device& device, std::int64_t particles, std::int64_t cells)
    : cells_(cells),
      count_(device, cells + 16),        // the scan's last threads read and write eight at once
      start_(device, 2 * (cells + 16)),  // the second half for what is scanned
      key_(device, particles),
      slot_(device, particles),
      any_order_(device, particles),
      order_(device, particles) {
#ifdef __CUDACC__
  std::size_t bytes = 0;
  check_cuda(
      cub::DeviceScan::ExclusiveSum(nullptr, bytes, count_.data(), start_.data(), int(cells + 1)),
      "sizing the scan of cells");
  scratch_ = {device, std::int64_t(bytes)};
#endif
}

void CellSort::count(Particles& particles, const TileGeometry& geometry) {
  for_each(particles.device(), "count cells", particles.size(),
           CountCells{counter(geometry), particles.position.data()});
}

void CellSort::into_spare_arrays(Particles& particles, const TileGeometry& geometry) {
  sort_into_spare_arrays(particles, geometry, particles.has_attached());
  particles.reorder_attached(order_);
}

void CellSort::sort_into_spare_arrays([[maybe_unused]] Particles& particles,
                                      [[maybe_unused]] const TileGeometry& geometry,
                                      [[maybe_unused]] bool with_order) {
#ifdef __CUDACC__
  const Device& device = particles.device();
  const std::int64_t n = particles.size();
  std::uint32_t* scanned = start_.data();
  if (cells_ < scan_cells) {
    launch_early(device, "starts of cells", dim3(1), dim3(scan_threads), 0, scan_kernel,
                 static_cast<const std::uint32_t*>(count_.data()), start_.data(), cells_,
                 static_cast<const std::uint32_t*>(device.halt_word()));
  } else if (!device.skipping()) {
    std::size_t bytes = std::size_t(scratch_.size());
    device.next_may_overlap();
    scanned += cells_ + 16;
    check_cuda(cub::DeviceScan::ExclusiveSum(scratch_.data(), bytes, count_.data(), scanned,
                                             int(cells_ + 1), device.stream()),
               "starts of cells");
  }
  for_each(device, "place in cells", std::max(n, cells_ + 1),
           Place{scanned, key_.data(), slot_.data(), start_.data(), any_order_.data(),
                 count_.data(), n, cells_});
  for_each(device, "sort particles", n,
           MoveSorted{start_.data(), key_.data(), any_order_.data(), particles.arrays(),
                      particles.spare_arrays(), particles.index.data(),
                      with_order ? order_.data() : nullptr, geometry.sorted});
#endif
}

void CellSort::sort(Particles& particles, const TileGeometry& geometry, Position* positions) {
  into_spare_arrays(particles, geometry);
  particles.copy_back(positions);
}

void CellSort::sort_exchanging(Particles& particles, const TileGeometry& geometry) {
  into_spare_arrays(particles, geometry);
  particles.exchange();
}

}  // namespace perrin
