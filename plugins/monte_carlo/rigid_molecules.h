// Molecules that can be put anywhere as they are: rigid bodies, those all of whose distances
// constraints keep, and single particles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/system/group.h"

namespace perrin {
class Setup;
}

namespace perrin::monte_carlo {

struct RigidMolecules {
  std::vector<std::uint32_t> begin{0};      // [molecule], and the end of the last one
  std::vector<std::uint32_t> member;        // ids begin[m] … begin[m + 1] - 1 of it …
  std::vector<std::uint32_t> before;        // … each linked to this one of them (LinkedMolecules)
  std::uint32_t largest = 0, smallest = 0;  // particles of a molecule
  double extent = 0;                        // the longest way from a first particle (length)

  std::uint32_t count() const { return std::uint32_t(begin.size()) - 1; }
  /// Single particles.
  static RigidMolecules single(const std::vector<std::uint32_t>& ids);
  /// Those of a group. Reports at `key` molecules that are not rigid, or belong to it in part.
  static RigidMolecules of(const Group& group, const std::string& key, Setup& setup);

 private:
  void measure();
};

}  // namespace perrin::monte_carlo
