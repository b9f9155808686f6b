// A Force adds force, and on request energy and virial, to the particles.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/real.h"
#include "engine/system/archive.h"
#include "engine/system/group.h"
#include "engine/system/momentum.h"
#include "neighbor/ranges.h"

namespace perrin {

class Box;
class Integrator;
class StepContext;
struct BondProbe;
struct Topology;
struct TrialChains;
struct TrialMoves;

/// Where a force writes. Arrays are in memory order, one entry per particle.
struct ForceOutput {
  Real4* force;  // x, y, z: force; w: this particle's share of the potential energy
  Real* virial;  // nullptr, or 6·n: xx yy zz xy xz yz of sum of r ⊗ f, this particle's share;
                 // component c of particle i is virial[c·n + i]
  bool add;      // add to what is there; false: overwrite (the first force of a step)
  bool energy;   // fill force.w and virial (unless nullptr); false: force alone, w is set to 0
  Real4* torque = nullptr;  // in space; nullptr: nobody asks. Of forces with ForceTraits::torques
  bool add_torque = false;  // likewise
  /// By this the force of the slow part is multiplied (ForceTraits::slow_part); 0: it may be left
  /// out. Where energies are asked for: 1.
  Real slow = 1;
  GroupMask on{};                     // particles that the force acts on; set by Force::act() …
  const std::uint32_t* id = nullptr;  // … with the ids in memory order
  /// Trial moves (engine/components/trial_moves.h): only these particles, by their places in
  /// memory, of which TrialMove::none is to be passed over; nullptr: those of this process. What
  /// would end a run, such as a bond that is too long, has a high energy then. forces/deposit.h has
  /// the loop.
  const std::uint32_t* places = nullptr;
  std::int64_t count = 0;
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

/// What a force says of itself, once, when it is made. By default it reads all particles and acts
/// as a field that holds them to places.
struct ForceTraits {
  /// What compute() reads of other particles than the one whose force it sums up. Several processes
  /// know of others what is asked for here.
  enum class Reads {
    nothing,
    near,       // those within the ranges
    bonded,     // partners in bonds, angles, dihedrals and impropers of the job's system (Topology)
    everything  // all of them
  };
  /// Distances at which particles interact through the neighbour list, for every pair of types; 0:
  /// needs no list.
  Ranges ranges{};
  Reads reads = Reads::everything;
  bool velocities = false;  // of those particles, too: they are sent in every step
  /// It looks at orientations and gives torques (ForceOutput::torque), both of which particles must
  /// have (Particles::orientations()).
  bool torques = false;
  /// Axes along which a barostat may change the box: the virial is that of a potential, and holds
  /// in a box that changes while steps are recorded (Particles::metric()). A field holds particles
  /// to places, and may not act along them.
  std::array<bool, 3> box{};
  /// Whether a stage may deform the box: it acts between particles, and holds in a box that
  /// changes; friction may be in it, of the true velocities (StepContext::flow()).
  bool deformation = false;
  /// Whether compute() may wait for the device and allocate: on a GPU no step with such a force is
  /// recorded, which costs the launches of every kernel (some 5 µs each).
  bool waits = false;
  /// A part of it changes slowly, and may act in every n-th step alone (ForceOutput::slow,
  /// engine/components/slow_forces.h).
  bool slow_part = false;
  /// Trial moves: what part of the energy of all terms that a particle is in ForceOutput says to be
  /// its own. 0: terms are not all alike, or no sums of such. For forces without a range.
  double energy_share = 0;
  bool trials = false;  // of a force with a range: it has compute_trials()
  /// A job whose system has bonds, angles, dihedrals or impropers that no force handles is refused;
  /// charges are warned of.
  Handled handled{};
  /// Whether add_bond_forces() tells the forces along the bonds that it handles.
  bool bond_forces = false;
  /// What it was made from besides its settings, such as the contents of a file. Where that is not
  /// what a checkpoint says, forces are computed afresh, as with other settings.
  std::string fingerprint{};
  /// What it has chosen by itself, and what follows, in words: the log and `perrin validate` say
  /// it. Empty: nothing.
  std::string chosen{};

