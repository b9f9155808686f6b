// What is asked of forces whose bonds break by force ("dynamic_bonds").
#pragma once

#include "engine/system/configuration.h"

namespace perrin {

/// The bonds of a system, and the force along each, to which a Force adds that of its potential:
/// positive where it pushes the two particles apart. On the force's device.
struct BondProbe {
  std::int64_t count;
  const Topology::Bond* bond;
  const Position* position;  // [id]
  double* force;             // [bond]
};

}  // namespace perrin
