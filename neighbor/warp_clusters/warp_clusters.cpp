#include "neighbor/warp_clusters/warp_clusters.h"

#include <algorithm>
#include <cmath>

#include "engine/core/parallel.h"
#include "neighbor/cells/cell_sort.h"
#include "neighbor/warp_clusters/warp_cluster_build.cuh"

namespace perrin {
namespace {

using detail::BuildClusters;
using detail::OrderClusters;

#ifdef __CUDACC__

__global__ void __launch_bounds__(32 * OrderClusters::warps)
    order_clusters_kernel(const OrderClusters order, std::uint32_t bricks,
                          const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  __shared__ OrderClusters::Scratch scratch[OrderClusters::warps];
  const std::uint32_t warp = threadIdx.x / 32, brick = blockIdx.x * OrderClusters::warps + warp;
  if (brick < bricks) order(brick, scratch[warp]);
}

template <bool General>
__global__ void __launch_bounds__(256, sizeof(Real) > 4 ? 2 : 4)
    build_clusters_kernel(const BuildClusters build) {
  if (begin_kernel(build.halt)) return;
  extern __shared__ __align__(32) unsigned char memory[];
  build.operator()<General>(memory);
}

template <bool General>
void start_build(const Device& device, const BuildClusters& build) {
  check_cuda(cudaFuncSetAttribute(build_clusters_kernel<General>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, int(build.bytes())),
             "shared memory of a tile");
  launch_early(device, "build clusters", dim3(build.blocks), dim3(32 * build.warps), build.bytes(),
               build_clusters_kernel<General>, build);
}
#endif

int shared_limit([[maybe_unused]] const Device& device) {
  int bytes = 227 * 1024;  // of emulated blocks, in tests
#ifdef __CUDACC__
  int index = 0;
  if (device.is_cuda() && cudaGetDevice(&index) == cudaSuccess)
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
#endif
  return bytes;
}

/// Particles within `reach` of a box with these edges, at one particle per volume of 1.
double around_box(Vec3<double> e, double reach, int dimension) {
  if (dimension == 2) return e.x * e.y + 2 * reach * (e.x + e.y) + M_PI * reach * reach;
  return e.x * e.y * e.z + 2 * reach * (e.x * e.y + e.y * e.z + e.z * e.x) +
         M_PI * reach * reach * (e.x + e.y + e.z) + 4 * M_PI / 3 * std::pow(reach, 3);
}

struct CountTests {
  const WarpTile* tiles;
  const WarpRow* rows;
  const std::uint32_t* count;
  PERRIN_HD double operator()(std::int64_t t) const {
    if (t >= std::int64_t(*count)) return 0;
    double entries = 0;
    for (std::uint32_t c = 0; c * warp_cluster < tiles[t].count; ++c)
      entries += double(rows[tiles[t].row + c].entries);
    return entries * warp_cluster;
  }
};

}  // namespace

WarpClusters::WarpClusters(const Particles& particles, double reach, int cells)
    : particles_(particles), reach_(reach * (1 + 1e-4)) {  // the grid of coordinates rounds
  const Device& device = particles_.device();
  const Box& box = particles_.box;
  const double n = double(particles_.size());
  geometry_ = choose_tile_geometry(box, reach_, particles_.size(),
                                   {double(particles_.size()) / padded_volume(box), 1,
                                    device.multiprocessors(), cells, 0, true});
  geometry_.sorted = false;
  const double bricks = double(geometry_.brick_count());
  const auto heights = box.padded_heights();
  Vec3<double> brick;
  double visited = 1, reached = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int32_t size = 1 << geometry_.log2_brick[axis], all = geometry_.bricks(axis);
    const std::int32_t wanted = 2 * ((geometry_.reach[axis] + size - 1) / size) + 1;
    around_[axis] = std::min(wanted, all);
    brick[axis] = heights[axis] / all;
    visited *= around_[axis];
    reached *= std::min(1.0, (brick[axis] + 2 * reach_) / heights[axis]);
  }
  const double mean = n / bricks;
  own_room_ = std::uint32_t(std::clamp(1.15 * mean + 16, 32.0, double(warp_piece)) + 31) / 32 * 32;
  while (warps_ > 2 && mean < 2.5 * double(warps_)) warps_ /= 2;
  const double more = n / own_room_;
  blocks_ =
      std::uint32_t(bricks + std::min(more, std::max(2.0 * device.multiprocessors(), bricks / 16)));
  // What a uniform system needs, and some more; whatever is full grows (enlarge()).
  const double density = n / (heights.x * heights.y * (box.dimension == 2 ? 1 : heights.z));
  const double places = std::min(
      n, !geometry_.lengths ? n * reached : density * around_box(brick, reach_, box.dimension));
  places_ = std::uint32_t(std::min(1.1 * places + 64, n)) + own_room_;
  const double edge = 0.8 * std::pow(warp_cluster / density, 1.0 / box.dimension);
  const double entries =
      std::min(n, density * around_box({edge, edge, edge}, reach_, box.dimension));
  entries_of_row_ = std::uint32_t(std::min(1.1 * entries + 16, n) + 31) / 32 * 32;
  chunks_ = std::uint32_t(std::min(visited + n / 32 + 1, 1.2 * visited * (mean / 32 + 1) + 8));
  used_ = {device, 4};
  words_ = {device, 5};
  choose_sizes();
  if (!fits_) return;
  tiles_ = {device, std::int64_t(bricks + more) + 1};
  halo_ = {device, std::int64_t(1.2 * places * std::min(bricks, n)) + 1024};
  order_ = {device, particles_.size()};
}

