#include "forces/harmonic_trap.h"

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/deposit.h"
#include "forces/nearest_image.h"
#include "forces/particle_loop.h"
#include "forces/unwrapped.h"

namespace perrin {
namespace {

struct Kernel {
  ParticleView particles;
  Current<Metric> metric;
  Anchor center;
  NearestImage nearest;
  bool unwrapped, moves;
  Vec3<double> velocity;
  DeviceTime time;
  const Box* box;
  Real3 stiffness;
  const std::uint32_t* mask;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = particles.position[i];
    Real3 force{};
    Real energy = 0;
    if (mask[p.type()]) {
      Real3 r = center.to(*metric, p, particles.image[i]);
      if (moves) r = from_moved_center(r);
      if (!unwrapped) r = nearest(r);
      force = {-stiffness.x * r.x, -stiffness.y * r.y, -stiffness.z * r.z};
      energy = Real(-0.5) * dot(force, r);
    }
    deposit(out, particles.n, i, force, energy, Virial{}, Real(1));
  }
  PERRIN_HD Real3 from_moved_center(const Real3& from_start) const {
    const double t = time();
    Vec3<double> r{double(from_start.x) - velocity.x * t, double(from_start.y) - velocity.y * t,
                   double(from_start.z) - velocity.z * t};
    if (!unwrapped) r = nearest_by_fractions(*box, r);
    return {Real(r.x), Real(r.y), Real(r.z)};
  }
};

}  // namespace

HarmonicTrap::HarmonicTrap(const HarmonicTrapSettings& settings, const Device& device,
                           std::size_t types, const std::vector<std::uint32_t>& chosen)
    : Force(ForceTraits::of_field()), settings_(settings), mask_(device, types, chosen) {}

void HarmonicTrap::compute(StepContext& context, const ForceOutput& output) {
  const Box& box = context.particles.box;
  const auto& k = settings_.stiffness;
  const Real3 stiffness{Real(k.x), Real(k.y), Real(k.z)};
  const ParticleView particles = context.particles.view();
  const Vec3<double>& v = settings_.velocity;
  for_each_particle("harmonic_trap", context, output,
                    Kernel{particles, context.particles.metric(),
                           Anchor(box, settings_.center, settings_.unwrapped), NearestImage(box),
                           settings_.unwrapped, moves(), v, context.device_time(),
                           context.particles.box_state.data(), stiffness, mask_.data(), output});
}

MomentumChange HarmonicTrap::momentum_change(std::span<const std::int64_t> particles) const {
  const bool acts = mask_.count(particles) > 0;
  const auto& k = settings_.stiffness;
  return {{acts && k.x > 0, acts && k.y > 0, acts && k.z > 0}, {}};
}

void register_harmonic_trap(Registry& registry) {
  registry.add<Force, HarmonicTrapSettings>(
      "harmonic_trap", "a harmonic spring from every particle to one point",
      [](const HarmonicTrapSettings& s, Setup& setup) -> std::unique_ptr<Force> {
        setup.refuse_z("stiffness", s.stiffness);
        setup.refuse_z("center", s.center);
        setup.refuse_z("velocity", s.velocity);
        return std::make_unique<HarmonicTrap>(s, setup.device(), setup.configuration().types.size(),
                                              chosen_types(setup, s.types));
      });
}

}  // namespace perrin
