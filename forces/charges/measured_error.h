// The error of the forces of an Ewald sum, measured: against sums in double precision that go on
// far beyond it (exact_forces.h), where the particles are now.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forces/charges/charge_law.h"
#include "forces/charges/ewald_terms.h"

namespace perrin {

class Force;
class StepContext;

/// Root mean squares over the particles with charges or dipoles.
struct MeasuredError {
  double measured = 0, predicted = 0;  // energy/length
  double constant = 1;                 // Coulomb's: accuracies are in units of it
  std::int64_t particles = 0;
};

/// What a Force derives from as well that predicts the error of its forces.
class HasMeasuredError {
 public:
  virtual ~HasMeasuredError() = default;
  /// Of the forces that a step would have here. On the CPU, by one process. Throws UserError where
  /// it would take too long.
  virtual MeasuredError measure_error(StepContext& context) = 0;
};

/// What measure_error() needs of a force.
struct MeasuredSum {
  EwaldTerms terms;
  ChargedSystem system;  // by which parameters are chosen
  double predicted = 0;  // energy/length
  std::optional<Smearing> smearing = std::nullopt;
  std::vector<double> charge{};        // in memory order: either these …
  std::vector<Vec3<double>> moment{};  // … or these; the others are empty
};
MeasuredError measure_error(StepContext& context, Force& force, const MeasuredSum& sum);

}  // namespace perrin
