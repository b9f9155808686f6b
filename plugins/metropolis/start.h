// Where the molecules are at first.
#pragma once

#include "model.h"

namespace perrin::metropolis {

/// On a simple cubic lattice, kinds and orientations at random; hard cores do not overlap. Throws
/// UserError where they must.
Placement lattice_start(const Model& model, std::uint64_t seed);
/// Anywhere; no sites of different molecules nearer than 0.8 sigma (Lennard-Jones, WCA) or their
/// core. Throws UserError where there is no room.
Placement random_start(const Model& model, std::uint64_t seed);

}  // namespace perrin::metropolis
