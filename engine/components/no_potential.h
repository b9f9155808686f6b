// Forces, and integrators that drive particles, of no potential: no energy says where particles are
// more likely.
#pragma once

namespace perrin {

/// What a Force or an Integrator derives from as well that does work without a potential, and has
/// no part in the potential energy. What decides by energies, as Monte Carlo does, cannot take it.
class NoPotential {
 public:
  virtual ~NoPotential() = default;
};

}  // namespace perrin
