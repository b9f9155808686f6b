#include "neighbor/tiles/direct_tiles.h"

namespace perrin {

DirectTiles::DirectTiles(const TraversalInput& input)
    : bricks_(input, input.settings.interaction_sorting ? TileBricks::Use::sorted_search
                                                        : TileBricks::Use::search) {
  if (fits()) sort_ = TileSort(input.particles, bricks_.geometry());
}

void DirectTiles::sort(const StepSort& step) {
  if (bricks_.particles().device().team()) sort_.count();  // those of other processes, too
  if (step.may_exchange)
    sort_.sort_exchanging();
  else
    sort_.sort(nullptr);
}

bool DirectTiles::enlarge() {
  std::uint32_t halos = 0;
  return bricks_.enlarge(halos);
}

}  // namespace perrin
