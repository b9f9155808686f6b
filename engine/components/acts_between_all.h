// Forces of which one stands for all that particles with some property do to each other.
#pragma once

#include <string>

namespace perrin {

/// What a Force derives from as well that acts between all particles with charges, say: a second
/// one in the same job adds the same interaction once more.
class ActsBetweenAll {
 public:
  virtual ~ActsBetweenAll() = default;
  /// Between whom, for messages: "charges".
  virtual std::string between() const = 0;
};

}  // namespace perrin
