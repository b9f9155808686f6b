// A moment of a simulation, as observers of totals see it.
#pragma once

#include <array>
#include <cstdint>

#include "engine/components/totals.h"
#include "engine/system/box.h"
#include "engine/system/momentum.h"

namespace perrin {

/// The present moment (Simulation::now()), or an earlier one whose totals were sampled: the
/// simulation may have moved on.
struct Instant {
  std::uint64_t step = 0;  // completed steps …
  double time = 0;         // … and the simulated time they took
  Box box;
  bool box_moves = false;    // other instants may have another box …
  bool box_deforms = false;  // … since the stage deforms it ("deform", "shear")
  double shear_strain = 0;   // since the stage began; 0 without shear
  std::int64_t particles = 0;
  Totals totals;
  VelocityRole velocities = VelocityRole::moved;
  double temperature = 0;  // as Simulation::temperature()

  std::array<double, 6> pressure_tensor() const { return perrin::pressure_tensor(totals, box); }
  double pressure() const { return perrin::pressure(totals, box); }
};

}  // namespace perrin
