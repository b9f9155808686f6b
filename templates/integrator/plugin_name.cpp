// An integrator: velocity Verlet with the thermostat of Nosé and Hoover (canonical ensemble).
// W. G. Hoover, Phys. Rev. A 31, 1695 (1985); split as in G. J. Martyna, M. E. Tuckerman,
// D. J. Tobias, M. L. Klein, Mol. Phys. 87, 1117 (1996): half a step of the thermostat, velocity
// Verlet, half a step of the thermostat.
#include <cmath>

#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/job/plugin_api.h"
#include "integrators/group_sum.h"
#include "integrators/verlet_halves.h"

using namespace perrin;

namespace plugin_name {

struct PluginNameSettings {
  double timestep = 0.005, temperature = 1, tau = 0.5;
};
template <class D>
void describe(D& d, PluginNameSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.required("temperature", s.temperature, Positive{}, "temperature of the heat bath");
  d.required("tau", s.tau, Positive{}, "relaxation time of the thermostat");
}

/// What the thermostat keeps, on the device.
struct Bath {
  double kinetic = 0;         // of the particles; they must have no momentum in common
  double rate = 0, path = 0;  // xi (1/time), and its integral over time
  double factors[2]{};        // of the velocities, at the end and at the beginning of a step
};

struct KineticEnergy {
  const Real4* velocity;  // w: 1/mass
  PERRIN_HD double operator()(std::int64_t i) const {
    const Real4 v = velocity[i];
    return 0.5 * (double(v.x) * v.x + double(v.y) * v.y + double(v.z) * v.z) / double(v.w);
  }
};

/// Half a step of the thermostat, by one thread: d(xi)/dt = (2 K - g kT) / Q, Q = g kT tau².
struct HalfStep {
  Bath* bath;
  double dt, twice_wanted, inverse_mass;  // g kT, 1/Q
  int which;
  PERRIN_HD void operator()(std::int64_t) const {
    const auto pushed = [&] { return dt / 4 * (2 * bath->kinetic - twice_wanted) * inverse_mass; };
    bath->rate += pushed();
    const double factor = std::exp(-bath->rate * dt / 2);
    bath->path += bath->rate * dt / 2;
    bath->kinetic *= factor * factor;
    bath->rate += pushed();
    bath->factors[which] = factor;
  }
};

/// H + Q xi²/2 + g kT times the integral of xi is conserved.
struct Heat {
  const Bath* bath;
  double twice_wanted, mass;  // g kT, Q
  double* heat;
  PERRIN_HD void operator()(std::int64_t) const {
    *heat = -(mass * bath->rate * bath->rate / 2 + twice_wanted * bath->path);
  }
};

/// v *= s; v += dt/2 f/m; x += dt v. The kick comes first, divided by s: products are summed in one
/// way only, so that the bits do not depend on what the compiler fuses.
struct ScaleKickAndDrift {
  const Bath* bath;
  Real dt;
  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    const Real s = Real(bath->factors[1]);
    p.kick(Real(0.5) * dt / s);
    p.velocity = with_w(times(s, p.velocity), p.velocity);
    return times(dt, p.velocity);
  }
};
struct Scale {
  const Bath* bath;
  PERRIN_HD void operator()(MovingParticle& p) const {
    p.velocity = with_w(times(Real(bath->factors[0]), p.velocity), p.velocity);
  }
};

class PluginName final : public Integrator {
 public:
  PluginName(const PluginNameSettings& s, const Setup& setup)
      : settings_(s),
        kt_(setup.k_boltzmann() * s.temperature),
        bath_(setup.device(), 1),
        scratch_(setup.device(), sum_chunks) {}

  double timestep() const override { return settings_.timestep; }

  void begin(StageContext& s) override {
    s.ensure_forces();
    twice_wanted_ = kt_ * s.degrees_of_freedom().number();
    measure(s);  // a resumed run then restores what state() has saved
  }
  /// Device work only; recorded on a GPU.
  void steps(StepContext& s, int n) override {
    const Real dt = Real(settings_.timestep);
    run_particle_steps(
        s, n,
        [&] {
          half_step(s, 1);
          return ScaleKickAndDrift{bath_.data(), dt};
        },
        [&] { return Kick{dt}; },
        [&] {
          measure(s);
          half_step(s, 0);
        },
        [&] { return Scale{bath_.data()}; });
  }
  /// Total energy minus this is conserved. Device work only.
  void measure_heat(StepContext& s, double* heat) override {
    const double mass = twice_wanted_ * settings_.tau * settings_.tau;
    for_each(s.device(), "heat", 1, Heat{bath_.data(), twice_wanted_, mass, heat});
  }
  void state(Archive& archive) override { archive("bath", bath_); }

 private:
  void measure(StepContext& s) {
    sum_of_group(s, "kinetic energy", KineticEnergy{s.particles().velocity().data()}, scratch_,
                 &bath_.data()->kinetic);
  }
  void half_step(StepContext& s, int which) {
    const double inverse_mass = 1 / (twice_wanted_ * settings_.tau * settings_.tau);
    for_each(s.device(), "thermostat", 1,
             HalfStep{bath_.data(), settings_.timestep, twice_wanted_, inverse_mass, which});
  }

  PluginNameSettings settings_;
  double kt_, twice_wanted_ = 0;
  Buffer<Bath> bath_;
  Buffer<double> scratch_;
};

void register_components(Registry& registry) {
  registry.add<Integrator, PluginNameSettings>(
      "plugin_name", "velocity Verlet with a Nose-Hoover thermostat (NVT)",
      [](const PluginNameSettings& s, Setup& setup) {
        return std::make_unique<PluginName>(s, setup);
      });
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", plugin_name::register_components)
