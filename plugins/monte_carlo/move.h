// A kind of trial moves, as a sweep of Monte Carlo makes them.
#pragma once

#include <string>
#include <vector>

#include "engine/components/trial_moves.h"
#include "engine/system/archive.h"
#include "engine/system/box.h"
#include "engine/system/group.h"

namespace perrin {
class Force;
class Setup;
class StageContext;
class StepContext;
struct Configuration;
struct Topology;
}  // namespace perrin

namespace perrin::monte_carlo {

/// What a move is tuned to, for tables.
struct MoveSize {
  std::string column;
  double value;  // in the job's units
};

/// Each keeps the distribution of the stage's temperature by itself; their order does not matter.
class Move {
 public:
  virtual ~Move() = default;
  /// The key of its settings.
  virtual std::string name() const = 0;
  /// When a stage begins, also a resumed one, with forces at the present positions.
  virtual void begin(StageContext& context) = 0;
  /// Its part of a sweep. All particles are in this process, lists and forces hold no more
  /// afterwards. May wait.
  virtual void sweep(StepContext& context, double kt) = 0;
  /// Since the stage began. Waits.
  virtual TrialCounts counts() const = 0;
  /// What tuning changes, in the job's units, and the largest that makes sense; 0: nothing.
  virtual double size() const { return 0; }
  virtual double largest_size() const { return 0; }
  virtual void set_size(double) {}
  /// For the console: "displacement 0.12". Empty: nothing.
  virtual std::string size_text() const { return {}; }
  /// The same, and what comes with it.
  virtual std::vector<MoveSize> sizes() const { return {}; }
  /// For the console: how many trials are made at a time in this job, and why not more. Empty:
  /// nothing to say.
  virtual std::string way() const { return {}; }
  /// Whether it can be made one trial after another, of forces in which all particles meet
  /// (engine/components/coupled_trials.h): not; also of those that depend on paths, for no particle
  /// goes as far as half of the box, or whole energies decide; or of all others alone.
  enum class Coupled { no, short_ways, long_ways };
  virtual Coupled coupled() const { return Coupled::no; }
  /// What it may be for that nothing was tried, and that nothing was accepted.
  virtual std::string why_none_tried() const = 0;
  virtual std::string why_none_accepted() const = 0;
  /// What else is to be known of a run that was of little use; empty: nothing.
  virtual std::string shortcoming() const { return {}; }
  virtual void state(Archive& archive) = 0;
};

/// A job's group of particles that a stage moves, which stays the same unless it is "all", of which
/// particles may come and go. Reports an error at `key`; nullptr then.
const Group* moving_group(const std::string& name, const std::string& key, Setup& setup);
/// The job's group of this name; "all": all particles.
GroupOnDevice group_of(const StepContext& context, const std::string& name);
/// Those of them that belong to no rigid body.
GroupOnDevice free_particles_of(const StepContext& context, const std::string& name);
/// Those of them that are no sites of rigid bodies.
GroupOnDevice moved_particles_of(const StepContext& context, const std::string& name);
/// Between opposite faces of the box.
double least_height(const Box& box);
/// Reports at `key` one that is longer than a quarter of the box.
void check_displacement(const std::string& key, double displacement, Setup& setup);
/// Does a force tell the energies of particles one by one?
bool has_trial_energies(const Force& force);
/// Are there particles with bonds, angles, dihedrals or impropers?
bool has_partners(const Topology& topology);
/// [id]: whether it has bonds, angles, dihedrals or impropers.
std::vector<bool> bonded_particles(const Configuration& c);
/// Reports at `key` a box that is not periodic along all its axes; `why`: "needs …".
void require_periodic(const std::string& key, const std::string& why, Setup& setup);
/// Reports at `key` an angle, a dihedral or an improper of particles that bonds do not connect: a
/// move of whole molecules would count a part of its energy.
void check_terms_within_molecules(const std::string& key, Setup& setup);
/// Saves or restores.
void archive_counts(Archive& archive, TrialCounts& counts);

}  // namespace perrin::monte_carlo
