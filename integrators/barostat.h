// A barostat: stochastic cell rescaling, for integrators that have it as an option.
// M. Bernetti, G. Bussi, J. Chem. Phys. 153, 114107 (2020).
//
// The logarithm of the volume, u = ln V, of a system at pressure P and temperature T obeys
//
//     du = D V (P_int - P) / kT dt + √(2D) dW,  D = kT β / (τ V),
//
// while positions scale with the edges and momenta inversely: positions in units of the edges and
// momenta times the edges stay as they are. P_int is what kinetic energy and virial say, β the
// isothermal compressibility, which together with τ says how fast this goes, and nothing else.
// (The paper's equation, whose term in kT/V is what the measure below leaves of it.) Groups of axes
// change their part of V in turn, each by the pressure along it. (V. Del Tatto, P. Raiteri,
// M. Bernetti, G. Bussi, Appl. Sci. 12, 1139 (2022), changes all at once.) In a flexible cell a
// tilt changes likewise by a small shear strain, with the same D, by the stress off the diagonal.
//
// A change is proposed by a step of Δ of this equation, and accepted with the probability
// min(1, ρ(u') M(u' → u) / (ρ(u) M(u → u'))), where ρ = w exp(-(U + K + PV) / kT) and M is the
// density of the Gaussian step (P. J. Rossky, J. D. Doll, H. L. Friedman, J. Chem. Phys. 69, 4628
// (1978)). The move is thus time-reversible, and exact whatever Δ and τ: nearly all proposals are
// accepted. The weight w of volumes is that of dV. For a flexible cell all matrices of edges count
// that differ by a rotation, by the invariant measure det(h)⁻² dh (G. J. Martyna, D. J. Tobias,
// M. L. Klein, J. Chem. Phys. 101, 4177 (1994)): of upper triangular ones, changed by strains from
// the left, w = V (lx/lz)² in three dimensions and V lx/ly in two.
//
// The change of U is the work of the virial, by the trapezoidal rule in the logarithm of the
// lengths or in the tilt (they change by parts in a thousand): it knows no jumps at a cut-off, so
// that the mean pressure is P with every truncation. K is that of whole steps: of the velocities v
// at hand when the box changes, half a kick before, and the forces f, K = m (v + f Δt/2m)²/2, so
// that what remains of the time step is the error of velocity Verlet itself. That takes virial and
// forces in the old and in the new box.
//
// The energy that the particles are given counts as heat: total energy less heat is conserved.
//
// Where velocities are no part of the dynamics (Brownian) K is left out, and ρ has a factor V^N
// instead, of the positions.
//
// In Monte Carlo there are no dynamics to follow, and potentials may have jumps: u changes by a
// random walk of a fixed width (that of the noise above to begin with), and U by the difference of
// the whole energies of all forces. I. R. McDonald, Mol. Phys. 23, 41 (1972).
//
// Particles that constraints connect change their places and momenta as one (cluster_scaling.h): N,
// K and U count such clusters as particles.
//
// Of several integrators in a stage, one has the barostat: N, K and the momenta are those of all
// particles that move, whichever integrators move them. Frozen ones keep their places in units of
// the edges: U depends on the volume through them, too, but they have no K and no factor V.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "engine/components/box_mover.h"
#include "engine/components/force.h"
#include "engine/components/setup.h"
#include "engine/device/buffer.h"
#include "engine/settings/settings.h"
#include "engine/system/archive.h"
#include "engine/system/box.h"
#include "integrators/box_forces.h"
#include "integrators/box_strain.h"
#include "integrators/ramp.h"

