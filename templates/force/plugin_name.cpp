// A force with a kernel of its own: a wave that travels along x,
// E = amplitude cos(2 pi (mode x / L - frequency t)), t = steps · timestep.
#include <cmath>

#include "engine/components/integrator.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/job/plugin_api.h"
#include "forces/deposit.h"

using namespace perrin;

namespace plugin_name {

struct PluginNameSettings {
  double amplitude = 1, frequency = 0;
  std::int32_t mode = 1;
};
template <class D>
void describe(D& d, PluginNameSettings& s) {
  d.required("amplitude", s.amplitude, Any{}, "amplitude (energy)");
  d.required("frequency", s.frequency, Any{},
             "frequency (1/time); the wave has the speed frequency L / mode");
  d.optional("mode", s.mode, Positive{}, "number of wavelengths in the box");
}

/// What happens to one particle; the loop over them is the engine's, on CPU and GPU.
struct PluginNameKernel {
  const Position* position;
  std::int64_t n;
  const std::uint64_t* step;  // on the device: recorded steps must not hold a number of the host's
  std::uint64_t instant;      // 1 within a step, whose forces are those at its end
  double turns_per_step;
  std::uint32_t mode;
  Real amplitude, wave_number;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const double turned = turns_per_step * double(*step + instant);
    // Positions are fractions of the box in units of 2⁻³², so multiples of them wrap as they
    // should; x = 0 is the middle of the box.
    const std::uint32_t along = mode * (position[i].x + 0x80000000u);
    const double turns = double(along) * 0x1p-32 - (turned - std::floor(turned));
    const Real phase = Real(2 * M_PI * turns);
    const Real3 force{amplitude * wave_number * std::sin(phase), 0, 0};
    deposit(out, n, i, force, amplitude * std::cos(phase), Virial{}, Real(1));
  }
};

class PluginName final : public Force {
 public:
  PluginName(const PluginNameSettings& s, const Setup& setup)
      : Force(ForceTraits::of_field()),
        settings_(s),
        wave_number_(2 * M_PI * s.mode / setup.configuration().box.length.x) {}

  /// The time step is the integrator's. True: forces computed with another one are void.
  bool prepare(const Integrator& integrator) override {
    return std::exchange(timestep_, integrator.timestep()) != integrator.timestep();
  }
  /// Device work only: neither allocates nor waits.
  void compute(StepContext& s, const ForceOutput& output) override {
    for_each(s.device(), "plugin_name", s.particles().size(),
             PluginNameKernel{s.particles().position().data(), s.particles().size(),
                              s.device_step(), s.instant(), settings_.frequency * timestep_,
                              std::uint32_t(settings_.mode), Real(settings_.amplitude),
                              Real(wave_number_), output});
  }
  MomentumChange momentum_change(std::span<const std::int64_t>) const override {
    return {{true, false, false}, {}};  // it holds the particles along x
  }

 private:
  PluginNameSettings settings_;
  double wave_number_, timestep_ = 0;
};

void register_components(Registry& registry) {
  registry.add<Force, PluginNameSettings>(
      "plugin_name", "migrating wave along x",
      [](const PluginNameSettings& s, Setup& setup) -> std::unique_ptr<Force> {
        const Box& box = setup.configuration().box;
        if (!box.periodic[0] || !box.orthogonal())
          setup.error("mode", "needs a box that is orthogonal and periodic along x");
        return std::make_unique<PluginName>(s, setup);
      });
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", plugin_name::register_components)
