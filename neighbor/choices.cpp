#include <fmt/format.h>

#include <algorithm>

#include "engine/settings/settings_schema.h"
#include "neighbor/neighbors.h"

namespace perrin {

std::string what_choices_rest_on(const NeighborSettings& settings, const Ranges& ranges,
                                 std::size_t types, const Device& device) {
  std::string text = record(settings).dump() + (device.is_cuda() ? " cuda" : " cpu");
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = a; b < types; ++b) text += fmt::format(" {}", ranges(a, b));
  return text;
}

void NeighborChoices::state(Archive& a) {
  a("traversal", traversal);
  a("skin", skin);
  a("lanes", lanes);
  a("density", crowding.density);
  a("occupied", crowding.occupied);
  const std::size_t types = crowding.by_type.size();
  a("by_type", crowding.by_type);
  a.require(traversal == "verlet" || traversal == "cells" || traversal == "clusters" ||
                traversal == "rows",
            "traversal", "verlet, cells, clusters or rows");
  a.require(skin >= 0, "skin", "at least 0");
  a.require(lanes >= 0 && lanes <= 32, "lanes", "from 0 to 32");
  a.require(crowding.density > 0, "density", "positive");
  a.require(crowding.occupied > 0 && crowding.occupied < 1.001, "occupied", "from 0 to 1");
  a.require(crowding.by_type.size() == types &&
                std::all_of(crowding.by_type.begin(), crowding.by_type.end(),
                            [](std::int64_t count) { return count >= 0; }),
            "by_type", "a number of particles for every type");
}

}  // namespace perrin
