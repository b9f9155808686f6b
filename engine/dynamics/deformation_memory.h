// What a box that deforms keeps on the device (engine/dynamics/deformation.h).
#pragma once

#include <cstdint>

#include "engine/components/box_mover.h"

namespace perrin {

struct DeformationMemory {
  Flow flow[2];
  std::int64_t turn;       // edges by which the tilt turns now
  double virial_work;      // done so far, by the virial
  double virial[6];        // where it was measured last
  std::uint64_t measured;  // after this number of steps
};

}  // namespace perrin
