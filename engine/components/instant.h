// A moment of a simulation, as observers of totals see it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/components/totals.h"
#include "engine/system/box.h"
#include "engine/system/momentum.h"

namespace perrin {

/// Of a group of particles.
struct GroupTotals {
  double kinetic = 0;      // 1/2 sum m v²
  double temperature = 0;  // of the kinetic energy; NaN where none of the group moves
  Vec3<double> momentum{};
  Vec3<double> force{};            // the sum of all forces on them
  std::array<double, 6> stress{};  // sum of m v ⊗ v and of their shares of the virial, without tail
                                   // corrections: xx yy zz xy xz yz (energy)
  double heat = 0;  // that its integrator's bath has given it since the stage began; NaN:
                    // no integrator has this group
};

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
  /// Of the kinetic energy, in the job's units, without that of a centre of mass whose velocity
  /// nothing changes; in overdamped motion that of the bath, in a minimisation 0.
  double temperature = 0;
  std::vector<GroupTotals> groups{};  // those that observers watch (Setup::watch())

  /// xx yy zz xy xz yz, and the mean of the first three.
  std::array<double, 6> pressure_tensor() const { return perrin::pressure_tensor(totals, box); }
  double pressure() const { return perrin::pressure(totals, box); }
};

}  // namespace perrin