  /// A potential between pairs of particles.
  static ForceTraits of_pairs(const Ranges& ranges) {
    return {.ranges = ranges, .reads = Reads::near, .box = {true, true, true}, .deformation = true};
  }
  /// A potential between particles that are bonded.
  static ForceTraits of_bonds() {
    return {.reads = Reads::bonded, .box = {true, true, true}, .deformation = true};
  }
  /// A field that acts on each particle for itself.
  static ForceTraits of_field() { return {.reads = Reads::nothing, .energy_share = 1}; }

  double range() const { return ranges.longest(); }
  /// Whether a barostat may change the box along these axes.
  bool follows(const std::array<bool, 3>& axes) const {
    for (std::size_t k = 0; k < 3; ++k)
      if (axes[k] && !box[k]) return false;
    return true;
  }
};

class Force {
 public:
  explicit Force(ForceTraits traits = {}) : traits_(std::move(traits)) {}
  virtual ~Force() = default;
  const ForceTraits& traits() const { return traits_; }
  /// An integrator is about to act. A part of a force may be applied by the integrator itself
  /// (friction and noise, say, in a step of their own): the two agree on it by a class that both
  /// know and that the integrator derives from, which the force looks for here and leaves the part
  /// out of compute(). True: forces computed before are void.
  virtual bool prepare(const Integrator&) { return false; }
  /// Device work only: neither allocates nor waits, so that steps can be recorded and replayed.
  /// Wanted are the forces on this process's particles (Particles::share()).
  virtual void compute(StepContext& context, const ForceOutput& output) = 0;
  /// compute() on the particles of its group (act_on()). Everybody who wants forces calls this.
  void act(StepContext& context, ForceOutput output);
  /// From here on it acts on these particles alone: for a force that reads no other particles and
  /// hands in what it computed by deposit(). `by_type`: how many of each type there are.
  void act_on(const Device& device, const Group& group, std::vector<std::int64_t> by_type) {
    group_ = GroupOnDevice(device, group), members_ = std::move(by_type);
  }
  GroupMask group() const { return group_.mask(); }
  /// Trial moves, where ForceTraits::trials says so: adds what each changes of the energy. Device
  /// work.
  virtual void compute_trials(StepContext&, const TrialMoves&) {}
  /// The same, of whole chains of trials, where nothing else acts.
  virtual void run_trial_chains(StepContext&, const TrialChains&) {}
  /// What is beyond the cut-offs, in a box like this.
  virtual ForceCorrection correction(const Box&) const { return {}; }
  /// For changes of the box, of a force that has less to compute for them than compute() with
  /// energies. False: has nothing of the kind; compute() is asked. Device work. Without
  /// `work.of` it only says which.
  virtual bool compute_box_work(StepContext&, const BoxWork& /*work*/) { return false; }
  /// How it changes the total momentum; `particles`: their number by type. What looks for
  /// neighbours is taken to act between particles, everything else to be a field that holds them.
  virtual MomentumChange momentum_change(std::span<const std::int64_t> /*particles*/) const {
    if (traits_.range() > 0) return {};
    return {{true, true, true}, {}};
  }
  MomentumChange momentum_change_of_group(std::span<const std::int64_t> particles) const {
    return momentum_change(members_.empty() ? particles : members_);
  }
  /// Whether it acts on bonds and angles that are made and broken while the job runs
  /// ("dynamic_bonds"). By default what reads no partners, for which there is nothing to follow.
  virtual bool follows_topology() const { return traits_.reads != ForceTraits::Reads::bonded; }
  /// They have changed since the last step. True: recorded steps hold addresses that are void. May
  /// wait and allocate.
  virtual bool follow_topology(const Topology&) { return false; }
  /// The forces of its potential of bonds, where particles are now. May wait and allocate.
  virtual void add_bond_forces(StepContext&, const BondProbe&) {}
  /// Attributes of the particles have other numbers now, [id]: those by whose names they are here.
  /// Addresses must last. May wait.
  virtual void follow_attributes(const std::map<std::string, std::vector<double>>&) {}
  /// State to keep in checkpoints beyond the settings.
  virtual void state(Archive&) {}

 protected:
  ForceTraits traits_;  // set by the constructor

 private:
  GroupOnDevice group_;
  std::vector<std::int64_t> members_;  // of each type; empty: it acts on all particles
};

}  // namespace perrin
