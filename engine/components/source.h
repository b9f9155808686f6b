// A Source makes the initial particles.
#pragma once

#include "engine/system/configuration.h"

namespace perrin {

class Source {
 public:
  virtual ~Source() = default;
  /// Throws UserError with the place in the file that was read, if one was.
  virtual Configuration make() = 0;
};

}  // namespace perrin
