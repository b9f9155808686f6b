// The least distance between the particles of two groups, over all periodic images: exact, on the
// host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/components/setup.h"
#include "pair_grid.h"

namespace perrin {
class Particles;
}

namespace perrin::analysis {

class MinimumDistance {
 public:
  /// `a`, `b`: ids, at least one each, none of them in both.
  MinimumDistance(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, Setup& setup);
  /// Of the present state (length). Copies the positions of the two groups to the host. Looks at
  /// cells of a width that is doubled until a pair is found; where none is within half the
  /// shortest distance between opposite faces of the box, at every pair.
  double measure(const Particles& particles);

 private:
  double within_reach(const PairGrid::View& grid) const;
  double of_all(const Box& box) const;

  Device host_;
  std::int64_t in_a_;           // members of a come first
  Buffer<std::uint32_t> ids_;   // on the particles' device
  Buffer<Position> on_device_;  // of these
  std::vector<Position> positions_;
  Buffer<Position> on_host_;
  double reach_ = 0;  // where the next search begins: it changes the time alone, no result
  double grid_reach_ = -1;
  std::unique_ptr<PairGrid> grid_;
};

}  // namespace perrin::analysis
