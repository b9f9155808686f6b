// A part of a start: what the entries of "parts" in the system "parts" are made into.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/components/registry.h"
#include "io/parts/region.h"
#include "io/parts/start.h"

namespace perrin {

namespace parts {

class StartPart {
 public:
  virtual ~StartPart() = default;
  /// Those that it has, as far as is known before it is placed.
  virtual std::vector<std::string> types() const = 0;
  /// About how many it places.
  virtual double particles(const Box& box) const = 0;
  /// Reports settings that do not fit the box or the distances.
  virtual void check(const Box& box, const Distances& distances, const Report& error) const = 0;
  /// Puts its particles among those that are there. Random numbers depend on the seed, which is
  /// this part's own, and on the numbers of its molecules alone. Throws UserError where there is no
  /// place.
  virtual void place(Start& start, std::uint64_t seed) const = 0;
};

}  // namespace parts

template <>
inline constexpr const char* component_kind<parts::StartPart> = "part";

}  // namespace perrin
