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

#include "engine/components/box_mover.h"
#include "engine/components/box_schedule.h"
#include "engine/device/buffer.h"
#include "engine/dynamics/deformation_memory.h"
#include "engine/dynamics/deformation_settings.h"
#include "engine/system/archive.h"
#include "engine/system/box.h"
#include "engine/system/particle_array.h"

namespace perrin {

class Integrator;
class Setup;

class Deformation final : public BoxMover {
 public:
  /// From the settings of a stage of `steps` steps; nullptr without settings, and after an error.
  static std::unique_ptr<Deformation> make(const std::optional<DeformSettings>& deform,
                                           const std::optional<ShearSettings>& shear,
                                           std::int64_t steps, const Integrator* integrator,
                                           Setup& setup);
  /// `path`: of the stage, for errors.
  Deformation(const DeformSettings& settings, std::int64_t steps, std::string path);
  Deformation(const ShearSettings& settings, std::string path, bool turns = true);

  ~Deformation() override;

  /// What would end the run when its stage begins in this box, as far as that is known before:
  /// empty, if nothing. `box` becomes that of the end, of a shear it stays as it is.
  std::string problem(Box& box, std::int64_t particles, double timestep, double range) const;
  /// At the beginning of a stage, after Simulation::prepare() and before Integrator::begin().
  /// Throws UserError where something does not go with it.
  void begin(StepContext& context, const Integrator& integrator);
  /// After Integrator::begin().
  void begin_work();
  /// In place of both when a run is resumed; state() follows.
  void resume(StepContext& context, const Integrator& integrator);
  /// At the end of the stage.
  void end();

  void move_box(StepContext& context) override;
  double most() const override { return most_; }
  bool tilts() const override;
  /// Of a shear: which of the tilts xy, xz, yz it changes; else -1.
  int sheared_tilt() const { return shear_ ? schedule_.which() : -1; }
  /// Whether that tilt may be other than 0 at the end of the stage; nullopt: if it was before.
  std::optional<bool> leaves_tilt(int tilt) const;
  void turn_box(StepContext& context) override;
  const Flow* flow() const override;
  /// Writes the work so far to *work on the device. Device work.
  void measure_work(StepContext& context, double* work) override;
  /// The shear strain after this number of steps of the job; 0 without shear.
  double strain(std::uint64_t step) const override;
  void state(Archive& archive);

 private:
  struct Virial;
  void make_room(StepContext& context, const Integrator& integrator);
  void set_targets(BoxSchedule& schedule, std::int64_t particles, double timestep) const;
  void set_up();
  /// What is wrong; empty: nothing. `most` becomes the largest change of a length in a step.
  std::string check_steps(const BoxSchedule& schedule, double range, double& most) const;

  std::optional<DeformSettings> deform_;
  std::optional<ShearSettings> shear_;
  std::string path_;
  BoxSchedule schedule_;
  StepContext* context_ = nullptr;
  double timestep_ = 0, most_ = 0;
  double tail_virial_ = 0;  // trace, times the volume
  bool work_ = false;
  Buffer<DeformationMemory> memory_;
  Buffer<std::uint32_t> due_;
  ParticleArray<Real4> rest_;  // what rounding leaves of velocities; single precision alone
  ParticleArray<double> kinetic_work_;  // by place
  Buffer<double> scratch_;
  std::unique_ptr<Virial> virial_;
};

}  // namespace perrin
