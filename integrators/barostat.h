// A barostat: stochastic cell rescaling, for integrators that have it as an option.
// M. Bernetti, G. Bussi, J. Chem. Phys. 153, 114107 (2020).
//
// The volume V of a system at pressure P and temperature T obeys, with λ = √V,
//
//     dλ = D (1/λ + 2λ (P_int - P) / kT) dt + √(2D) dW,  D = kT β / (4 τ),
//
// while positions scale with the edges and momenta inversely: positions in units of the edges and
// momenta times the edges stay as they are. P_int is what kinetic energy and virial say, β the
// isothermal compressibility, which together with τ says how fast this goes, and nothing else. (The
// paper's equation for ln V, in the variable in which its noise does not depend on V.)
//
// A step of Δ is proposed as λ' = λ + D Δ (1/λ + …) + √(2DΔ) R, and accepted with the probability
// min(1, ρ(λ') M(λ' → λ) / (ρ(λ) M(λ → λ'))), where ρ = λ exp(-(U + K + PV) / kT) and M is the
// density of the Gaussian step (P. J. Rossky, J. D. Doll, H. L. Friedman, J. Chem. Phys. 69, 4628
// (1978)). The move is thus time-reversible, and exact whatever Δ and τ: nearly all proposals are
// accepted. The change of U is the work of the virial, by the trapezoidal rule in the logarithm of
// the lengths (they change by parts in a thousand): it knows no jumps at a cut-off, so that the
// mean pressure is P with every truncation. K is that of whole steps: of the velocities v at hand
// when the box changes, half a kick before, and the forces f, K = m v²/2 + f·v Δt/2 to first order.
// That takes virial and forces in the old and in the new box.
//
// The energy that the particles are given counts as heat: total energy less heat is conserved.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/core/archive.h"
#include "engine/core/box.h"
#include "engine/core/buffer.h"
#include "engine/run/box_mover.h"
#include "engine/run/setup.h"
#include "engine/settings/settings.h"

namespace perrin {

struct BarostatSettings {
  double pressure = 0, tau = 1;
  std::optional<double> compressibility, temperature;
  std::int64_t stride = 25;
  std::string axes = "all";
};

template <class D>
void describe(D& d, BarostatSettings& s) {
  d.required("pressure", s.pressure, Any{}, "that the volume adapts to (energy per volume)");
  d.required("tau", s.tau, Positive{},
             "relaxation time of the volume, if the compressibility is right");
  d.optional("compressibility", s.compressibility, Positive{},
             "of the system, roughly (volume per energy); the volume moves at a rate of "
             "compressibility/tau. Default: a twentieth of the ideal gas's");
  d.optional("stride", s.stride, Positive{},
             "steps from one change of the box to the next; each costs about three computations of "
             "the forces");
  d.optional("temperature", s.temperature, Positive{},
             "of the volume's fluctuations, with velocity_verlet, which has none of its own");
  d.optional("axes", s.axes, OneOf{"all", "x", "y", "z", "xy", "xz", "yz"},
             "edges that change, in proportion; the pressure is the mean along them. Default: all "
             "of the box");
}

/// A sum along each axis: of the virial, or of m v².
struct AxisSums {
  double of[3] = {};
  double power = 0;  // beside the virial: of the forces
  PERRIN_HD AxisSums& operator+=(const AxisSums& b) {
    for (int k = 0; k < 3; ++k) of[k] += b.of[k];
    power += b.power;
    return *this;
  }
};

/// What the barostat keeps on the device.
struct BarostatMemory {
  AxisSums before, after;  // virial, of the present change
  Real4 scale;             // of velocities by it
  AxisSums kinetic;        // m v² before it
  Box box;                 // before it
  double factor;           // of the lengths that change
  double heat;             // given to the particles so far
  std::int64_t tried, accepted;
  std::int64_t pending;  // 1: proposed, not decided
};

class Barostat final : public BoxMover {
 public:
  /// Of an integrator's optional settings "barostat"; nullptr without them and after an error.
  /// `needs_temperature`: the integrator has none.
  static std::unique_ptr<Barostat> make(const std::optional<BarostatSettings>& settings,
                                        bool needs_temperature, Setup& setup);
  explicit Barostat(const BarostatSettings& settings) : settings_(settings) {}

  /// Temperatures times Boltzmann's constant: `from` at step `start`, then linearly to `to`, where
  /// it is 1 / inverse_ramp steps later (0: at once).
  struct Ramp {
    double from = 0, to = 0, inverse_ramp = 0;
    std::int64_t start = 0;
    PERRIN_HD double at(std::uint64_t step) const {
      const double done = double(std::int64_t(step) + 1 - start) * inverse_ramp;
      return from + (to - from) * (done < 1 ? done : 1.0);
    }
  };
  /// For Integrator::begin(), after ensure_forces(). Throws UserError where a force knows no
  /// pressure.
  void begin(Simulation& simulation, double timestep, const Ramp& kt);
  void move_box(Simulation& simulation) override;
  double most() const override { return 1.01 * most_; }
  /// Adds the energy that the particles were given to *heat on the device. Device work; for
  /// Integrator::measure_heat().
  void add_heat(Simulation& simulation, double* heat) const;
  /// For the console: how many changes were accepted.
  std::string report() const;
  void state(Archive& archive);

 private:
  void measure(Simulation& simulation, const Real4* scale, AxisSums* sums);
  void propose_and_decide(Simulation& simulation);

  BarostatSettings settings_;
  Ramp kt_;
  double half_step_ = 0;
  double diffusion_ = 0;    // D Δ / kT, of λ
  double most_ = 0;         // of the logarithm of a factor
  double tail_virial_ = 0;  // times the volume
  bool begun_ = false;
  Vec3<double> drift_;  // of the centre of mass
  Buffer<std::uint32_t> due_;
  Buffer<BarostatMemory> memory_;
  Buffer<Real4> work_, force_;
  Buffer<Real> virial_;  // of forces that need compute()
  Buffer<AxisSums> scratch_;
};

}  // namespace perrin
