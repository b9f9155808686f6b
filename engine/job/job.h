// A job: its file read and checked whole, and everything it names made.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/registry.h"
#include "engine/dynamics/attribute_updates.h"
#include "engine/dynamics/attributes.h"
#include "engine/dynamics/body_settings.h"
#include "engine/dynamics/constraint_settings.h"
#include "engine/dynamics/dynamic_bonds.h"
#include "engine/dynamics/orientation_settings.h"
#include "engine/dynamics/reservoir.h"
#include "engine/job/ensemble_settings.h"
#include "engine/job/groups.h"
#include "engine/job/plugin.h"
#include "engine/run/run.h"
#include "engine/settings/json_file.h"
#include "neighbor/settings.h"

namespace perrin {

struct VelocitySettings {
  double temperature = 0;
};
template <class D>
void describe(D& d, VelocitySettings& s) {
  d.required("temperature", s.temperature, NonNegative{},
             "velocities are rescaled to exactly this temperature; centre-of-mass momentum is "
             "removed along axes where it is conserved");
}

struct ProcessSettings {
  std::string balance = "time";
  std::optional<std::array<int, 3>> grid{};
  std::int64_t particles = 0;
};
template <class D>
void describe(D& d, ProcessSettings& s) {
  d.optional(
      "balance", s.balance, OneOf{"time", "equal"},
      "load balancing between processes: time, by measured times, repeatedly during the run; "
      "equal, the same number of particles for each. Results are bitwise identical in both cases");
  d.optional("grid", s.grid, Between{1, 64},
             "on a GPU: number of blocks of the box along x, y and z that are distributed over the "
             "processes; as many processes as blocks have about one each. Particles are stored and "
             "summed block by block for any number of processes. Default: layers or, in large "
             "systems, a space-filling curve");
  d.optional("particles", s.particles, NonNegative{},
             "smallest number of particles per process: if there are fewer, some processes have "
             "none, or every process does all of the work; 0: the number above which several "
             "processes are faster than one");
}

/// The top level of a job file.
struct JobSettings {
  std::string schema, title;
  std::string author = "N/A";
  std::vector<std::string> plugins;
  Json units;
  std::optional<std::uint64_t> seed;
  std::string device = "auto";
  Part<Source> system;
  ReservoirSettings reservoir;
  std::map<std::string, AttributeSettings> attributes;
  std::map<std::string, BodySettings> bodies;
  std::optional<OrientationSettings> orientations;
  std::optional<ConstraintSettings> constraints;
  std::map<std::string, GroupSettings> groups;
  std::optional<VelocitySettings> velocity;
  std::optional<DynamicBondsSettings> dynamic_bonds;
  std::vector<std::string> ignore;
  std::optional<EnsembleSettings> ensemble;
  ProcessSettings processes;
  NeighborSettings neighbors;
  std::vector<Part<Force>> forces;
  std::vector<Part<Observer>> observers;
  std::vector<Part<Stage>> stages;

  JobSettings();
};
void describe(Fields& d, JobSettings& s);

/// What the command line says.
struct JobOptions {
  std::string device;                  // empty: what the job says
  std::optional<Device> given_device;  // instead, from a batch
  int threads = 0;                     // 0: all cores
  std::filesystem::path job_directory, output_directory;
  std::filesystem::path job_file;  // empty: none, as of a checkpoint
  /// Outputs elsewhere are told, and replace nothing but files of their kinds; empty: the output
  /// directory. Of a checkpoint its folder, unless the command line names one.
  std::filesystem::path trusted_directory;
  /// Of a stopped run whose job names none, in the output directory; empty: none is written.
  std::filesystem::path default_checkpoint = "checkpoint.h5";
  /// Of the checkpoint that the run goes on from: the job, against which changes are held
  /// (engine/job/continued_job.h); empty: none are.
  std::string continued_job;
  std::size_t complete_stages = 0;  // of these, from the first
  bool overwrite = false, quiet = false;
  double time_limit = 0;    // seconds; 0: none
  bool validating = false;  // on the CPU, making no output
  /// Called with the start before the simulation takes it, and with it context().configuration.
  /// Without it that stays: some 60 bytes a particle.
  std::function<void(const Configuration&)> on_start;
};

class Job {
 public:
  /// Parses the job and makes its components; `restored` (a checkpoint) replaces the system's
  /// source. Throws UserError with every mistake found.
  Job(const JsonFile& file, Registry& registry, PluginLoader& plugins, JobOptions options,
      Archive* restored = nullptr);

