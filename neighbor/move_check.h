// Watching how far particles move, for the neighbour list.
#pragma once

#include "engine/base/real.h"
#include "engine/device/condition.h"
#include "engine/system/box.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {

/// What a kernel that moves particles calls for each of them, moved or not (drift() does): raises
/// the condition under which the neighbour list is built again, and says beforehand that this may
/// come in the next step, or counts the particles of each cell.
struct MoveCheck {
  const Position* reference = nullptr;  // where the list was built; nullptr: no list
  Current<Real> limit2{};  // square of how far particles may come; half the skin in a fixed box
  Condition rebuild;
  std::uint32_t* warning = nullptr;  // set where a particle has come further than …
  Real early2 = 0;                   // … the root of this; nullptr: not needed
  // Which step of a recording is running, for the host; nullptr: none of this is needed.
  std::uint32_t* progress = nullptr;
  std::uint32_t step = 0;
  TileCounter cells{};  // without lists, particles are sorted in every step: this begins it

  /// Is there anything to look at but progress?
  bool watches() const { return reference || cells; }
  /// For a kernel that reads early what the call below looks at.
  PERRIN_HD Position reference_of(std::int64_t i) const {
    return reference ? reference[i] : Position{};
  }
  /// In place of the call below for a particle that another kernel moves.
  PERRIN_HD void pass_over(std::int64_t i) const {
    if (progress && i == 0) *progress = step;
  }
  /// `early`: reference_of(i); nullptr: not read yet.
  PERRIN_HD void operator()(std::int64_t i, const Position& p, const Metric& metric,
                            const Position* early = nullptr) const {
    if (!progress) return;
    if (i == 0) *progress = step;
    if (cells) cells(i, p);
    if (!reference) return;
    const Real most = limit2.moves ? *limit2 : limit2.now;
    const Real moved2 = metric.distance2(p, early ? *early : reference[i]);
    if (warning && !(moved2 <= early2)) *warning = 1;
    if (!(moved2 <= most)) rebuild.raise();
  }
};

}  // namespace perrin
