#include "engine/dynamics/observation.h"

#include <utility>

#include "engine/dynamics/scheduled_changes.h"
#include "engine/dynamics/simulation.h"

namespace perrin {

Observation::Observation(Simulation& simulation) : simulation_(&simulation) {}

const Particles& Observation::particles() const { return simulation_->particles(); }
std::uint64_t Observation::step() const { return simulation_->step(); }
double Observation::time() const { return simulation_->time(); }
Instant Observation::now() const { return simulation_->now(); }

const Buffer<Real>& Observation::particle_virials() const {
  return simulation_->particle_virials();
}

std::vector<const Force*> Observation::forces() const {
  return std::as_const(*simulation_).forces();
}

void Observation::with_whole_forces(const std::function<void()>& look) const {
  simulation_->with_whole_forces(look);
}

void Observation::ask_forces(const std::function<void(StepContext&)>& ask) const {
  ask(*simulation_);
}

const Integrator* Observation::integrator() const { return simulation_->bath(); }

const DegreesOfFreedom& Observation::degrees_of_freedom() const {
  return simulation_->degrees_of_freedom();
}

GroupMask Observation::thermal() const { return simulation_->thermal(); }

double Observation::kt_without_velocities() const {
  return simulation_->kt_without_velocities(simulation_->step());
}

double Observation::k_boltzmann() const { return simulation_->k_boltzmann(); }
bool Observation::box_deforms() const { return simulation_->deformation() != nullptr; }
const RigidBodies* Observation::bodies() const { return simulation_->bodies(); }

const DynamicBonds* Observation::dynamic_bonds() const { return simulation_->changes().bonds(); }

const StageLog& Observation::stages() const { return simulation_->stages(); }
std::string Observation::neighbor_report() const { return simulation_->neighbor_report(); }

}  // namespace perrin
