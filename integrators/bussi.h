// Velocity Verlet with stochastic velocity rescaling: constant temperature, canonical ensemble.
// G. Bussi, D. Donadio, M. Parrinello, J. Chem. Phys. 126, 014101 (2007).
#pragma once

#include <optional>

#include "engine/components/integrator.h"
#include "engine/device/buffer.h"
#include "engine/settings/settings.h"
#include "integrators/barostat.h"
#include "integrators/ramp.h"
#include "integrators/rotation.h"
#include "rng/keyed.h"

namespace perrin {

struct BussiSettings {
  double timestep = 0.005, temperature = 1, tau = 0.1;
  RampSettings ramp;  // of the temperature
  std::optional<BarostatSettings> barostat;
};

template <class D>
void describe(D& d, BussiSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.required("temperature", s.temperature, Positive{}, "temperature of the heat bath");
  d.required(
      "tau", s.tau, NonNegative{},
      "relaxation time of the kinetic energy; 0: redrawn in every step. A steady power input (from "
      "shear, for example) keeps k_B T above that of the bath by 2 tau power / degrees of freedom");
  describe_ramp(d, s.ramp, "temperature", Positive{});
  d.optional("barostat", s.barostat, Any{}, "constant pressure by stochastic cell rescaling");
}

/// What the thermostat keeps on the device.
struct RescalingBath {
  double kinetic;  // before the rescaling of this step
  double factor;   // of the velocities
  double heat;     // given to the particles so far
};

/// All velocities are multiplied by one random factor per step (equation A7), drawn and applied on
/// the device. Where the centre of mass keeps its velocity (StepContext::degrees_of_freedom()) they
/// are measured from it: it is left alone.
class Bussi : public Integrator {
 public:
  /// `k_boltzmann`: energy per unit of temperature.
  Bussi(const BussiSettings& settings, double k_boltzmann,
        std::unique_ptr<Barostat> barostat = nullptr);
  /// Which of the job's thermostats it is (Setup::instance()): others draw other numbers.
  void set_instance(std::uint32_t instance) { instance_ = instance; }

  void begin(StageContext& context) override;
  void steps(StepContext& context, int n) override;
  double timestep() const override { return settings_.timestep; }
  void measure_heat(StepContext& context, double* heat) override;
  std::optional<double> bath_kt(std::uint64_t steps) const override { return ramp().after(steps); }
  std::string report() override { return barostat_ ? barostat_->report() : ""; }
  BoxMover* box_mover() const override { return barostat_.get(); }
  bool turns_particles() const override { return true; }
  bool takes_impulses() const override { return true; }
  bool keeps_distances() const override { return true; }
  std::string needs_fixed_group() const override { return {}; }
  bool follow_group(StageContext& context) override;
  void state(Archive& archive) override;

 private:
  void draw_factor(StepContext& context);
  void rescale_rotation(StepContext& context);
  void count_rotation(const StepContext& context);
  Ramp ramp() const {
    return settings_.ramp.ramp(settings_.temperature, k_boltzmann_, ramp_start_);
  }

  BussiSettings settings_;
  std::unique_ptr<Barostat> barostat_;
  double k_boltzmann_;
  std::uint32_t instance_ = 0;
  Vec3<double> drift_;            // of the centre of mass
  std::int64_t ramp_start_ = -1;  // step at which the ramp began; -1: not yet
  Buffer<RescalingBath> bath_;
  Buffer<double> scratch_;
  // Of particles that turn: all angular momenta are multiplied by a factor of their own.
  Rotation rotation_;
  Buffer<RescalingBath> rotational_bath_;
  Buffer<double> rotational_scratch_;
  std::int64_t rotational_freedom_ = 0;
};

}  // namespace perrin
