// Forces of charges: what a job asks of several of them beside each other.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace perrin {

/// What a Force derives from as well whose energies are C q_1 q_2/r, or made of that.
class ActsByCoulomb {
 public:
  virtual ~ActsByCoulomb() = default;
  virtual double coulomb_constant() const = 0;  // C: energy · length
  /// Pairs (ids, the lower first) on which it acts in place of a force between all charges, which
  /// is to leave them out.
  virtual std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place_of() const { return {}; }
};

}  // namespace perrin