std::uint32_t WarpClusters::row_count() const {
  return std::uint32_t(particles_.size() / warp_cluster + geometry_.brick_count() + 1);
}

void WarpClusters::choose_sizes() {
  BuildClusters build{};
  build.around = around_;
  build.room = {places_, entries_of_row_, chunks_, nullptr};
  build.warps = warps_;
  // The pair loop: coordinates, extra words, 64 sums per particle of the tile (WarpClusterView::warps_for()).
  const std::size_t needed =
      std::max(build.bytes(), places_ * 2 * sizeof(Real4) + 64 * own_room_ * sizeof(Real));
  fits_ = places_ < 65536 && needed + 1024 < std::size_t(shared_limit(particles_.device()));
  if (!fits_) return;
  const Device& device = particles_.device();
  rows_ = Buffer<WarpRow>();
  rows_ = {device, std::int64_t(row_count())};
  entries_ = Buffer<std::uint32_t>();
  entries_ = {device, std::int64_t(row_count()) * entries_of_row_ + 32};  // some are read ahead
}

WarpClusterView WarpClusters::view() const {
  return {geometry_,    tiles_.data(),   used_.data() + 3, halo_.data(),
          rows_.data(), entries_.data(), entries_of_row_,  places_,
          own_room_,    warps_,          blocks_};
}

OrderClusters WarpClusters::ordering(Particles& particles, const std::uint32_t* cell_start,
                                     const std::uint32_t* order_before, Position* reference) {
  Real3 brick_edge;
  const auto heights = particles.box.padded_heights();
  for (int axis = 0; axis < 3; ++axis)
    brick_edge[axis] = Real(heights[axis] / geometry_.bricks(axis));
  return {geometry_,
          brick_edge,
          cell_start,
          particles.spare_arrays(),
          particles.arrays(),
          reference,
          particles.index.data(),
          order_before,
          particles.has_attached() ? order_.data() : nullptr,
          tiles_.data(),
          used_.data() + 2,
          own_room_};
}

BuildClusters WarpClusters::building(const std::uint32_t* cell_start,
                                     const std::uint32_t* exclusion_begin,
                                     const std::uint32_t* excluded,
                                     const TileList::WhenBuilt& when_built) {
  Real3 edge;
  const auto heights = particles_.box.padded_heights();
  for (int axis = 0; axis < 3; ++axis)
    edge[axis] =
        geometry_.inverse_period[axis] != Real(0) ? Real(0) : Real(heights[axis] / 4294967296.0);
  return {geometry_,
          particles_.box.metric(),
          edge,
          Real(reach_),
          around_,
          particles_.position.data(),
          particles_.id.data(),
          cell_start,
          exclusion_begin,
          excluded,
          tiles_.data(),
          halo_.data(),
          rows_.data(),
          entries_.data(),
          used_.data(),
          particles_.device().halt_word(),
          when_built,
          {places_, entries_of_row_, chunks_, words_.data()},
          std::uint32_t(halo_.size()),
          warps_,
          blocks_};
}

void WarpClusters::build([[maybe_unused]] Particles& particles, [[maybe_unused]] CellSort& sort,
                         [[maybe_unused]] const std::uint32_t* exclusion_begin,
                         [[maybe_unused]] const std::uint32_t* excluded,
                         [[maybe_unused]] Position* reference,
                         [[maybe_unused]] const TileList::WhenBuilt& when_built) {
#ifdef __CUDACC__
  const Device& device = particles.device();
  const auto bricks = std::uint32_t(geometry_.brick_count());
  sort.count(particles, geometry_);
  sort.sort_into_spare_arrays(particles, geometry_, particles.has_attached());
  launch_early(device, "order clusters",
               dim3((bricks + OrderClusters::warps - 1) / OrderClusters::warps),
               dim3(32 * OrderClusters::warps), 0, order_clusters_kernel,
               ordering(particles, sort.cell_start(), sort.order(), reference), bricks,
               static_cast<const std::uint32_t*>(device.halt_word()));
  if (particles.has_attached()) particles.reorder_attached(order_);
  const BuildClusters work = building(sort.cell_start(), exclusion_begin, excluded, when_built);
  geometry_.lengths ? start_build<false>(device, work) : start_build<true>(device, work);
#endif
}

bool WarpClusters::enlarge() {
  const auto words = words_.to_host();
  if (words[0] == 0) return false;
  const auto more = [](std::uint32_t wanted) { return std::uint32_t(double(wanted) * 1.2) + 16; };
  if (words[1] > places_) places_ = more(words[1]);
  if (words[2] > entries_of_row_) entries_of_row_ = (more(words[2]) + 31) / 32 * 32;
  if (words[3] > chunks_) chunks_ = more(words[3]);
  choose_sizes();
  words_.zero();
  if (words[4] > halo_.size()) {
    halo_ = Buffer<std::uint32_t>();
    halo_ = {particles_.device(), std::int64_t(more(words[4]))};
  }
  return true;
}

double WarpClusters::mean_tests() const {
  return sum<double>(particles_.device(), "count entries", tiles_.size(),
                     CountTests{tiles_.data(), rows_.data(), used_.data() + 3}) /
         double(std::max<std::int64_t>(particles_.size(), 1));
}

}  // namespace perrin
