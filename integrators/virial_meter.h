// The diagonal of the virial, for integrators whose box changes.
#pragma once

#include <string>

#include "engine/core/buffer.h"
#include "engine/run/simulation.h"

namespace perrin {

/// A sum along each axis.
struct AxisSums {
  double of[3] = {};
  PERRIN_HD AxisSums& operator+=(const AxisSums& b) {
    for (int k = 0; k < 3; ++k) of[k] += b.of[k];
    return *this;
  }
};

class VirialMeter {
 public:
  /// For Integrator::begin(). Throws UserError where a force knows no pressure; `what`: that it
  /// cannot be with.
  void begin(Simulation& simulation, const std::string& what);
  /// Of the present positions, into *sums on the device. Device work.
  void measure(Simulation& simulation, AxisSums* sums);
  /// What is beyond the cut-offs: the trace of its virial times the volume.
  double tail() const { return tail_; }

 private:
  double tail_ = 0;
  Buffer<Real4> work_, force_;
  Buffer<Real> virial_;  // of forces that need compute()
  Buffer<AxisSums> scratch_;
};

}  // namespace perrin
