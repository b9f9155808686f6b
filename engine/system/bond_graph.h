// Numbers of bonds between particles.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

class BondGraph {
 public:
  /// Ids of bonds must be below `particles`.
  BondGraph(std::size_t particles, const std::vector<Topology::Bond>& bonds);

  std::size_t size() const { return begin_.size() - 1; }
  /// Those bonded to a particle, in order.
  std::span<const std::uint32_t> neighbors(std::uint32_t id) const {
    return {all_.data() + begin_[id], all_.data() + begin_[id + 1]};
  }
  /// Pairs (a < b) whose shortest path along bonds has this many bonds, in order.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_apart(int bonds) const;
  /// Number of the molecule of each particle: what bonds hold together, numbered from 0 by the
  /// lowest id in it.
  std::vector<std::uint32_t> molecules() const;

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> all_;
};

/// Numbers of molecules by bonds, where a topology has bonds and no such numbers.
void complete_molecules(Topology& topology, std::size_t particles);

}  // namespace perrin
