// What a stage does to the box: deformation to a target ("deform"), steady shear ("shear").
//
// The box follows from the number of the step alone. With H the matrix of its edges and L = dH/dt
// H⁻¹, particles keep their fractions s, r = H s, so that they move with the flow u = L r for
// nothing, and velocities v are relative to it: dr/dt = v + L r, dv/dt = f/m - L v. (SLLOD: D. J.
// Evans, G. P. Morriss, Statistical Mechanics of Nonequilibrium Liquids (2008), chapter 6; where
// peculiar velocities are kept, L v and not its transpose.) A step is, with F = H' H⁻¹ from one box
// to the next and E = F^(-1/2): v becomes E v; what the integrator does before the forces, with its
// displacement d in the box in the middle, that is E d in the box at the beginning; then the next
// box and forces, what the integrator does after them, and v becomes E v again: symmetric in time,
// of second order where the integrator is. E is exact; for shear it is 1 - L dt/2.
//
// Steady shear is that of A. W. Lees, S. F. Edwards, J. Phys. C 5, 1921 (1972): the tilt grows, and
// a particle that crosses a face keeps its relative velocity. Beyond half of an edge the tilt turns
// by whole edges: the same lattice with other edges. Fractions and images follow in integers,
// remainders included, so that unwrapped positions stay what they are.
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

class Integrator;

struct DeformSettings {
  std::optional<double> x, y, z, xy, xz, yz, volume, density;
  std::optional<std::int64_t> steps;
  std::string form = "linear";
  std::optional<double> period;
  bool remap_velocities = true, work = false;
};

template <class D>
void describe(D& d, DeformSettings& s) {
  d.optional("x", s.x, Positive{}, "length of the box along x that is the target");
  d.optional("y", s.y, Positive{}, "along y");
  d.optional("z", s.z, Positive{}, "along z");
  d.optional("xy", s.xy, Any{},
             "target of this tilt: how far the edge along y leans towards x (length). Tilts that "
             "are not given stay in proportion to the edge along which they lean");
  d.optional("xz", s.xz, Any{}, "the edge along z towards x");
  d.optional("yz", s.yz, Any{}, "the edge along z towards y");
  d.optional("volume", s.volume, Positive{}, "target, all edges in proportion");
  d.optional("density", s.density, Positive{}, "particles per volume as target, as volume");
  d.optional("steps", s.steps, Positive{},
             "from the box at the beginning of the stage to the "
             "target; then it stays. Default: those of the stage");
  d.optional("form", s.form, OneOf{"linear", "exponential", "oscillating"},
             "lengths linear in time; at a constant rate (tilts linear); as a sine between target, "
             "box at the beginning, and as far on the other side");
  d.optional("period", s.period, Positive{}, "of oscillations (time)");
  d.optional("remap_velocities", s.remap_velocities, Any{},
             "velocities are relative to the flow of the box, which does work on them; false: they "
             "stay as they are, and only places are changed");
  d.optional("work", s.work, Any{},
             "measure the work in every step, for conserved_energy of thermo; costs a computation "
             "of energies and virials a step");
}

struct ShearSettings {
  double rate = 0;
  std::string flow = "x", gradient = "y";
  bool work = false;
};

template <class D>
void describe(D& d, ShearSettings& s) {
  d.required("rate", s.rate, Any{},
             "by how much the velocity along flow grows with the place along gradient (1/time)");
  d.optional("flow", s.flow, OneOf{"x", "y"}, "axis along which the fluid flows");
  d.optional("gradient", s.gradient, OneOf{"y", "z"}, "axis across it: behind flow in x, y, z");
  d.optional("work", s.work, Any{},
             "measure the work in every step, for conserved_energy of thermo; costs a computation "
             "of energies and virials a step");
}

/// The box as a function of the step.
struct BoxSchedule {
  enum class Form : std::uint32_t { linear, exponential, oscillating, shear };
  Form form = Form::linear;
  Box start;  // at step `begin`
  std::int64_t begin = 0, steps = 1;
  double length[3] = {};       // targets …
  double tilt[3] = {};         // … of xy, xz, yz, where they do not follow the edges
  bool tilts[3] = {};          // are these given?
  double step_turn = 0;        // oscillating: radians a step
  double step_strain = 0;      // shear: of a step
  int flow = 0, gradient = 1;  // of the shear
  bool turns = true;           // the tilt of a shear, beyond half of an edge

  PERRIN_HD int which() const { return gradient == 1 ? 0 : flow == 0 ? 1 : 2; }
  PERRIN_HD double& tilt_of(Box& b) const {
    return which() == 0 ? b.xy : which() == 1 ? b.xz : b.yz;
  }
  PERRIN_HD double sheared(std::int64_t step) const {  // the tilt that never turns
    Box b = start;
    return tilt_of(b) + double(step - begin) * step_strain * start.length[gradient];
  }
  /// By how many edges the tilt is turned in the box that a step begins with.
  PERRIN_HD std::int64_t turned(std::int64_t step) const {
    if (form != Form::shear || !turns || step < begin) return 0;
    return std::int64_t(std::floor(sheared(step) / start.length[flow] + 0.5));
  }
  PERRIN_HD Box at(std::int64_t step, std::int64_t turned) const;
};

/// What it keeps on the device.
struct DeformationMemory {
  Flow flow[2];
  std::int64_t turn;       // edges by which the tilt turns now
  double virial_work;      // done so far, by the virial
  double virial[6];        // where it was measured last
  std::uint64_t measured;  // at the end of so many steps
};

class Deformation final : public BoxMover {
 public:
  /// Of the settings of a stage of so many steps; nullptr where none are given, and after an error.
  static std::unique_ptr<Deformation> make(const std::optional<DeformSettings>& deform,
                                           const std::optional<ShearSettings>& shear,
                                           std::int64_t steps, const Integrator* integrator,
                                           Setup& setup);
  /// `path`: of the stage, for errors.
  Deformation(const DeformSettings& settings, std::int64_t steps, std::string path);
  Deformation(const ShearSettings& settings, std::string path, bool turns = true);

  ~Deformation() override;

  /// At the beginning of a stage, after Simulation::prepare() and before Integrator::begin().
  /// Throws UserError where something does not go with it.
  void begin(Simulation& simulation, const Integrator& integrator);
  /// After Integrator::begin().
  void begin_work();
  /// In place of both when a run is resumed; state() follows.
  void resume(Simulation& simulation, const Integrator& integrator);

  void move_box(Simulation& simulation) override;
  double most() const override { return most_; }
  bool tilts() const override;
  void turn_box(Simulation& simulation) override;
  const Flow* flow() const override;
  /// Writes the work so far to *work on the device. Device work.
  void measure_work(Simulation& simulation, double* work);
  /// Of a shear: what it has come to after so many steps of the job; else 0.
  double strain(std::uint64_t step) const;
  void state(Archive& archive);

 private:
  struct Virial;
  void make_room(Simulation& simulation, const Integrator& integrator);
  void set_targets();
  void set_up();
  void check_steps();

  std::optional<DeformSettings> deform_;
  std::optional<ShearSettings> shear_;
  std::string path_;
  BoxSchedule schedule_;
  Simulation* simulation_ = nullptr;
  double timestep_ = 0, most_ = 0;
  double tail_virial_ = 0;  // trace, times the volume
  bool work_ = false;
  Buffer<DeformationMemory> memory_;
  Buffer<std::uint32_t> due_;
  Buffer<double> kinetic_work_;  // by memory index: only its sum counts
  Buffer<double> scratch_;
  std::unique_ptr<Virial> virial_;
};

}  // namespace perrin
