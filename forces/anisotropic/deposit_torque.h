// How a kernel hands in the torque that it computed for one particle, as forces/deposit.h the
// force.
#pragma once

#include <cstdint>

#include "engine/components/force.h"

namespace perrin {

/// Writes or adds, as `out` asks, if it asks at all. Particles that are not of the force's group
/// get nothing.
PERRIN_HD void deposit_torque(const ForceOutput& out, std::int64_t i, Real3 torque) {
  if (out.torque == nullptr) return;
  if (out.on && !out.on.has(out.id[i])) torque = {};
  const Real4 before = out.add_torque ? out.torque[i] : Real4{};
  out.torque[i] = {before.x + torque.x, before.y + torque.y, before.z + torque.z, 0};
}

}  // namespace perrin
