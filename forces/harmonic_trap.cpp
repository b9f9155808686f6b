#include "forces/harmonic_trap.h"

#include <fmt/format.h>

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/deposit.h"
#include "forces/nearest_image.h"
#include "forces/particle_loop.h"
#include "forces/unwrapped.h"

namespace perrin {
namespace {

struct TrapKernel {
  ParticleView particles;
  Current<Metric> metric;
  Anchor center;
  NearestImage nearest;
  bool unwrapped, moves;
  Vec3<double> velocity;
  formula::ProgramView path[3];  // of t: where the center is along this axis
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
    Vec3<double> r{double(from_start.x) - moved(0, t), double(from_start.y) - moved(1, t),
                   double(from_start.z) - moved(2, t)};
    if (!unwrapped) r = nearest_by_fractions(*box, r);
    return {Real(r.x), Real(r.y), Real(r.z)};
  }
  /// How far the center has gone from the anchor.
  PERRIN_HD double moved(int axis, double t) const {
    return path[axis] ? path[axis].evaluate(&t) : velocity[axis] * t;
  }
};

}  // namespace

HarmonicTrap::HarmonicTrap(const HarmonicTrapSettings& settings, const Device& device,
                           std::size_t types, const std::vector<std::uint32_t>& chosen,
                           const formula::VectorOfTime& center)
    : Force(ForceTraits::of_field()),
      settings_(settings),
      mask_(device, types, chosen),
      follows_formulas_(center.any()),
      center_{Code(device, center.code[0]), Code(device, center.code[1]),
              Code(device, center.code[2])} {}

void HarmonicTrap::compute(StepContext& context, const ForceOutput& output) {
  const Box& box = context.particles().box();
  const auto& k = settings_.stiffness;
  const Real3 stiffness{Real(k.x), Real(k.y), Real(k.z)};
  const ParticleView particles = context.particles().view();
  TrapKernel kernel{particles,
                    context.particles().metric(),
                    Anchor(box, settings_.center, settings_.unwrapped),
                    NearestImage(box),
                    settings_.unwrapped,
                    moves(),
                    settings_.velocity,
                    {},
                    context.device_time(),
                    context.particles().box_state().data(),
                    stiffness,
                    mask_.data(),
                    output};
  for (std::size_t k = 0; k < 3; ++k) kernel.path[k] = {center_[k].data(), int(center_[k].size())};
  for_each_particle("harmonic_trap", context, output, kernel);
}

MomentumChange HarmonicTrap::momentum_change(std::span<const std::int64_t> particles) const {
  const bool acts = mask_.count(particles) > 0;
  const auto& k = settings_.stiffness;
  return {{acts && k.x > 0, acts && k.y > 0, acts && k.z > 0}, {}};
}

void register_harmonic_trap(Registry& registry) {
  registry.add<Force, HarmonicTrapKeys>(
      "harmonic_trap", "a harmonic spring from every particle to one point",
      [](const HarmonicTrapKeys& s, Setup& setup) -> std::unique_ptr<Force> {
        setup.refuse_z("stiffness", s.stiffness);
        setup.refuse_z("velocity", s.velocity);
        const auto center = formula::vector_of_time(
            s.entries, setup.configuration().box.dimension, "center", "a center",
            [&](const auto& key, const auto& what) { setup.error(key, what); });
        for (int k = 0; k < 3; ++k)
          if (center.has(k) && s.velocity[k] != 0)
            setup.error("velocity", fmt::format("must be 0 along {}, where \"center\" is a formula "
                                                "of t, got {:g}",
                                                "xyz"[k], s.velocity[k]));
        HarmonicTrapSettings settings = s;
        settings.center = center.number;
        return std::make_unique<HarmonicTrap>(settings, setup.device(),
                                              setup.configuration().types.size(),
                                              chosen_types(setup, s.types), center);
      });
}

}  // namespace perrin
