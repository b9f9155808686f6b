// Integrator "groot_warren": velocity Verlet with a guess of the velocities that the forces depend
// on. R. D. Groot, P. B. Warren, J. Chem. Phys. 107 (1997) 4423, equation 8:
//
//     x += dt v + dt²/2 f/m;   guess = v + lambda dt f/m;   f' = f(x, guess);   v += dt/2 (f +
//     f')/m
//
// lambda = 1/2 is velocity Verlet as LAMMPS and HOOMD-blue run DPD with it (Perrin's
// velocity_verlet), whose forces see the velocity after the first half kick.
#pragma once

#include "engine/components/integrator.h"
#include "engine/device/buffer.h"
#include "engine/settings/settings.h"
#include "engine/system/particle_array.h"

namespace perrin {
class Registry;
}

namespace perrin::dpd {

struct GrootWarrenSettings {
  double timestep = 0.04, lambda = 0.65;
};
template <class D>
void describe(D& d, GrootWarrenSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.optional("lambda", s.lambda, Between{0, 1},
             "lambda of the predicted velocities; 0.5: velocity_verlet");
}

class GrootWarren final : public Integrator {
 public:
  explicit GrootWarren(const GrootWarrenSettings& settings) : settings_(settings) {}
  void begin(StageContext& context) override;
  void end() override { half_ = {}; }
  void steps(StepContext& context, int n) override;
  double timestep() const override { return settings_.timestep; }
  std::string needs_fixed_group() const override { return {}; }

 private:
  GrootWarrenSettings settings_;
  ParticleArray<Real4> half_;  // velocities after half a kick, by id: sorting is within a step
};

void register_groot_warren(Registry& registry);

}  // namespace perrin::dpd
