#include "app/ensemble/ensemble_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ensemble/ensemble_files.h"
#include "app/ensemble/ensemble_run.h"
#include "app/ensemble/ensemble_store.h"
#include "app/resumed_job.h"
#include "app/same_run.h"
#include "engine/base/error.h"
#include "engine/communicator/communicator.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

std::string device_of(const JsonFile& file, const JobOptions& options) {
  if (!options.device.empty()) return options.device;
  const Json& job = file.value();
  return job.contains("device") && job["device"].is_string() ? job["device"].get<std::string>()
                                                             : "auto";
}

/// Whether one path names the other's setting, or an object that it is in.
bool overlap(const std::string& a, const std::string& b) {
  const std::string& shorter = a.size() < b.size() ? a : b;
  const std::string& longer = a.size() < b.size() ? b : a;
  return longer.starts_with(shorter) &&
         (longer.size() == shorter.size() || longer[shorter.size()] == '.' ||
          longer[shorter.size()] == '[');
}

/// Applies changes to the job of an ensemble; what each system can have of them it says itself.
/// Entries that are counted from the end are those of the job as it is: `sets` says which then.
void change_job(JsonFile& file, std::vector<std::string>& sets) {
  for (std::string& assignment : sets) {
    assignment = from_start(file.value(), assignment);
    const std::string path = assignment.substr(0, assignment.find('='));
    if (path.substr(0, path.find_first_of(".[")) == "ensemble")
      throw UserError(fmt::format(
          "--set {}: \"ensemble\" cannot change in a resumed ensemble; begin another one",
          assignment));
    const Json& ensemble = file.value()["ensemble"];
    if (ensemble.contains("vary"))
      for (const auto& [varied, values] : ensemble["vary"].items())
        if (overlap(path, varied_path(file.value(), varied)))
          throw UserError(fmt::format(
              "--set {}: {} varies from system to system; set it in one of them by perrin resume "
              "FOLDER/SYSTEM --set",
              assignment, varied));
    file.set(assignment);
  }
}

}  // namespace

void run_ensemble(JsonFile file, JobOptions options, WarningsHeard::Function hears) {
  Components components;
  Communicator& all = Communicator::world();
  require_same_program(file.value(), options);
  const Json whole = file.value();
  const Variations variations(std::move(file), components.registry);
  options.device = device_of(variations.file(), options);
  const bool replaced = is_ensemble_folder(options.output_directory);
  if (replaced && !options.overwrite)
    throw UserError(fmt::format(
        "{0}: has an ensemble already: perrin resume {0} continues it, --overwrite replaces it",
        options.output_directory.string()));
  const fs::path store = options.output_directory / ensemble_store_name;
  if (std::error_code ignored;
      variations.settings().files == "one" && fs::exists(store, ignored) && !options.overwrite)
    throw UserError(fmt::format("{}: exists; --overwrite replaces it", store.string()));
  EnsembleRun run(variations, options, {}, std::move(hears));
  run.validate();
  all.barrier();  // all have looked at what is there
  if (all.first()) {
    make_folder(options.output_directory);
    for (std::int64_t k = 0; k < variations.count(); ++k) {
      std::error_code ignored;
      fs::remove(options.output_directory / variations.name(k) / system_file_name, ignored);
    }
    std::error_code ignored;
    if (replaced) fs::remove(options.output_directory / exchange_file_name, ignored);
    if (options.overwrite && (replaced || variations.settings().files == "one"))
      fs::remove(store, ignored);  // of the one before
    Json job = whole;
    job["seed"] = variations.seed();
    write_ensemble_file(options.output_directory, variations,
                        {job.dump(),
                         fs::absolute(options.job_directory).lexically_normal().string(),
                         options.device,
                         {}});
  }
  run.execute();
}

void validate_ensemble(JsonFile file, JobOptions options) {
  Components components;
  require_same_program(file.value(), options);
  const std::string name = file.name();
  const Variations variations(std::move(file), components.registry);
  EnsembleRun run(variations, std::move(options), {});
  run.validate();
  fmt::print("ensemble  {} systems\n{}: valid\n", variations.count(), name);
}

void resume_ensemble(const fs::path& folder, const EnsembleChanges& changes, JobOptions options,
                     WarningsHeard::Function hears) {
  EnsembleRecord record = read_ensemble_file(folder);
  Components components;
  JsonFile file = JsonFile::parse(record.job, (folder / ensemble_file_name).string());
  std::vector<std::string> sets = changes.sets;
  if (changes.more_steps > 0) sets.push_back(longer_by(file.value(), changes.more_steps, sets));
  change_job(file, sets);
  record.job = file.value().dump();
  record.changes.insert(record.changes.end(), sets.begin(), sets.end());
  const Variations variations(std::move(file), components.registry);
  options.job_directory = record.job_directory;
  options.output_directory = folder;
  if (options.device.empty()) options.device = record.device;
  require_same_program(Json::parse(record.job), options);
  EnsembleRun run(variations, options, {true, record.changes}, std::move(hears));
  if (!sets.empty()) {
    run.validate();
    std::vector<fs::path> ended;  // they were, but now they are to go on
    for (const std::int64_t k : run.left())
      if (system_ended(folder / variations.name(k)) == true)
        ended.push_back(folder / variations.name(k) / system_file_name);
    if (!ended.empty() && variations.settings().files == "one")
      throw UserError(fmt::format(
          "{0}: the files of complete systems are in {1}, and cannot be continued there; take them "
          "out (perrin.Ensemble.extract() of Python) and go on with one system: perrin resume "
          "{0}/SYSTEM",
          folder.string(), ensemble_store_name));
    Communicator& all = Communicator::world();
    all.barrier();  // all have looked at what is there
    if (all.first()) {
      for (const fs::path& path : ended) fs::remove(path);
      write_ensemble_file(folder, variations, record);
    }
    all.barrier();
  }
  run.execute();
}

}  // namespace perrin
