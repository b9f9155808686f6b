#include "neighbor/tiles/direct_tiles.h"

#include <algorithm>

#include "engine/domain/decomposition.h"
#include "engine/system/configuration.h"

namespace perrin {

namespace {

TileBricks::Use use_for(const std::string& interaction_sorting) {
  if (interaction_sorting == "axes") return TileBricks::Use::axes;
  return interaction_sorting == "none" ? TileBricks::Use::search : TileBricks::Use::sorted_search;
}

}  // namespace

DirectTiles::DirectTiles(const TraversalInput& input)
    : bricks_(input, use_for(input.settings.interaction_sorting)),
      counts_(std::ranges::any_of(input.particles.properties().types, is_absent)) {
  if (!fits()) return;
  if (bricks_.use() == TileBricks::Use::axes)
    orders_ = AxisOrders(input.particles, bricks_.geometry());
  sort_ = TileSort(input.particles, bricks_.geometry());
  ghosts_ = TileGhosts(input.particles, bricks_.geometry(), false);
}

void DirectTiles::sort(const StepSort& step) {
  if (sorts_locally()) {
    sort_.sort_locally(nullptr, ghosts_, step.may_exchange, step.progress, step.step);
    ghosts_.require_partners(bricks_.particles(), sort_.cell_start());
    return make_orders();
  }
  const bool together = decomposition_of(bricks_.particles().device()).several();
  if (together || counts_) sort_.count();  // those of other domains, too
  if (step.may_exchange)
    sort_.sort_exchanging();
  else
    sort_.sort(nullptr);
  if (together) sort_.find_shares(ghosts_);
  make_orders();
}

void DirectTiles::make_orders() {
  if (orders_.view().axes > 0) orders_.make(search(), particles());
}

/// Orders in the new box: of the particles that are sorted already, or nobody's.
void DirectTiles::follow_box(Real*) {
  bricks_.follow_box(nullptr);
  make_orders();
}

std::string DirectTiles::report() const {
  if (bricks_.use() == TileBricks::Use::axes) return " sorted along axes";
  return bricks_.geometry().sorted ? "" : " unsorted";
}

bool DirectTiles::enlarge() {
  std::uint32_t halos = 0;
  return bricks_.enlarge(halos);
}

}  // namespace perrin
