// Energies, virial and momentum of the whole system.
#pragma once

#include <array>

#include "engine/core/particles.h"

namespace perrin {

class Simulation;

/// Sums over all particles at one instant. Tensors: xx yy zz xy xz yz.
struct Totals {
  double potential = 0;                    // with tail corrections
  double kinetic = 0;                      // 1/2 sum m v²
  std::array<double, 6> virial{};          // sum of r ⊗ f, tail corrections on the diagonal
  std::array<double, 6> kinetic_tensor{};  // sum of m v ⊗ v
  Vec3<double> momentum{};
};

/// Measures them, with forces of its own: those that the integrator uses stay as they are.
class TotalsMeter {
 public:
  explicit TotalsMeter(const Particles& particles);
  /// Of the present state; measured once, until forget().
  const Totals& measure(Simulation& simulation);
  void forget() { valid_ = false; }
  /// Each particle's share of the virial at the last measure(), as in ForceOutput.
  const Buffer<Real>& virials() const { return virial_; }

 private:
  Buffer<Real4> force_;
  Buffer<Real> virial_;
  Totals totals_;
  bool valid_ = false;
};

/// (sum of m v ⊗ v + sum of r ⊗ f) / volume: xx yy zz xy xz yz.
std::array<double, 6> pressure_tensor(const Totals& totals, const Box& box);
/// Its mean diagonal; in two dimensions of xx and yy.
double pressure(const Totals& totals, const Box& box);

}  // namespace perrin