  /// For a Run, once.
  RunParts take_parts() { return std::move(parts_); }
  RunControl& control() { return *control_; }
  const SetupContext& context() const { return context_; }
  const JobRecord& record() const { return *context_.record; }
  /// Looks once more whether every output may be written, when others are kept from it. Throws
  /// UserError.
  void check_outputs() const;
  /// What is about to happen, for the console: system, device, precision, plug-ins.
  std::string summary() const { return summary_; }
  /// What is allowed and probably not meant, one line each: "job.json:12: forces: warning: …".
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void parse();
  void name_stages();
  void parse_units();
  void load_plugins();
  void choose_device();
  void make_system(Archive* restored);
  void look_at_start(Archive& restored);
  /// Tells forces on which particles they act.
  void put_forces_on_groups();
  void count_tails();
  void refuse_planar(const char* why);
  void make_components();
  /// The files that the job reads, beside those that its components name.
  void name_inputs();
  /// Refuses outputs in the place of inputs; tells those that are outside of the output directory.
  void check_places();
  /// Refuses what options_.continued_job does not let change.
  void check_changes();
  void make_simulation(bool resumed);
  /// configuration_, which the job no longer has, but for its groups.
  Configuration taken_start();
  void check_forces_of_start();
  /// For a run whose forces or energy become no numbers.
  void explain_undefined();
  /// Is every part of the job used by one of its stages?
  void check_use();
  void find_frozen_types();
  void make_schedules();
  /// Is every observer called at least once? Do updates of attributes and dynamic bonds ever act?
  void check_strides();
  void check_ramps();
  void check_ranges();
  /// Do forces, observers and stages take what stages do to the box?
  void check_boxes();
  void check_objections();
  void check_slow_forces();
  /// Does the job have what knows nothing of particles that are not there?
  void check_reservoir();
  void check_tilts();
  void check_deformations();
  /// Is the device a GPU, or, while validating, may it be the one that the job needs?
  bool for_gpu() const;
  void check_velocities();
  void check_heat_baths();
  void check_topology();
  void check_charges(bool handled);
  void check_acts_once();
  /// Rules and types of "dynamic_bonds", before components are made.
  void resolve_bonds();
  /// Do forces, observers and stages take bonds that are made and broken?
  void check_dynamic_bonds();
  void check_attribute_updates();
  /// What rigid bodies do not go with.
  void check_bodies();
  /// Where the box of these changes.
  void require_lists(const char* what);
  /// What constraints do not go with.
  void check_constraints();
  /// Are there orientations where a force looks at them, and does somebody turn them?
  void check_orientations();
  void keep_stages_with_motion(std::vector<bool>& stages, const std::vector<std::string>& names,
                               const std::string& path, const std::string& why);
  /// Which stages have one of these names or types; none: all. Reports others.
  std::vector<bool> stages_named(const std::vector<std::string>& names, const std::string& path);
  void check_exclusions();
  bool ignores(const std::string& kind) const;
  /// What describe_itself() says of the system, and what a Run needs to know of it.
  void describe_system();
  void describe_itself();
  bool has_problem_under(const std::string& path) const;
  void report(const std::string& path, const std::string& what);
  void warn(const std::string& path, const std::string& what);
  template <class Component>
  std::unique_ptr<Component> make(const Part<Component>& part);
  template <class Component>
  std::vector<std::unique_ptr<Component>> make_all(const std::vector<Part<Component>>& parts);

  const JsonFile& file_;
  Registry& registry_;
  PluginLoader& plugins_;
  JobOptions options_;
  Problems problems_;
  JobSettings settings_;
  std::set<std::string> providers_;
  std::vector<std::string> planar_;  // settings that only two dimensions permit
  std::unique_ptr<RunControl> control_;
  SetupContext context_;
  Configuration configuration_;
  std::optional<Configuration> start_;  // of a resumed job whose box was another one at its start
  std::vector<std::unique_ptr<Force>> forces_;
  RunParts parts_;
  std::optional<BondRules> bond_rules_;
  std::vector<AttributeRule> attribute_rules_;
  std::vector<std::string> exclusions_;  // kinds of excluded_pairs()
  std::string excluded_;                 // in words
  std::string system_summary_, attribute_record_;
  std::string summary_;
  std::vector<std::string> warnings_;
};

/// The JSON Schema of a whole job file.
Json job_schema(const Registry& registry);

}  // namespace perrin
