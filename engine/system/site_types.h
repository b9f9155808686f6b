// Types of the sites of rigid bodies. Sites have no directions: their frames do not turn with their
// bodies, and nothing takes torques on them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

/// [type] 1 where a particle of it is a site.
inline std::vector<std::uint8_t> site_types(const Configuration& c) {
  std::vector<std::uint8_t> found(c.types.size(), 0);
  for (std::size_t id = 0; id < c.topology.body.size(); ++id)
    if (c.topology.is_site(id)) found[c.type[id]] = 1;
  return found;
}

/// [type] 1 where a particle of it is a site, and none is anything else.
inline std::vector<std::uint8_t> types_of_sites_alone(const Configuration& c) {
  std::vector<std::uint8_t> found = site_types(c);
  for (std::size_t id = 0; id < c.type.size(); ++id)
    if (!c.topology.is_site(id)) found[c.type[id]] = 0;
  return found;
}

inline constexpr const char* sites_move_with_bodies =
    "the type of sites of rigid bodies, which move with their bodies: expected the type of the "
    "bodies' centres, or of free particles";
inline constexpr const char* sites_have_no_axes =
    "the type of sites of rigid bodies, whose directions do not turn with their bodies: expected "
    "the type of the bodies' centres, or of free particles";

}  // namespace perrin
