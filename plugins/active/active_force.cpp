// Force "active_force": a constant force on a particle along its own axis, and a constant torque
// about the z axis of its own frame. With an integrator that has inertia and friction (langevin)
// particles are active Langevin, or inertial active Brownian, ones: H. Löwen, J. Chem. Phys. 152,
// 040901 (2020). It has no potential: it does work that no energy counts.
#include <vector>

#include "engine/components/no_potential.h"
#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "forces/anisotropic/deposit_torque.h"
#include "forces/anisotropic/interaction.h"
#include "forces/deposit.h"
#include "forces/external.h"
#include "forces/particle_loop.h"
#include "register.h"

namespace perrin::active {
namespace {

struct ActiveForceSettings {
  double force = 0, torque = 0;
  std::vector<std::string> types;
};

template <class D>
void describe(D& d, ActiveForceSettings& s) {
  d.example("{\"force\": 10}");
  d.required("force", s.force, Any{},
             "force along the particle's axis, the x axis of its own frame (energy/length)");
  d.optional("torque", s.torque, Any{},
             "torque about the z axis of the particle's own frame (energy)");
  d.optional("types", s.types, Any{}, "particle types that it acts on; default: all");
}

struct Push {
  const Position* position;
  const Real4* orientation;
  const std::uint32_t* mask;  // [type]
  std::int64_t n;
  Real force, torque;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real on = mask[position[i].type()] ? Real(1) : Real(0);
    const Real4 q = orientation[i];
    deposit(out, n, i, (on * force) * axis_of(q), Real(0), Virial{}, Real(0));
    deposit_torque(out, i, rotate(q, Real3{0, 0, on * torque}));
  }
};

ForceTraits traits_of_active_force() {
  ForceTraits traits = ForceTraits::of_field();
  traits.torques = true;
  traits.energy_share = 0;  // trial moves know of energies alone
  return traits;
}

class ActiveForce final : public Force, public NoPotential {
 public:
  ActiveForce(const ActiveForceSettings& s, Setup& setup)
      : Force(traits_of_active_force()),
        force_(Real(s.force)),
        torque_(Real(s.torque)),
        mask_(setup.device(), setup.configuration().types.size(), chosen_types(setup, s.types)) {}

  void compute(StepContext& s, const ForceOutput& output) override {
    for_each_particle(
        "active_force", s, output,
        Push{s.particles.position.data(), s.particles.orientations->orientation.data(),
             mask_.data(), s.particles.size(), force_, torque_, output});
  }

 private:
  Real force_, torque_;
  TypeMask mask_;
};

}  // namespace

void register_active_force(Registry& registry) {
  registry.add<Force, ActiveForceSettings>(
      "active_force", "a constant force along the axis of each particle, and a torque",
      [](const ActiveForceSettings& s, Setup& setup) {
        return std::make_unique<ActiveForce>(s, setup);
      });
}

}  // namespace perrin::active
