// Ways to find pairs, for tests that go through all of them.
#pragma once

#include <string>
#include <vector>

#include "engine/device/device.h"
#include "neighbor/settings.h"

namespace perrin {

/// The settings of a way: a traversal, or one with a way to sort interactions, "cells, axes".
inline NeighborSettings settings_of_way(const std::string& way) {
  NeighborSettings settings;
  const auto comma = way.find(", ");
  settings.traversal = way.substr(0, comma);
  if (comma != std::string::npos) settings.interaction_sorting = way.substr(comma + 2);
  return settings;
}

/// All ways of a device.
inline std::vector<const char*> ways_of(const Device& device) {
  if (device.is_cuda())
    return {"tiles", "small", "verlet_list", "cells, axes", "cells, x", "cells, none"};
  return {"clusters", "verlet_list", "cells, axes", "cells, x", "cells, none"};
}

}  // namespace perrin
