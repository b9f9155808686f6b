// The diagonal of the virial, for integrators whose box changes.
#pragma once

#include <array>
#include <string>

#include "engine/components/step_context.h"
#include "engine/device/buffer.h"
#include "integrators/box_forces.h"

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
  /// As BoxForces::begin().
  void begin(StepContext& context, const std::array<bool, 3>& axes, const std::string& what);
  /// Of the present positions, into *sums on the device. Device work.
  void measure(StepContext& context, AxisSums* sums);
  double tail() const { return forces_.tail(); }

 private:
  BoxForces forces_;
  Buffer<AxisSums> scratch_;
};

}  // namespace perrin
