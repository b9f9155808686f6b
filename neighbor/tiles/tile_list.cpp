#include "neighbor/tiles/tile_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/domain/decomposition.h"
#include "neighbor/per_particle.h"
#ifdef __CUDACC__
#include "neighbor/tiles/tile_build.cuh"
#endif

namespace perrin {
TileList::TileList(const TraversalInput& input)
    : particles_(&input.particles), bricks_(input, TileBricks::Use::lists) {
  const Device& device = particles_->device();
  const TileGeometry& g = bricks_.geometry();
  const double part = bricks_.largest_part();
  tiles_ = {device, g.brick_count()};
  halo_ = {device, std::int64_t(1.2 * bricks_.halos() * part) + 1024};
  used_ = {device, 4};
  if (!bricks_.fits()) return;
  sort_ = TileSort(*particles_, g);
  count_ = {device, particles_->size()};
  ghosts_ = TileGhosts(*particles_, g, true);
  make_room();
}

void TileList::make_room() {
  const Device& device = particles_->device();
  rows_ = Buffer<std::uint32_t>();
  rows_ = {device, units()};
  chunks_ = Buffer<TileChunk>();
  chunks_ = {device, (units() * unit_rows() + 1) * 32};  // one row is read ahead
}

/// There is room for those of this domain's tiles, which may begin and end with particles of
/// others.
std::int64_t TileList::units() const {
  const std::int64_t more =
      decomposition_of(particles_->device()).several() ? 2 * std::int64_t(bricks_.room().halo) : 0;
  const std::int64_t particles = std::min(particles_->share().size() + more, particles_->size());
  return particles / (32 >> bricks_.log2_lanes()) + bricks_.tiles_at_most() + 2;
}

/// No unit of this domain's tiles is before these.
std::int64_t TileList::units_before() const {
  const std::int64_t more =
      decomposition_of(particles_->device()).several() ? std::int64_t(bricks_.room().halo) : 0;
  return std::max<std::int64_t>(particles_->share().begin - more, 0) / (32 >> bricks_.log2_lanes());
}

TileView TileList::view() const {
  return {bricks_.geometry(),  tiles_.data(),     halo_.data(),           rows_.data(),
          chunks_.data(),      unit_rows(),       bricks_.room().halo,    bricks_.log2_lanes(),
          particles_->share(), sort_.own_tiles(), bricks_.tiles_at_most()};
}

void TileList::build([[maybe_unused]] const ListBuild& build) {
#ifdef __CUDACC__
  const Device& device = particles_->device();
  const TileGeometry& g = bricks_.geometry();
  if (bricks_.sorts_locally()) {
    sort_.sort_locally(build.reference, ghosts_);
  } else {
    sort_.count();
    sort_.sort(build.reference);
    particles_->domain().migrate(sort_.order());
    if (decomposition_of(device).several()) {
      sort_.find_shares(ghosts_);
      ghosts_.find(sort_.cell_start(), particles_->size());
    }
  }
  ghosts_.require_partners(*particles_, sort_.cell_start());
  const detail::TileBuild b{bricks_.search(sort_.cell_start()),
                            tiles_.data(),
                            halo_.data(),
                            rows_.data(),
                            chunks_.data(),
                            count_.data(),
                            used_.data(),
                            device.halt().word(),
                            build.flag,
                            build.builds,
                            bricks_.room(),
                            std::uint32_t(halo_.size()),
                            unit_rows(),
                            bricks_.log2_lanes(),
                            std::uint32_t(units_before()),
                            particles_->share(),
                            sort_.own_tiles(),
                            std::uint32_t(bricks_.tiles_at_most())};
  const std::size_t shared = bricks_.scratch_bytes();
  if (sizeof(Real) == 4 && !g.is_general())
    detail::start_build<false>(device, b, shared, bricks_.search_threads());
  else
    detail::start_build<true>(device, b, shared, bricks_.search_threads());
#endif
}

bool TileList::enlarge() {
  std::uint32_t halos = 0;
  if (!bricks_.enlarge(halos)) return false;
  if (fits()) make_room();
  if (halos > halo_.size()) {
    halo_ = Buffer<std::uint32_t>();
    halo_ = {particles_->device(), TileBricks::more_than(halos)};
  }
  return true;
}

double TileList::mean_entries() const { return perrin::mean_entries(*particles_, count_); }

std::int64_t TileList::bytes() const {
  return tiles_.bytes() + halo_.bytes() + rows_.bytes() + chunks_.bytes();
}

std::string TileList::report() const {
  return fmt::format(", {} lanes", 1 << bricks_.log2_lanes());
}

}  // namespace perrin
