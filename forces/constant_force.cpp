#include "forces/constant_force.h"

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/deposit.h"
#include "forces/particle_loop.h"

namespace perrin {
namespace {

struct ConstantForceKernel {
  ParticleView particles;
  Current<Metric> metric;
  Anchor origin;
  Real3 force;
  const std::uint32_t* mask;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = particles.position[i];
    const Real on = mask[p.type()] ? Real(1) : Real(0);
    const Real energy =
        out.energy ? -on * dot(force, origin.to(*metric, p, particles.image[i])) : Real(0);
    deposit(out, particles.n, i, on * force, energy, Virial{}, Real(1));
  }
};

}  // namespace

ConstantForce::ConstantForce(const ConstantForceSettings& settings, const Device& device,
                             std::size_t types, const std::vector<std::uint32_t>& chosen)
    : Force(ForceTraits::of_field()), settings_(settings), mask_(device, types, chosen) {}

void ConstantForce::compute(StepContext& context, const ForceOutput& output) {
  const Box& box = context.particles().box();
  const auto& f = settings_.force;
  const ParticleView particles = context.particles().view();
  for_each_particle(
      "constant_force", context, output,
      ConstantForceKernel{particles, context.particles().metric(), Anchor(box, {0, 0, 0}, true),
                          Real3{Real(f.x), Real(f.y), Real(f.z)}, mask_.data(), output});
}

MomentumChange ConstantForce::momentum_change(std::span<const std::int64_t> particles) const {
  return {{}, double(mask_.count(particles)) * settings_.force};
}

void register_constant_force(Registry& registry) {
  registry.add<Force, ConstantForceSettings>(
      "constant_force", "the same force on every particle",
      [](const ConstantForceSettings& s, Setup& setup) -> std::unique_ptr<Force> {
        setup.refuse_z("force", s.force);
        return std::make_unique<ConstantForce>(
            s, setup.device(), setup.configuration().types.size(), chosen_types(setup, s.types));
      });
}

}  // namespace perrin
