#include "neighbor/tiles/tile_sort.h"

#include <algorithm>
#include <vector>

#include "engine/device/parallel.h"

namespace perrin {
namespace {

struct CountCells {
  TileCounter counter;
  const Position* position;
  PERRIN_HD void operator()(std::int64_t i) const { counter(i, position[i]); }
};

/// Moves every particle to where it belongs.
struct MoveSorted {
  CellRank rank;
  MemoryOrder::Arrays from, to;
  std::uint32_t *index, *order;  // order: or nullptr

  PERRIN_HD void operator()(std::int64_t k) const {
    std::uint32_t i = 0;
    const std::uint32_t at = rank(k, i);
    to.copy(at, from, i);
    index[from.id[i]] = at;
    if (order) order[at] = i;
  }
};

}  // namespace

TileSort::TileSort(Particles& particles, const TileGeometry& geometry)
    : particles_(&particles),
      geometry_(geometry),
      cells_(particles.device(), particles.size(), geometry.cell_count()),
      order_(particles.device(), particles.size()) {
  const Decomposition& decomposition = decomposition_of(particles.device());
  if (!decomposition.several()) return;
  // Before anything is sorted: cells are distributed regardless of their particles.
  std::vector<std::uint32_t> shares(Decomposition::most + 5);
  for (int p = 0; p <= decomposition.count(); ++p)
    shares[std::size_t(p)] = std::uint32_t(geometry.cell_count() * p / decomposition.count());
  shares_ = {particles.device(), std::span<const std::uint32_t>(shares)};
  going_ = {particles.device(), 1 + 2 * Decomposition::most};
  arrivals_ = {particles.device(), 1};
  std::int64_t room = 0;  // lists of migrants
  for (int p = 0; p < decomposition.count(); ++p)
    room = std::max(room, decomposition.share(particles.size(), p).size());
  if (room * decomposition.count() > order_.size())
    order_ = {particles.device(), room * decomposition.count()};
}

void TileSort::count() {
  for_each(particles_->device(), "count cells", particles_->size(),
           CountCells{counter(), particles_->position().data()});
}

void TileSort::into_spare_arrays() {
  const bool order = particles_->extra().any(IndexedBy::memory) ||
                     decomposition_of(particles_->device()).several();
  cells_.distribute();
  const MemoryOrder::Arrays from = particles_->memory_order().arrays();
  for_each(particles_->device(), "sort particles", particles_->size(),
           MoveSorted{cells_.rank(from.id, geometry_.sorted ? from.position : nullptr), from,
                      particles_->memory_order().spare_arrays(), particles_->index().data(),
                      order ? order_.data() : nullptr});
  particles_->extra().reorder(order_.data(), particles_->memory_order().spare_arrays().id);
}

void TileSort::sort(Position* positions) {
  into_spare_arrays();
  particles_->memory_order().copy_back(positions, {0, particles_->size()});
}

void TileSort::sort_exchanging() {
  into_spare_arrays();
  particles_->memory_order().swap_buffers();
}

}  // namespace perrin
