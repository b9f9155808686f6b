// An Integrator moves the particles one step.
#pragma once

#include <optional>
#include <string>

#include "engine/system/archive.h"
#include "engine/system/group.h"
#include "engine/system/momentum.h"

namespace perrin {

class BoxMover;
class Force;
class StageContext;
class StepContext;

class Integrator {
 public:
  virtual ~Integrator() = default;
  /// Before the first step of a stage (also after a resume): sizes of buffers, forces at the start.
  virtual void begin(StageContext&) {}
  /// When its stage has ended and its state has been saved: returns what begin() has made for the
  /// particles. A ParticleArray that lives is work in the stages that follow. begin() may be called
  /// again.
  virtual void end() {}
  /// n steps, with StepContext::next_step() between them; whether in one call or several, the bits
  /// are the same. Device work only (no allocation, no waiting): on CUDA it is recorded once and
  /// replayed. integrators/particle_steps.h has the loop for what happens particle by particle.
  virtual void steps(StepContext&, int n) = 0;
  virtual double timestep() const = 0;
  /// How far a particle typically goes along an axis in one step (length, root mean square); 0: not
  /// known. By default what the present velocities say. Waits for the device.
  virtual double typical_displacement(const StepContext&) const;
  /// False: steps() is called with n = 1 from the host every time (a minimiser that looks at its
  /// result).
  virtual bool recordable() const { return true; }
  /// Of an integrator that is not recordable: what steps() leaves undone until somebody looks, as
  /// lists and forces may be. Called between steps, before totals are sampled and before anybody
  /// else looks; not to change what later steps do.
  virtual void settle(StepContext&) {}
  /// True when nothing is left to do (a minimiser that has converged): the stage ends. Asked
  /// whenever finish_stride() steps of the stage are done, and at no other moment, so that the same
  /// job ends at the same step; steps from there to the next such moment should change nothing.
  virtual bool finished(const StepContext&) { return false; }
  /// 0: finished() is never asked. On CUDA the host waits every time.
  virtual std::int64_t finish_stride() const { return 0; }
  /// For the console, when the stage has ended: "converged (…)". Empty: nothing to say.
  virtual std::string report() { return {}; }
  /// What a user should know of a stage that has come to its last step: "not converged (…)". A
  /// warning then, also in the stage's files. Empty: nothing.
  virtual std::string shortcoming() { return {}; }
  /// Which velocities it moves, for the count of the degrees of freedom. Overdamped motion says
  /// VelocityRole::bath here, and its temperature in bath_kt().
  virtual Motion motion() const { return {}; }
  /// k_B T of its heat bath after this number of steps of the job (energy), once it has begun;
  /// nothing: it has none.
  virtual std::optional<double> bath_kt(std::uint64_t /*steps*/) const { return {}; }
  /// Energy given to the particles by a heat bath since the stage began, into *heat on the device;
  /// total energy minus this is the conserved quantity. Device work only. Without a bath: 0.
  virtual void measure_heat(StepContext& context, double* heat);
  /// The same, waited for.
  double heat(StepContext& context);
  /// Where a stage has several integrators: on the device, what measure_heat() has found last for
  /// the one that has this group; what is measured next overwrites it. nullptr: none has.
  virtual const double* measured_heat_of(const std::string& /*group*/) const { return nullptr; }
  /// Work done on the particles by a motion that it prescribes, since the stage began, likewise.
  virtual void measure_work(StepContext& context, double* work);
  /// Where a stage has several integrators: may it move a group of the particles? Passes of
  /// integrators/particle_steps.h and sums of integrators/group_sum.h see to it; other loops of its
  /// own must ask StepContext::group().
  virtual bool acts_on_groups() const { return true; }
  /// Why that group must stay the same while it runs: "keeps …". Empty: it may be chosen anew
  /// between steps. steps() then takes StepContext::group() and the degrees of freedom as they are,
  /// nothing that it keeps of a particle is older than a step, and a particle that comes or goes
  /// goes on with its position and velocity.
  virtual std::string needs_fixed_group() const {
    return "is not made for particles that come and go";
  }
  /// Where groups may be chosen anew, between steps: what begin() has made of its group is made
  /// again. True: recorded steps do not hold any more.
  virtual bool follow_group(StageContext&) { return false; }
  /// Whether it changes velocities by the friction and noise of pairs itself, which forces then
  /// leave out. Where a stage has several integrators, all others must prescribe the motion of
  /// their particles: these take momentum as walls do.
  virtual bool applies_pair_friction() const { return false; }
  /// Velocities of its particles are prescribed: they are no motion of heat, and count in no
  /// kinetic energy, temperature, momentum or pressure.
  virtual bool prescribes_motion() const { return false; }
  /// For kernels: particles whose velocities count. By default all, or none.
  virtual GroupMask thermal() const { return {}; }
  /// Whether it turns particles that have orientations. Where it does not, they stay as they are.
  virtual bool turns_particles() const { return false; }
  /// Whether it may run while its stage deforms the box: its velocities are then those relative to
  /// the flow.
  virtual bool follows_deformation() const { return true; }
  /// Whether it kicks velocities by half a step of the forces before and after these, so that a
  /// slow part may act in every n-th step, n-fold (engine/components/slow_forces.h).
  virtual bool takes_impulses() const { return false; }
  /// Whether distances can be held in its steps (engine/components/constraints.h): after the forces
  /// it adds half a step of these to the velocities, and else changes them in proportion alone.
  virtual bool keeps_distances() const { return false; }
  /// Why it cannot sample this force: "has no …". Empty: it can.
  virtual std::string objection(const Force&) const { return {}; }
  /// What changes the box in its steps; nullptr: nothing.
  virtual BoxMover* box_mover() const { return nullptr; }
  virtual void state(Archive&) {}
};

}  // namespace perrin
