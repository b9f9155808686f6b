#include "neighbor/tiles/direct_tiles.h"

namespace perrin {

DirectTiles::DirectTiles(const TraversalInput& input)
    : bricks_(input, input.settings.interaction_sorting != "none" ? TileBricks::Use::sorted_search
                                                                  : TileBricks::Use::search) {
  if (!fits()) return;
  sort_ = TileSort(input.particles, bricks_.geometry());
  ghosts_ = TileGhosts(input.particles, bricks_.geometry(), false);
}

void DirectTiles::sort(const StepSort& step) {
  if (sorts_apart()) {
    sort_.sort_apart(nullptr, ghosts_, step.may_exchange, step.progress, step.step);
    return ghosts_.require_partners(bricks_.particles(), sort_.cell_start());
  }
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