namespace perrin {

class StageContext;

/// By what changes of the box are proposed and decided.
enum class BoxRule {
  dynamics,    // forces and velocities
  overdamped,  // forces, where velocities are no part of the dynamics
  energies     // a random walk; the whole energy before and after, where there are no dynamics
};

struct BarostatSettings {
  double pressure = 0, tau = 1;
  RampSettings ramp;  // of the pressure; of the temperature below in the same steps
  std::optional<double> compressibility, temperature, final_temperature;
  std::optional<std::int64_t> stride;
  std::string axes = "all";
};

template <class D>
void describe(D& d, BarostatSettings& s) {
  d.required("pressure", s.pressure, Any{}, "target pressure (energy per volume)");
  describe_ramp(d, s.ramp, "pressure", Any{});
  d.required("tau", s.tau, Positive{},
             "relaxation time of the volume, if the compressibility is accurate");
  d.optional("compressibility", s.compressibility, Positive{},
             "estimated compressibility of the system (volume per energy); the volume relaxes at a "
             "rate of compressibility/tau. Default: 1/20 of the ideal gas's");
  d.optional("stride", s.stride, Positive{},
             "steps between changes of the box; each change costs about three force computations. "
             "Default: 50, or a quarter of tau if that is less");
  d.optional("temperature", s.temperature, Positive{},
             "temperature of the barostat; needed with velocity_verlet only");
  d.optional("final_temperature", s.final_temperature, Positive{},
             "temperature at the end of a linear ramp over ramp_steps; constant afterwards");
  d.optional(
      "axes", s.axes, Any{},
      "coupling of the box edges: \"all\" isotropic, \"xy,z\" semi-isotropic, \"x,y,z\" "
      "anisotropic, \"z\" one edge only; the edges of a group change by the same factor, by their "
      "mean pressure. \"flexible\": fully triclinic, every edge and tilt independently");
}

/// What a setting "axes" says; nullopt: nothing that is known.
std::optional<BoxStrains> parse_axes(const std::string& axes, int dimension);
/// The same of a job: reports at `key` what is wrong, also axes along which the box is not
/// periodic.
std::optional<BoxStrains> check_axes(const std::string& axes, const std::string& key, Setup& setup);

class Barostat final : public BoxMover {
 public:
  /// Of an integrator's optional settings "barostat"; nullptr without them and after an error.
  /// `needs_temperature`: the integrator has none.
  static std::unique_ptr<Barostat> make(const std::optional<BarostatSettings>& settings,
                                        bool needs_temperature, Setup& setup);
  /// The same, and warns where changes of the box by the noise are more than lists have room for,
  /// so that the volume relaxes slower than tau says. `temperature`: that of the integrator.
  static std::unique_ptr<Barostat> make(const std::optional<BarostatSettings>& settings,
                                        bool needs_temperature, double timestep, double temperature,
                                        Setup& setup);
  /// For a test; settings.axes must be right.
  Barostat(const BarostatSettings& settings, int dimension);
  ~Barostat() override;

  /// For Integrator::begin(), after ensure_forces(). `kt`: temperatures times Boltzmann's constant;
  /// a ramp of the pressure begins where it begins.
  /// Throws UserError where a force knows no pressure.
  void begin(StageContext& context, double timestep, const Ramp& kt,
             BoxRule rule = BoxRule::dynamics);
  void move_box(StepContext& context) override;
  std::int64_t stride() const override { return stride_; }
  bool serves_all_integrators() const override { return true; }
  double most() const override { return 1.01 * most_; }
  bool tilts() const override { return strains_.flexible; }
  std::array<bool, 3> axes() const override { return strains_.axes(); }
  /// Adds the energy that the particles were given to *heat on the device. Device work; for
  /// Integrator::measure_heat().
  void add_heat(StepContext& context, double* heat) const;
  /// What it was made from.
  const BarostatSettings& settings() const { return settings_; }
  /// Target pressure after this number of steps of the job (energy per volume).
  double pressure(std::uint64_t steps) const {
    return settings_.ramp.ramp(settings_.pressure, 1, kt_.start).after(steps);
  }
  /// Of BoxRule::energies: the standard deviation of changes of ln V, or of a tilt, before they are
  /// cut off at most(); the largest that makes sense.
  double step() const { return step_; }
  double largest_step() const { return most_ * fewest_axes() / 2; }
  void set_step(double step) { step_ = step; }
  /// Changes of the box. Waits.
  std::int64_t tried() const { return memory_.size() > 0 ? memory_.to_host(0).tried : 0; }
  std::int64_t accepted() const { return memory_.size() > 0 ? memory_.to_host(0).accepted : 0; }
  /// For the console: how many changes were accepted.
  std::string report() const;
  void state(Archive& archive);

 private:
  double fewest_axes() const;
  /// Steps between changes of the box, by its settings.
  std::int64_t stride_for(double timestep) const;
  /// D Δ V / kT of a step; `particles`: free ones.
  double mobility(double timestep, double volume, double particles, double kt) const;
  void warn_of_room(double timestep, double kt, Setup& setup) const;
  void measure(StepContext& context, const VelocityStrain* strain, StrainWork* sum);
  void measure_energy(StepContext& context, double* sum);
  const Real4* velocities(StepContext& context) const;

  BarostatSettings settings_;
  BoxStrains strains_;
  Ramp kt_;
  std::int64_t stride_ = 1;
  double half_step_ = 0;
  double mobility_ = 0;  // D Δ V / kT
  double most_ = 0;      // of the logarithm of a factor, or a tilt
  double step_ = 0;      // 0: not BoxRule::energies
  bool begun_ = false;
  BoxRule rule_ = BoxRule::dynamics;
  Vec3<double> drift_;  // of the centre of mass
  BoxForces forces_;
  std::unique_ptr<ClusterScaling> clusters_;  // of constraints; nullptr: there are none
  Buffer<BarostatMemory> memory_;
  Buffer<StrainWork> scratch_;
  Buffer<StrainKinetic> kinetic_scratch_;
  Buffer<Real4> energy_;  // of each particle: the last word
  Buffer<double> energy_scratch_;
};

}  // namespace perrin
