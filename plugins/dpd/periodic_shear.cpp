#include "periodic_shear.h"

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/deposit.h"
#include "rng/math.h"

namespace perrin::dpd {
namespace {

struct Kernel {
  const Position* position;
  std::int64_t n;
  int gradient;
  std::uint32_t periods;
  bool sine;
  Real3 amplitude;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = position[i];
    const std::uint32_t along = gradient == 0 ? p.x : gradient == 1 ? p.y : p.z;
    const std::uint32_t phase = along * periods;  // of a period; wraps as it should
    const Real value =
        sine ? exact::sincos_turn<Real>(phase).sin : (phase < 0x80000000u ? Real(1) : Real(-1));
    deposit(out, n, i, value * amplitude, Real(0), Virial{}, Real(1));
  }
};

int axis_of(const std::string& name) { return name[0] - 'x'; }

}  // namespace

void PeriodicShear::compute(StepContext& s, const ForceOutput& output) {
  Real3 amplitude{};
  amplitude[axis_of(settings_.flow)] = Real(settings_.amplitude);
  for_each(
      s.device(), "periodic_shear", s.particles().share(),
      Kernel{s.particles().position().data(), s.particles().size(), axis_of(settings_.gradient),
             std::uint32_t(settings_.periods), settings_.form == "sine", amplitude, output});
}

MomentumChange PeriodicShear::momentum_change(std::span<const std::int64_t>) const {
  MomentumChange change;
  change.varying[std::size_t(axis_of(settings_.flow))] = settings_.amplitude != 0;
  return change;
}

void register_periodic_shear(Registry& registry) {
  registry.add<Force, PeriodicShearSettings>(
      "periodic_shear", "periodic force field that drives a shear flow, to measure viscosities",
      [](const PeriodicShearSettings& s, Setup& setup) -> std::unique_ptr<Force> {
        const Box& box = setup.configuration().box;
        if (s.flow == s.gradient) setup.error("gradient", "must differ from flow (" + s.flow + ")");
        const auto check = [&](const std::string& name, const char* key) {
          if (!box.periodic[std::size_t(axis_of(name))])
            setup.error(key, "the box is not periodic along " + name);
          if (box.dimension == 2 && name == "z")
            setup.error(key, "must be x or y in two dimensions");
        };
        check(s.flow, "flow");
        check(s.gradient, "gradient");
        if (!box.orthogonal()) setup.error("gradient", "the box must be orthogonal");
        return std::make_unique<PeriodicShear>(s);
      });
}

}  // namespace perrin::dpd
