// A group of particles as a configuration of its own.
#pragma once

#include "engine/system/configuration.h"

namespace perrin {

/// The members in ascending order of their ids, with bonds, angles, dihedrals and impropers of
/// which all particles are members. `id` says who they were.
Configuration part_of(const Configuration& configuration, const Group& group);

/// The same of a topology of `particles` particles.
Topology part_of(const Topology& topology, std::size_t particles, const Group& group);

}  // namespace perrin
