// What the maker of a component is given, and how it reports the user's mistakes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/settings/settings.h"
#include "engine/settings/units.h"
#include "engine/system/configuration.h"
#include "rng/keyed.h"

namespace perrin {

class RunControl;

/// What is written into output files about the run that made them.
struct JobRecord {
  std::string job;  // the job as run: JSON with every default, and --set applied
  std::uint64_t seed = 0;
  std::string version;  // of Perrin, with the build tag
  std::string device;   // Device::description()
  std::string plugins;  // "name version, …"; may be empty
  std::string author = "N/A";
  std::vector<std::string> stages;  // their names, of a job that has a system
};

/// What all components of a job share. For a test, set `configuration` and leave the rest.
struct SetupContext {
  const Configuration* configuration = nullptr;
  bool no_system = false;  // the job has none: asking for particles is its mistake
  Device device;
  std::uint64_t seed = 1;
  Units units;
  std::filesystem::path job_directory = ".", output_directory = ".";
  bool validating = false;  // nothing will run: output files are looked at
  bool resuming = false;    // output files exist already and will be continued
  bool overwrite = false;
  std::shared_ptr<const JobRecord> record = std::make_shared<const JobRecord>();
  RunControl* control = nullptr;
  /// Takes the user's mistakes: full path in the job ("forces[0].cutoff"), and what is wrong.
  std::function<void(const std::string& path, const std::string& what)> report;
  /// Takes what the user should know, in the same way; empty: no message.
  std::function<void(const std::string& path, const std::string& what)> warn;
  std::map<std::filesystem::path, std::string> outputs;  // file → the path in the job that names it
  std::map<Purpose, std::vector<std::string>> drawers;  // purpose → the paths of those who draw
  std::vector<std::string> exclusions{"bonds"};         // what neighbors.exclusions says
  std::map<std::string, Group> all{};                   // "all", if somebody asked for it
  std::vector<Group> watched{};                         // groups whose totals are measured
  std::vector<bool> frozen_types{};             // [type]: no stage moves its particles; empty: none
  std::optional<BondedCounts> dynamic_bonds{};  // the most that "dynamic_bonds" can make
};

class Setup {
 public:
  Setup(SetupContext& context, std::string path) : context_(context), path_(std::move(path)) {}

  /// The particles as the source made them; throws BugError in the maker of a Source.
  const Configuration& configuration() const;
  const Device& device() const { return context_.device; }  // the CPU while only validating
  std::uint64_t seed() const { return context_.seed; }      // of the job
  /// Which of the components that draw random numbers for this purpose this one is: 0 for the first
  /// in the job. Those that act at the same time, or count steps of their own, draw from
  /// instance_seed(seed, instance), so that no two of them share their numbers.
  std::uint32_t instance(Purpose purpose);
  /// That seed, for those who need no simulation.
  std::uint64_t seed(Purpose purpose) { return instance_seed(seed(), instance(purpose)); }
  /// Whether pair forces leave out the pairs of a kind ("bonds", "angles", "dihedrals",
  /// "molecules").
  bool excludes(const std::string& kind) const;
  /// Whether no stage moves the particles of either type: what acts between them changes nothing,
  /// and pair forces leave these pairs out.
  bool both_frozen(std::size_t a, std::size_t b) const {
    const auto& frozen = context_.frozen_types;
    return !frozen.empty() && frozen[a] && frozen[b];
  }
  /// Where bonds are made and broken while the job runs ("dynamic_bonds"): how many there can be.
  /// Those of configuration() are then the first ones, or a checkpoint's.
  const std::optional<BondedCounts>& dynamic_bonds() const { return context_.dynamic_bonds; }
  double k_boltzmann() const { return context_.units.k_boltzmann; }
  const Units& units() const { return context_.units; }
  /// Relative input and output paths start here.
  const std::filesystem::path& job_directory() const { return context_.job_directory; }
  const std::filesystem::path& output_directory() const { return context_.output_directory; }
  bool validating() const { return context_.validating; }
  bool resuming() const { return context_.resuming; }
  bool overwrite() const { return context_.overwrite; }
  bool has_control() const { return context_.control != nullptr; }
  /// Shared by all: it holds the whole job.
  const std::shared_ptr<const JobRecord>& record() const { return context_.record; }
  /// Stop requests and checkpoints (engine/components/run_control.h). Throws BugError outside of a
  /// job.
  RunControl& control() const;
  /// Where this component stands in the job: "observers[1]".
  const std::string& path() const { return path_; }

  /// Resolves the name of a file to be read; reports an error at `key` where it cannot be.
  std::filesystem::path input_file(const std::string& name, const std::string& key);
  /// Resolves the name of a file to be written, and reports an error at `key` where it cannot be
  /// written or exists and may not be replaced (engine/settings/output_path.h), where its folder is
  /// mistyped (absolute, and not there), or where another component of this job writes it. Makes no
  /// file.
  std::filesystem::path output_file(const std::string& name, const std::string& key);

  /// Reports a mistake at a key of this component's settings, e.g. error("cutoff", "must be below
  /// half the box (5.2), got 6"). Keys may be paths: "pairs[2].sigma". All mistakes of a job are
  /// shown together, each as `job.json:14: forces[0].cutoff: must be …`.
  void error(const std::string& key, const std::string& what);
  /// Tells what is no mistake but should be known.
  void warn(const std::string& key, const std::string& what);
  /// Reports at `key` a vector with a z component where the system has two dimensions.
  void refuse_z(const std::string& key, const Vec3<double>& v);

  /// Index of a particle type; reports an error at `key` (with the known names) and returns 0 if
  /// unknown.
  std::uint32_t type_index(const std::string& name, const std::string& key);

  /// A group of the job's particles, or "all". Reports an error at `key` (with the known names) and
  /// returns nullptr if unknown. Valid as long as the configuration is.
  const Group* group(const std::string& name, const std::string& key);
  /// The same, where its particles must stay the same: reports a group that is chosen anew.
  const Group* fixed_group(const std::string& name, const std::string& key);

  /// For an observer of totals: those of this group are to be measured. Returns its place in
  /// Instant::groups.
  std::size_t watch(const Group& group);

  /// The nested component; nullptr after an error, or where an optional part is absent.
  template <class Component>
  std::unique_ptr<Component> make(const Part<Component>& part) {
    return std::unique_ptr<Component>(static_cast<Component*>(make_part(part)));
  }

 private:
  std::string path_of(const std::string& key) const;
  void* make_part(const ComponentSettings& part);
  SetupContext& context_;
  std::string path_;
};

}  // namespace perrin
