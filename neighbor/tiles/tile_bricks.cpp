#include "neighbor/tiles/tile_bricks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "neighbor/halts.h"
#include "neighbor/tiles/brick_curve.h"
#include "neighbor/tiles/tile_plan.h"
#include "neighbor/tiles/unit_search.h"

namespace perrin {
namespace {

constexpr double rounding = 1 + 1e-4;  // what the grid of coordinates does to lengths

/// Shared memory of a block that searches: the halo's coordinates, where its cells begin, and what
/// its warps need. Multiples of 16 bytes.
std::size_t bytes_of_search(std::uint32_t halo, std::uint32_t list, int halo_cells, int threads,
                            bool general) {
  return (halo + 1) * sizeof(Real4) + std::size_t(halo_cells + 4) / 4 * 16 +
         std::size_t(threads / 32) * detail::UnitScratch::bytes(general, list);
}

int shared_limit([[maybe_unused]] const Device& device) {
  int bytes = 0;
#ifdef __CUDACC__
  int index = 0;
  if (device.is_cuda() && cudaGetDevice(&index) == cudaSuccess)
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
#endif
  return bytes;
}

/// Lengths of cells and coordinates in a box that may have changed.
struct FollowBox {
  const Box* box;
  TileGeometry geometry;
  Vec3<double> least, most;
  TileScale* scale;
  Real* limit2;  // or nullptr
  PERRIN_HD void operator()(std::int64_t) const {
    const auto heights = box->padded_heights();
    const TileGeometry& g = geometry;
    TileScale s{};
    s.holds = true;
    for (int axis = 0; axis < 3; ++axis) {
      const double h = heights[axis];
      s.grid[axis] = g.multiples_of(axis, h);
      s.cell[axis] = Real(h / g.cells[axis]);
      // What is left of it is for the change that this step may still see
      // (BoxMover::most()). Where coordinates are in units of positions they do not become
      // too long.
      s.holds = s.holds && 0.99 * h >= least[axis] && (1.01 * h <= most[axis] || !g.lengths);
    }
    s.per_cell = Real(g.cells.x / heights.x);
    s.per_unit = g.lengths ? Real(1) : Real(4294967296.0 / heights.x);
    *scale = s;
    if (limit2 && !s.holds) *limit2 = Real(-1);
  }
};

struct RequireCut {
  const TileScale* scale;
  std::uint32_t* halt;
  PERRIN_HD void operator()(std::int64_t) const {
    if (!scale->holds) *halt = halted_by_cut;
  }
};

}  // namespace

TileBricks::TileBricks(const TraversalInput& input, Use use)
    : particles_(&input.particles),
      use_(use),
      reach_(input.reaches().longest() * rounding),
      density_(input.crowding.density),
      exclusions_(input.exclusions),
      scale_(input.particles.device(), 1),
      words_(input.particles.device(), 5) {
  const Device& device = particles_->device();
  const Ranges reaches = input.reaches();
  const NeighborSettings& settings = input.settings;
  const bool by_cells = use == Use::axes;
  geometry_ = choose_tile_geometry(
      input.box, reaches.longest(), particles_->size(),
      {density_, input.crowding.occupied, device.multiprocessors(), by_cells ? 1 : settings.cells,
       by_cells ? 1 : settings.brick, input.growth, input.tilts},
      &least_, &most_);
  if (by_cells) require_three_cells(reaches.longest());
  geometry_.scale = scale_.data();
  order_bricks(settings.blocks);
  follow_box(nullptr);
  geometry_.sorted = use == Use::sorted_search;
  const double n = double(particles_->size());
  // Short rows for few particles: the lists of a small system are a matter of latency.
  while (log2_lanes_ < 3 && n * double(1 << log2_lanes_) < device.multiprocessors() * 256.0)
    ++log2_lanes_;
  if (settings.lanes > 0) log2_lanes_ = settings.lanes == 8 ? 3 : 2;
  // Where there are particles.
  const double occupied = input.crowding.occupied;
  const double bricks = std::max(1.0, double(geometry_.brick_count()) * occupied);
  const double cells = double(geometry_.cell_count()) * occupied;
  const double halo = n / cells * geometry_.halo.x * geometry_.halo.y * geometry_.halo.z;
  halos_ = std::min(halo, n) * std::min(bricks, n);
  choose_threads(bricks);
  choose_capacities(by_cells ? n / cells : halo);
  tiles_at_most_ = geometry_.brick_count();
  if (const double part = largest_part(); part < 1)  // of a uniform system, and some more
    tiles_at_most_ =
        std::min(tiles_at_most_, std::int64_t(1.05 * part * double(tiles_at_most_)) + 8);
  if (!reaches.uniform() && use == Use::lists) {
    types_ = std::uint32_t(reaches.types());
    std::vector<Real> squares;
    for (std::size_t k = 0; k < reaches.types() * reaches.types(); ++k) {
      const double reach = reaches(k / types_, k % types_) * rounding;
      squares.push_back(Real(reach * reach));
    }
    reach2_ = {device, std::span<const Real>(squares)};
  }
  choose_sizes();
}

/// Neighbours in both directions along an axis, and not beyond them.
void TileBricks::require_three_cells(double reach) {
  for (int axis = 0; axis < particles_->box().dimension; ++axis) {
    fits_ = fits_ && geometry_.cells[axis] >= 3 && geometry_.reach[axis] == 1;
    least_[axis] = std::max(least_[axis], reach * geometry_.cells[axis] * (1 - 1e-8));
  }
  has_cells_ = fits_;
}

void TileBricks::order_bricks(const std::optional<std::array<int, 3>>& blocks) {
  if (!particles_->device().is_cuda()) return;
  const Vec3<std::int32_t> bricks{geometry_.bricks(0), geometry_.bricks(1), geometry_.bricks(2)};
  const BrickOrder order = blocks ? brick_order(bricks, {(*blocks)[0], (*blocks)[1], (*blocks)[2]})
                                  : brick_order(bricks);
  if (order.row_of_number.empty()) return;
  const auto on_device = [&](const std::vector<std::uint32_t>& numbers) {
    return Buffer<std::uint32_t>(particles_->device(), std::span<const std::uint32_t>(numbers));
  };
  row_of_number_ = on_device(order.row_of_number);
  number_of_row_ = on_device(order.number_of_row);
  geometry_.row_of_number = row_of_number_.data();
  geometry_.number_of_row = number_of_row_.data();
}

/// As many warps as make few rounds of full work; where few bricks share a multiprocessor, all that
/// there may be: they bring the halo together.
void TileBricks::choose_threads(double bricks) {
  const double n = double(particles_->size());
  const double units = 1.05 * n / bricks / unit_particles;
  constexpr double most = threads / 32.0;
  const double rounds = std::ceil(units / most);
  const double warps =
      bricks <= 3.0 * particles_->device().multiprocessors() ? most : std::ceil(units / rounds);
  search_threads_ = int(std::clamp(warps, 2.0, most)) * 32;
  single_threads_ = std::clamp(int((1.15 * n / bricks + 31) / 32) * 32, 64, threads);
  if (use_ != Use::axes) return;
  single_threads_ = std::clamp(int((1.15 * n / bricks + 32) / 32) * 32, 32, threads_of_group);
  const double resident = 1536.0 * particles_->device().multiprocessors();
  groups_ = std::clamp(int(std::ceil(resident / (bricks * single_threads_))), 1, most_groups);
}

/// What a uniform system needs, and some more; whatever is full grows (enlarge()). `halo`: places,
/// or with Use::axes those of a cell.
void TileBricks::choose_capacities(double halo) {
  const double n = double(particles_->size());
  if (use_ == Use::axes)
    halo_capacity_ = std::uint32_t(std::min(1.2 * halo + 4 * std::sqrt(halo) + 4, n) + 3) / 4 * 4;
  else
    halo_capacity_ = std::uint32_t(std::min(1.25 * halo + 64, n) + 31) / 32 * 32;
  const double volume =
      particles_->box().dimension == 2 ? M_PI * reach_ * reach_ : 4.1888 * std::pow(reach_, 3);
  const double entries = std::min(n, density_ * volume);
  list_capacity_ = std::uint32_t(std::min(1.1 * entries + 12, n + 4) + row() - 1) / row() * row();
}

/// In a box that is nearly empty cells are wide, and coordinates in their tiles would be coarse.
bool TileBricks::is_coarse() const {
  const auto heights = particles_->box().padded_heights();
  for (int axis = 0; axis < particles_->box().dimension; ++axis) {
    const double unit =
        geometry_.lengths ? 1.0 / geometry_.grid[axis] : ~geometry_.mask[axis] / 4294967296.0;
    if (heights[axis] * unit > 2e-6 * reach_) return true;
  }
  return false;
}

void TileBricks::choose_sizes() {
  if (use_ == Use::axes) {
    const std::size_t place = 2 * sizeof(Real4) + most_sums * sizeof(Real) + 8;
    const auto fit = [&] {
      return halo_capacity_ * (sizeof(Real4) + std::size_t(groups_) * place) + 1024 <
             std::size_t(shared_limit(particles_->device()));
    };
    while (groups_ > 1 && !fit()) --groups_;
    fits_ = has_cells_ && !is_coarse() && halo_capacity_ < 65536 && fit();
    return;
  }
  const bool lists = use_ == Use::lists;
  const int halo_cells = geometry_.halo.x * geometry_.halo.y * geometry_.halo.z;
  // The pair loop stages an extra word per place, and an index where there are exclusions. A search
  // without lists has lengths, too, or lists by thread; its energies come from the search for any
  // box.
  const std::size_t more = (halo_capacity_ + 4) * (sizeof(Real4) * (lists ? 1 : 2) + 4) + 2048;
  const auto limit = std::size_t(shared_limit(particles_->device()));
  const bool any_box = geometry_.is_general() || sizeof(Real) != 4 || !lists;
  const bool coarse = is_coarse();
  for (;; search_threads_ = search_threads_ / 64 * 32) {  // long lists: fewer warps at a time
    scratch_bytes_ =
        bytes_of_search(halo_capacity_, list_capacity_, halo_cells, search_threads_, any_box);
    fits_ = halo_capacity_ < 65535 && scratch_bytes_ + more < limit && !coarse;
    if (fits_ || search_threads_ <= 32) break;
  }
  if (use_ != Use::sorted_search) return;
  for (;; single_threads_ = single_threads_ / 64 * 32) {
    const bool fit = bytes_of_search(halo_capacity_, 0, halo_cells, 0, false) + more +
                         std::size_t(single_threads_) * list_capacity_ * sizeof(std::uint16_t) <
                     limit;
    fits_ = fits_ && (fit || single_threads_ > 32);
    if (fit || single_threads_ <= 32) break;
  }
}

bool TileBricks::enlarge(std::uint32_t& halos) {
  if (!particles_->device().halt().raised()) return false;
  auto words = words_.to_host();
  const Decomposition& decomposition = decomposition_of(particles_->device());
  for (std::uint32_t& word : words) word = decomposition.largest(word);  // rooms are the same
  if (words[0] == 0) return false;
  if (words[1] > halo_capacity_) halo_capacity_ = (more_than(words[1]) + 31) / 32 * 32;
  if (words[2] > list_capacity_) list_capacity_ = (more_than(words[2]) + row() - 1) / row() * row();
  if (words[4] > tiles_at_most_)
    tiles_at_most_ = std::min<std::int64_t>(more_than(words[4]), geometry_.brick_count());
  halos = words[3];
  choose_sizes();
  words_.zero();
  return true;
}

bool TileBricks::sorts_locally() const {
  const Decomposition& decomposition = decomposition_of(particles_->device());
  return decomposition.several() && particles_->domain().can_sort_locally() &&
         decomposition.has_room_for_cells(geometry_.cell_count(), particles_->size());
}

double TileBricks::largest_part() const {
  const Decomposition& decomposition = decomposition_of(particles_->device());
  const std::int64_t n = particles_->size();
  if (n == 0) return 1;
  std::int64_t most = 0;
  for (int p = 0; p < decomposition.count(); ++p)
    most = std::max(most, decomposition.share(n, p).size());
  return double(most) / double(n);
}

void TileBricks::follow_box(Real* limit2) {
  for_each(
      particles_->device(), "cells of the box", 1,
      FollowBox{particles_->box_state().data(), geometry_, least_, most_, scale_.data(), limit2});
}

void TileBricks::require_cut() const {
  const Device& device = particles_->device();
  for_each(device, "cells serve", 1, RequireCut{scale_.data(), device.halt().word()});
}

Strain TileBricks::strain(const Box& box) const {
  TileGeometry g = geometry_;
  const auto heights = box.padded_heights();
  for (int axis = 0; axis < 3; ++axis) g.grid[axis] = g.multiples_of(axis, heights[axis]);
  return tile_strain(g, box);
}

TileSearch TileBricks::search(const std::uint32_t* cell_start) const {
  return {geometry_,
          particles_->metric(),
          Real(reach_ * reach_),
          types_ > 0 ? reach2_.data() : nullptr,
          types_,
          particles_->position().data(),
          particles_->id().data(),
          cell_start,
          exclusions_,
          geometry_.is_general()};
}

}  // namespace perrin
