// What the force "mdpd" has beside the pairs of "dpd": densities, which the loop over these pairs
// sums up, and a second loop for the forces that follow from them.
#pragma once

#include "engine/components/step_context.h"
#include "engine/device/buffer.h"
#include "warren_density.h"

namespace perrin::dpd {

class ManyBody {
 public:
  /// `repulsion`: B (energy · length^(dimension - 1)); `range`: r_d (length); `dimension`: 2 or 3.
  ManyBody(const Device& device, double repulsion, double range, int dimension,
           std::int64_t particles);

  /// For the loop that sums up densities. Of this instant.
  DensitySum sum(StepContext& context);
  /// After that loop. Device work; all processes call it.
  void add_forces(StepContext& context, const ForceOutput& output);

 private:
  WarrenDensity::Coefficients coefficients_;
  Buffer<BothWays<WarrenDensity>> table_;         // one entry …
  Buffer<WarrenDensity::TypeCoefficients> type_;  // … for all types
  Buffer<Real> density_, slope_;                  // by place in memory
};

}  // namespace perrin::dpd
