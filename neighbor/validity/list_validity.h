// How long lists hold. They are valid while they must contain every pair within the range; kernels
// that move particles decide that on the device (MoveCheck).
//
//            build                     a particle moves further than the limit
//     None --------> Valid ----------------------------------------------------> Stale
//                      |  ^                                                        |
//                      |  '------------------------- build ------------------------'
//                      |     somebody comes near the limit (ListForecast, several GPUs)
//                      '----> Forecast ---> Stale, or Valid again at the next build
//
//     None, Stale   nothing may be trusted: Neighbors::build() comes before pairs are looked at
//     Valid         every pair within the range is listed, as long as nobody goes beyond the limit
//     Forecast      the same; domains ask one another in the next step before they go on
//
// The flag of rebuilds (Neighbors) is 1 in None and Stale. A build that finds no room halts the
// device: neighbor/halts.h has the reasons, Neighbors::recover() what leads back to a build.
#pragma once

#include "engine/system/archive.h"
#include "engine/system/particles.h"
#include "neighbor/move_check.h"

namespace perrin {

/// Where particles were, and the box, when lists were built; and how far they may go since:
/// move_limit(), half the skin in a box that does not change.
class ListValidity {
 public:
  ListValidity(Particles& particles, double range, double skin);

  /// The limit follows the box. Device work.
  void follow_box(double skin);
  /// Room for a change of the box by which lengths shrink by this share, beyond follow_box().
  void set_reserve(double reserve) { reserve_ = reserve; }
  /// Lists are built in the box as it is now, if steps change it. Device work.
  void begin_build(double skin);
  /// Nobody may move any more: the next check finds the lists stale. Device work.
  void require_build();

  /// The limit's square, for kernels.
  Current<Real> limit2(double skin) const;
  Real* limit2() { return limit2_.data(); }
  const Position* reference() const { return reference_.data(); }
  /// Receives the positions in the order of a build.
  Buffer<Position>& build_positions() { return reference_; }
  Box built_box() const { return built_.to_host(0); }
  void set_built_box(const Box& box) { built_.assign(std::span<const Box>(&box, 1)); }

  /// After the particles. Returns the box of the lists.
  Box state(Archive& archive);

 private:
  Particles& particles_;
  const double range_;
  double reserve_ = 0;
  Buffer<Position> reference_;  // by place in memory
  Buffer<Box> built_;
  Buffer<Real> limit2_;
};

}  // namespace perrin
