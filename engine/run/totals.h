// Energies, virial and momentum of the whole system.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/core/particles.h"

namespace perrin {

class Simulation;

/// Sums over all particles at one instant. Tensors: xx yy zz xy xz yz.
struct Totals {
  double potential = 0;                    // with tail corrections
  double kinetic = 0;                      // 1/2 sum m v²; overdamped motion has none: NaN
  std::array<double, 6> virial{};          // sum of r ⊗ f, tail corrections on the diagonal
  std::array<double, 6> kinetic_tensor{};  // sum of m v ⊗ v; overdamped: k_B T of the bath for
                                           // every particle that moves along the axis
  Vec3<double> momentum{};                 // overdamped: NaN
  double heat = 0;  // given by the heat bath of the running stage since it began
  double work = 0;  // done by the deformation of its box, if it is measured

  /// Of the motion, on average where it has no velocities: half the trace of the tensor.
  double mean_kinetic() const {
    return (kinetic_tensor[0] + kinetic_tensor[1] + kinetic_tensor[2]) / 2;
  }
};

namespace detail {
/// potential; virial (6); kinetic tensor m v ⊗ v (6); momentum (3)
struct Sums {
  double v[16] = {};
  PERRIN_HD Sums& operator+=(const Sums& b) {
    for (int k = 0; k < 16; ++k) v[k] += b.v[k];
    return *this;
  }
  std::array<double, 6> six(int first) const {
    std::array<double, 6> values{};
    for (std::size_t c = 0; c < 6; ++c) values[c] = v[std::size_t(first) + c];
    return values;
  }
};

/// What a device writes of one instant.
struct TotalsRow {
  Sums pairs, all;  // with the forces that see pairs through the list; with the others, too
  double heat = 0, work = 0;
  Box box;                    // of this instant, if it moves
  std::uint64_t written = 0;  // at this step, plus 1
};
}  // namespace detail

/// What was sampled at an instant.
struct SampledTotals {
  std::uint64_t step;
  Totals totals;
  Box box;
};

/// Measures them, with forces of its own: those that the integrator uses stay as they are. Rows of
/// several instants may wait on the device until the host asks.
class TotalsMeter {
 public:
  explicit TotalsMeter(const Particles& particles);
  /// Of the present state; measured once, until forget().
  const Totals& measure(Simulation& simulation);
  void forget() { valid_ = false; }
  /// Each particle's share of the virial at the last measurement, as in ForceOutput.
  const Buffer<Real>& complete_virials();

  /// Launches a measurement of this instant, for collect(). A device that has been halted before
  /// does nothing. `lists_hold`: they have been looked after at these positions; then the host does
  /// not wait, and this may be recorded.
  void launch_sample(Simulation& simulation, bool lists_hold);
  /// Of each that was launched: the number of steps done then.
  void note_sample(std::uint64_t step);
  /// Sampled and not collected yet: are there as many as there is room for?
  bool full() const { return std::ssize(sampled_) == most; }
  /// Waits for what was sampled, and forgets it: the instants that the device has come to, in
  /// order.
  std::vector<SampledTotals> collect(const Simulation& simulation);
  /// These are the present ones.
  void set(const Totals& totals) {
    totals_ = totals;
    valid_ = true;
  }

 private:
  static constexpr int most = 256;
  void launch(Simulation& simulation, bool lists_hold);
  /// Of what was measured after so many steps, in that box.
  Totals totals_of(const Simulation& simulation, const detail::TotalsRow& row, std::uint64_t steps,
                   const Box& box) const;

  Buffer<Real4> force_;
  Buffer<Real> virial_;
  Buffer<detail::Sums> scratch_;
  Buffer<detail::TotalsRow> rows_;      // sampled ones, then the one that is being measured
  Buffer<std::uint32_t> written_;       // how many of the former
  std::vector<std::uint64_t> sampled_;  // steps
  Totals totals_;
  bool valid_ = false;
};

/// (sum of m v ⊗ v + sum of r ⊗ f) / volume: xx yy zz xy xz yz.
std::array<double, 6> pressure_tensor(const Totals& totals, const Box& box);
/// Its mean diagonal; in two dimensions of xx and yy.
double pressure(const Totals& totals, const Box& box);

}  // namespace perrin
