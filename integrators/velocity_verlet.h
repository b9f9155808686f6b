// Velocity Verlet: constant energy.
// W. C. Swope, H. C. Andersen, P. H. Berens, K. R. Wilson, J. Chem. Phys. 76, 637 (1982).
#pragma once

#include "engine/run/integrator.h"
#include "engine/settings/settings.h"

namespace perrin {

struct VelocityVerletSettings {
  double timestep = 0.005;
};

template <class D>
void describe(D& d, VelocityVerletSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "in time units");
}

class VelocityVerlet : public Integrator {
 public:
  explicit VelocityVerlet(const VelocityVerletSettings& settings) : dt_(settings.timestep) {}

  void begin(Simulation& simulation) override;
  void steps(Simulation& simulation, int n) override;
  double timestep() const override { return dt_; }

 private:
  double dt_;
};

}  // namespace perrin
