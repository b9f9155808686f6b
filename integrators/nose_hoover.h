// Deterministic constant temperature by Nosé-Hoover chains, and constant pressure by the equations
// of Martyna, Tobias and Klein.
// G. J. Martyna, D. J. Tobias, M. L. Klein, J. Chem. Phys. 101, 4177 (1994); integrated as
// G. J. Martyna, M. E. Tuckerman, D. J. Tobias, M. L. Klein, Mol. Phys. 87, 1117 (1996) and
// M. E. Tuckerman et al., J. Phys. A 39, 5629 (2006) say.
//
// With edges L of the box that change at the rates ν (those of a group of axes at one rate), Σν
// their sum over the axes, u the velocity of the centre of mass where nothing changes it, and f
// degrees of freedom:
//
//     dL/dt = ν L          dr/dt = v + ν r
//     dv/dt = F/m - (ν + Σν/f) (v - u) - ξ₁ (v - u)
//     W dν/dt = Σ_axes of the group [m (v-u)² + r F - V P + Σ m (v-u)² / f] - η₁ W ν
//
// ξ₁ is the velocity of the first link of a chain on the particles, η₁ of one on the rates. In
// units of the edges a particle moves by v dt exp(-ν dt/2) sinh(ν dt/2) / (ν dt/2) / L within a
// step. A step is the palindrome
//
//     chain dt/2 | kick dt/2 | drift dt | kick dt/2 | chain dt/2
//
// and of `stride` of these (an odd number) the middle one moves the box for all of them; between
// the last and the first of the next come: rates by half, their chain twice, rates by half. This is
// reversible, and takes the virial once. Where two steps meet, kinetic energy and virial are those
// at hand: one thread does what is left of the one and what begins the other.
//
// Particles with orientations turn between the kicks (integrators/rotation.h), and have a chain of
// their own (nose_hoover_rotation.h).
//
// Heat: minus P dV, the kinetic energy of rates and chains, and f kT dξ₁ + kT Σ dξ_k: total energy
// less heat is conserved. Masses follow a temperature that changes, at constant energy.
#pragma once

#include <memory>
#include <optional>

#include "engine/components/box_mover.h"
#include "engine/components/integrator.h"
#include "engine/device/buffer.h"
#include "integrators/moving_axes.h"
#include "integrators/nose_hoover_rotation.h"
#include "integrators/nose_hoover_step.h"
#include "integrators/ramp.h"
#include "integrators/rotation.h"

namespace perrin {

struct PistonSettings {
  double pressure = 0, tau = 1;
  RampSettings ramp;  // of the pressure
  std::string axes = "all";
  std::optional<std::int64_t> stride;
  int chain = 3;
};

template <class D>
void describe(D& d, PistonSettings& s) {
  d.required("pressure", s.pressure, Any{}, "target pressure (energy per volume)");
  describe_ramp(d, s.ramp, "pressure", Any{});
  d.required("tau", s.tau, Positive{},
             "sets the mass of the barostat: the volume of an ideal gas oscillates with a period "
             "of 3.6 tau (three axes), that of a liquid about five times as fast");
  describe_moving_axes(d, s.axes);
  d.optional(
      "stride", s.stride, Positive{},
      "steps between changes of the box, an odd number; each change costs about one force "
      "computation (three on the CPU). Default: 11, fewer if few particles change the box fast");
  d.optional("chain", s.chain, Between{1, ChainState::most},
             "number of thermostats in the chain of the barostat");
}

struct NoseHooverSettings {
  double timestep = 0.005, temperature = 1, tau = 0.5;
  RampSettings ramp;  // of the temperature
  int chain = 3;
  std::optional<PistonSettings> barostat;
};

template <class D>
void describe(D& d, NoseHooverSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.required("temperature", s.temperature, Positive{}, "temperature of the heat bath");
  describe_ramp(d, s.ramp, "temperature", Positive{});
  d.required("tau", s.tau, Positive{},
             "sets the mass of the thermostat: the kinetic energy of free particles oscillates "
             "with a period of 4.4 tau");
  d.optional("chain", s.chain, Between{1, ChainState::most},
             "number of thermostats in the chain. A steady power input (from shear, for example) "
             "keeps the temperature above the bath if there is more than one, the more the longer "
             "tau is; a single one preserves its mean");
  d.optional("barostat", s.barostat, Any{},
             "constant pressure (NPT) by the equations of Martyna, Tobias and Klein");
}

class NoseHoover final : public Integrator {
 public:
  /// `k_boltzmann`: energy per unit of temperature.
  NoseHoover(const NoseHooverSettings& settings, double k_boltzmann)
      : settings_(settings), k_boltzmann_(k_boltzmann) {
    if (settings.barostat) mover_ = std::make_unique<Mover>(*this);
  }

  /// Called again within a stage, between measurements of the pressure, it goes on with what was
  /// done to the velocities meanwhile.
  void begin(StageContext& context) override;
  void steps(StepContext& context, int n) override;
  double timestep() const override { return settings_.timestep; }
  void measure_heat(StepContext& context, double* heat) override;
  std::optional<double> bath_kt(std::uint64_t steps) const override {
    return kt_ramp().after(steps);
  }
  BoxMover* box_mover() const override { return mover_.get(); }
  bool turns_particles() const override { return true; }
  bool takes_impulses() const override { return true; }
  bool keeps_distances() const override { return true; }
  void state(Archive& archive) override;

 private:
  Ramp kt_ramp() const { return settings_.ramp.ramp(settings_.temperature, k_boltzmann_, start_); }

  class Mover final : public BoxMover {
   public:
    explicit Mover(NoseHoover& owner) : owner_(owner) {}
    void move_box(StepContext& context) override { owner_.move_box(context); }
    double most() const override { return owner_.begun_ ? detail::Turn::most : 0; }
    std::array<bool, 3> axes() const override {
      return MovingAxes(owner_.settings_.barostat->axes, 3).which();
    }

   private:
    NoseHoover& owner_;
  };
  void move_box(StepContext& context);
  detail::Turn turn(StepContext& context);
  void measure_virial(StepContext& context);
  void measure_kinetic(StepContext& context);

  NoseHooverSettings settings_;
  double k_boltzmann_;
  std::unique_ptr<Mover> mover_;
  bool begun_ = false;
  Vec3<double> drift_;      // of the centre of mass
  std::int64_t start_ = 0;  // step at which the stage began
  VirialMeter meter_;
  Rotation rotation_;
  NoseHooverRotation rotational_chain_;
  Buffer<detail::NoseHooverMemory> memory_;
  Buffer<std::uint32_t> due_;
  Buffer<AxisSums> scratch_;
};

}  // namespace perrin
