// Energies, virial and momentum of the whole system.
#pragma once

#include <array>

#include "engine/base/real.h"
#include "engine/system/box.h"

namespace perrin {

/// Sums over all particles at one instant. Tensors: xx yy zz xy xz yz.
struct Totals {
  double potential = 0;            // with tail corrections
  double kinetic = 0;              // 1/2 sum m v²; overdamped motion has none: NaN
  double rotational = 0;           // 1/2 sum of L²/I: of particles that turn; where nothing moves
                                   // velocities: 0
  std::array<double, 6> virial{};  // sum of r ⊗ f, tail corrections on the diagonal
  std::array<double, 6> kinetic_tensor{};  // sum of m v ⊗ v; overdamped: k_B T of the bath for
                                           // every particle that moves along the axis
  Vec3<double> momentum{};                 // overdamped: NaN
  double heat = 0;  // given by the heat bath of the running stage since it began
  double work = 0;  // done by the deformation of its box, if it is measured, or by the particles
                    // whose motion is prescribed

  /// Of the motion, on average where it has no velocities: half the trace of the tensor.
  double mean_kinetic() const {
    return (kinetic_tensor[0] + kinetic_tensor[1] + kinetic_tensor[2]) / 2;
  }
  double total_energy() const { return mean_kinetic() + rotational + potential; }
};

/// (sum of m v ⊗ v + sum of r ⊗ f) / volume: xx yy zz xy xz yz.
std::array<double, 6> pressure_tensor(const Totals& totals, const Box& box);
/// Its mean diagonal; in two dimensions of xx and yy.
double pressure(const Totals& totals, const Box& box);

}  // namespace perrin
