// The small system that tests of files write and then spoil.
#pragma once

#include "engine/system/configuration.h"

namespace perrin {

/// Three particles of two types in a chain of two bonds, with everything that particles can have.
inline Configuration three_particles() {
  Configuration c;
  c.box.length = {10, 10, 10};
  c.types = {"A", "B"};
  c.position = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
  c.velocity = c.position;
  c.type = {0, 1, 0};
  c.charge = c.mass = c.diameter = {1, 2, 1};
  c.topology.bond_types = {"bond"};
  c.topology.bonds = {{0, 1, 0}, {1, 2, 0}};
  return c;
}

}  // namespace perrin
