// Who moves when: groups of up to 32 moves, decided one group after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "rng/keyed.h"

namespace perrin::metropolis {

constexpr std::uint32_t group_size = 32;

/// One cycle of molecules chosen at random. A group holds no molecule twice: it ends early where
/// one would come again.
struct RandomSchedule {
  static constexpr std::uint32_t never = 0xffffffffu;
  std::vector<std::uint32_t> molecule;     // of each move
  std::vector<std::uint32_t> group_begin;  // [groups + 1]: first move
  std::vector<std::uint32_t> next_group;   // of each move: the next group with the same molecule
  std::vector<std::uint32_t> last_group;   // the one before; `never`: none
  std::vector<std::uint32_t> first_group;  // of each molecule

  RandomSchedule() = default;
  RandomSchedule(const RunKey& choice, std::int64_t cycle, std::uint32_t molecules);
  std::uint32_t groups() const { return std::uint32_t(group_begin.size()) - 1; }
};

}  // namespace perrin::metropolis
