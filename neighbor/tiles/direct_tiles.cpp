#include "neighbor/tiles/direct_tiles.h"

namespace perrin {

DirectTiles::DirectTiles(const TraversalInput& input)
    : bricks_(input, input.settings.interaction_sorting ? TileBricks::Use::sorted_search
                                                        : TileBricks::Use::search) {
  if (!fits()) return;
  const Device& device = input.particles.device();
  sort_ = TileSort(input.particles, bricks_.geometry());
  ghosts_ = TileGhosts(device, input.particles.size(), bricks_.geometry(), false);
}

void DirectTiles::sort(const StepSort& step) {
  if (sorts_apart())
    return sort_.sort_apart(nullptr, ghosts_, step.may_exchange, step.progress, step.step);
  const bool together = bricks_.particles().device().team();
  if (together) sort_.count();  // those of other processes, too
  if (step.may_exchange)
    sort_.sort_exchanging();
  else
    sort_.sort(nullptr);
  if (together) sort_.find_shares(ghosts_);
}

bool DirectTiles::enlarge() {
  std::uint32_t halos = 0;
  return bricks_.enlarge(halos);
}

}  // namespace perrin
