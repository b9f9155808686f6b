// The "constraints" of a job: bonds and angles whose distances stay as they are.
#pragma once

#include <map>
#include <string>

#include "engine/components/constraints.h"
#include "engine/dynamics/body_settings.h"
#include "engine/settings/settings.h"
#include "engine/system/configuration.h"

namespace perrin {

struct ConstraintSettings {
  std::map<std::string, double> bonds, angles;
  double tolerance = Constraints::usual_tolerance;
  std::int64_t iterations = Constraints::usual_iterations;
};
template <class D>
void describe(D& d, ConstraintSettings& s) {
  d.example("{\"bonds\": {\"bond\": 1.0}}");
  d.required("bonds", s.bonds, Positive{}, "length of the bonds of each of these types (length)");
  d.optional("angles", s.angles, Between{1, 179},
             "angles of these types in degrees, between two bonds that are constrained: the "
             "distance between their ends is constrained, too");
  d.optional("tolerance", s.tolerance, Between{1e-10, 1e-3},
             "relative tolerance of the lengths; of velocities along a constraint, relative to its "
             "length per time step");
  d.optional("iterations", s.iterations, Positive{},
             "most sweeps over the constraints of a molecule in a step; more is an error");
}

/// Makes the constraints of a configuration from its bonds and angles.
void add_constraints(const ConstraintSettings& settings, Configuration& configuration,
                     const ReportMistake& report);
/// At the start, when masses are known: moves particles to where distances are right, along these
/// and by little, and has velocities follow (project_velocities()). Reports what is further away
/// than 10 %.
void fit_to_constraints(const ConstraintSettings& settings, Configuration& configuration,
                        const ReportMistake& report);
/// Takes from velocities what changes constrained distances. Nothing without constraints or
/// velocities.
void project_velocities(Configuration& configuration);

}  // namespace perrin
