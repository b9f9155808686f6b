#include <fmt/format.h>

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
  a("by_type", crowding.by_type);
}

}  // namespace perrin
