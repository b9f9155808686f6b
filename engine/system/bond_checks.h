// Bonds in words: which one it is, and which do not fit the box.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

/// A stage that pulls overlapping particles apart and torn bonds together, for messages: JSON.
inline constexpr const char* relax_stage =
    R"({"type": "md", "name": "relax", "steps": 5000, )"
    R"("integrator": {"type": "fire", "force_tolerance": 1}})";

/// `bond 7 (type "backbone") of particles 3 and 4`; without its number and type where there is no
/// such bond in the topology.
std::string bond_text(const Topology& topology, std::uint32_t a, std::uint32_t b);

/// The bonds of a particle and how long they are to the nearest image, longest first, at most
/// three: `bond 7 (type "backbone") of particles 3 and 4, 1.6 long; …`. Empty: it has none.
std::string bonds_of_text(const Configuration& configuration, std::uint32_t id);

/// What should be known of bonds before a run, one sentence each: images that make bonds longer
/// than they are to the nearest image, along which they act.
std::vector<std::string> bond_warnings(const Configuration& configuration);

}  // namespace perrin
