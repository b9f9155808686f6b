// Forces of listed pairs that a force between all of them is to leave out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace perrin {

/// What a Force derives from as well that acts on some pairs in place of pair forces, or of a force
/// between all charges: pairs that are not among the exclusions act twice.
class ActsInPlaceOf {
 public:
  virtual ~ActsInPlaceOf() = default;
  /// Ids, the lower first.
  virtual std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place_of() const = 0;
};

}  // namespace perrin
