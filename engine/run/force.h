// A Force adds force, and on request energy and virial, to the particles.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "engine/core/archive.h"
#include "engine/core/momentum.h"
#include "engine/core/real.h"
#include "neighbor/ranges.h"

namespace perrin {

class Box;
class Integrator;
class StepContext;

/// Where a force writes. Arrays are in memory order, one entry per particle.
struct ForceOutput {
  Real4* force;  // x, y, z: force; w: this particle's share of the potential energy
  Real* virial;  // nullptr, or 6·n: xx yy zz xy xz yz of sum of r ⊗ f, this particle's share;
                 // component c of particle i is virial[c·n + i]
  bool add;      // add to what is there; false: overwrite (the first force of a step)
  bool energy;   // fill force.w and virial (unless nullptr); false: force alone, w is set to 0
};

/// Analytic corrections for what a cut-off leaves out, and the like.
struct ForceCorrection {
  double energy = 0;
  double virial = 0;  // trace: adds virial / (dimension · volume) to the pressure
};

/// What a change of the box does to velocities: a lower triangular matrix.
struct VelocityStrain {
  Real4 scale{1, 1, 1, 0};  // along x, y and z
  Real4 tilt{};             // yx, zx, zy
  PERRIN_HD Real3 of(const Real4& v) const {
    return {scale.x * v.x, multiply_add(scale.y, v.y, tilt.x * v.x),
            multiply_add(scale.z, v.z, multiply_add(tilt.y, v.x, tilt.z * v.y))};
  }
};

/// What a change of the box asks of a force: n words, one of each particle, that are added to or
/// overwritten.
struct BoxWork {
  Real4* of = nullptr;                     // its share of xx, yy and zz of the virial; w: the power
  const VelocityStrain* strain = nullptr;  // nullptr: velocities as they are
  const std::uint32_t* off_diagonal = nullptr;  // where it is not 0: xy, xz and yz instead
  bool add = false;
  Real kick = 0;  // of velocities by the force, for the power: time

  PERRIN_HD bool is_off_diagonal() const { return off_diagonal && *off_diagonal != 0; }
  /// force · velocity, of the strained one after the kick
  PERRIN_HD Real power(const Real4& v, Real x, Real y, Real z) const {
    const Real3 u = strain ? strain->of(v) : v.xyz();
    return x * u.x + y * u.y + z * u.z + kick * v.w * (x * x + y * y + z * z);
  }
};

/// What a force acts on of that which only some forces look at.
struct Handled {
  std::vector<bool> bond_types, angle_types, dihedral_types, improper_types;  // [type]; empty: none
  bool charges = false;
};

class Force {
 public:
  virtual ~Force() = default;
  /// Longest distance at which particles interact through the neighbour list; 0: needs no list.
  virtual double range() const { return 0; }
  /// The same for every pair of types; the longest is range().
  virtual Ranges ranges() const { return range(); }
  /// An integrator is about to act. A part of a force may be applied by the integrator itself
  /// (friction and noise, say, in a step of their own): the two agree on it by a class that both
  /// know and that the integrator derives from, which the force looks for here and leaves the part
  /// out of compute(). True: forces computed before are void.
  virtual bool prepare(const Integrator&) { return false; }
  /// Does compute() look at velocities of other particles than the one whose force it sums up?
  /// Where several processes run the simulation, those of neighbours are sent in every step then.
  virtual bool reads_velocities() const { return false; }
  /// Does compute() look at particles that need not be within range() (partners in bonds, all of
  /// them)? Where not, processes are sent what is near.
  virtual bool looks_beyond_range() const { return range() == 0; }
  /// Where it does: are these partners in bonds, angles, dihedrals and impropers of the job's
  /// system (Topology), and nobody else?
  virtual bool looks_at_topology() const { return false; }
  /// Device work only: neither allocates nor waits, so that steps can be recorded and replayed.
  /// Wanted are the forces on this process's particles (Particles::share()).
  virtual void compute(StepContext& context, const ForceOutput& output) = 0;
  /// What is beyond the cut-offs, in a box like this.
  virtual ForceCorrection correction(const Box&) const { return {}; }
  /// Can it be in a job with a barostat? Then its virial is that of a potential, and holds in a box
  /// that changes while steps are recorded (Particles::metric()). By default what looks for
  /// neighbours can: a field holds particles to places.
  virtual bool follows_box() const { return range() > 0; }
  /// Can it be in a stage that deforms the box? Then it is one between particles, and holds in a
  /// box that changes; friction may be in it, of the true velocities (StepContext::flow()).
  virtual bool follows_deformation() const { return follows_box(); }
  /// The same where the box changes along these axes alone: a field may not act along them.
  virtual bool follows_axes(const std::array<bool, 3>& /*axes*/) const { return follows_box(); }
  /// For changes of the box, of a force that has less to compute for them than compute() with
  /// energies. False: has nothing of the kind; compute() is asked. Device work. Without
  /// `work.of` it only says which.
  virtual bool compute_box_work(StepContext&, const BoxWork& /*work*/) { return false; }
  /// How it changes the total momentum; `particles`: their number by type. What looks for
  /// neighbours is taken to act between particles, everything else to be a field that holds them.
  virtual MomentumChange momentum_change(std::span<const std::int64_t> /*particles*/) const {
    if (range() > 0) return {};
    return {{true, true, true}, {}};
  }
  /// A job whose system has bonds, angles, dihedrals or impropers that no force handles is refused;
  /// charges are warned of.
  virtual Handled handled() const { return {}; }
  /// What it was made from besides its settings, such as the contents of a file. Where that is not
  /// what a checkpoint says, forces are computed afresh, as with other settings.
  virtual std::string fingerprint() const { return {}; }
  /// State to keep in checkpoints beyond the settings.
  virtual void state(Archive&) {}
};

}  // namespace perrin
