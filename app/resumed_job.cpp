#include "app/resumed_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "app/checkpoint_path.h"
#include "app/job_files.h"
#include "engine/base/error.h"
#include "engine/communicator/communicator.h"
#include "io/new_file.h"

namespace perrin {
namespace {

/// Throws where an object of a component has become one of another type.
void check_types(const Json& before, const Json& after, const std::string& path) {
  if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (std::size_t k = 0; k < before.size(); ++k)
      check_types(before[k], after[k], join_path(path, k));
    return;
  }
  if (!before.is_object() || !after.is_object()) return;
  if (before.contains("type") && before["type"].is_string() && after.contains("type") &&
      after["type"] != before["type"])
    throw UserError(
        fmt::format("--set: {}.type: cannot change in a resumed run, expected {}, got {}", path,
                    shown(before["type"]), shown(after["type"])));
  for (const auto& [key, value] : before.items())
    if (after.contains(key)) check_types(value, after[key], join_path(path, key));
}

/// Throws where a barostat that is at work has been given another speed: how far its changes of the
/// box go was decided when the stage began, and is in the checkpoint.
void check_barostats(const Json& before, const Json& after, const std::string& path) {
  if (before.is_array() && after.is_array())
    for (std::size_t k = 0; k < std::min(before.size(), after.size()); ++k)
      check_barostats(before[k], after[k], join_path(path, k));
  if (!before.is_object() || !after.is_object()) return;
  for (const auto& [key, was] : before.items()) {
    if (!after.contains(key)) continue;
    const Json& now = after[key];
    check_barostats(was, now, join_path(path, key));
    if (key != "barostat" || !was.is_object() || !now.is_object()) continue;
    for (const char* of : {"tau", "compressibility"}) {
      const Json old_value = was.value(of, Json()), new_value = now.value(of, Json());
      if (old_value != new_value)
        throw UserError(fmt::format(
            "--set: {}: cannot change while the barostat is at work, only in stages to come: "
            "expected {}, as in the checkpoint, got {}",
            join_path(join_path(path, key), of), old_value.is_null() ? "none" : shown(old_value),
            new_value.is_null() ? "none" : shown(new_value)));
    }
  }
}

/// Throws where the stage that is running has been given, or has lost, what changes its box: how
/// that began is in the checkpoint, and totals have what it has done since.
void check_box_movers(const Json& before, const Json& after, const std::string& path) {
  const auto part = [](const Json& of, const char* key) {
    return of.is_object() ? of.value(key, Json()) : Json();
  };
  const auto check = [&](const Json& was, const Json& now, const char* key, const std::string& of) {
    const bool added = part(was, key).is_null();
    if (added == part(now, key).is_null()) return;
    throw UserError(
        fmt::format("--set: {}: cannot be {} the stage that is running, only {} stages "
                    "to come",
                    join_path(of, key), added ? "added to" : "taken from", added ? "to" : "from"));
  };
  for (const char* const key : {"shear", "deform"}) check(before, after, key, path);
  check(part(before, "integrator"), part(after, "integrator"), "barostat",
        join_path(path, "integrator"));
  const Json was = part(before, "integrators"), now = part(after, "integrators");
  for (std::size_t k = 0; k < std::min(was.size(), now.size()); ++k)
    check(was[k], now[k], "barostat", join_path(join_path(path, "integrators"), k));
}

/// What a checkpoint must have beside its records, which anybody may have changed and sealed.
void check_contents(const Checkpoint& checkpoint, const Json& job, const std::string& path) {
  const auto refuse = [&](const std::string& what) {
    throw UserError(fmt::format("{}: not a checkpoint of Perrin: {}", path, what));
  };
  for (const char* name : {"device", "hardware", "threads", "job_directory", "output_directory"}) {
    const auto it = checkpoint.facts.find(name);
    if (it == checkpoint.facts.end() || it->second.empty() ||
        it->second.find('\0') != std::string::npos)
      refuse(fmt::format("the entry facts/{} is missing", name));
  }
  if (!job.is_object()) refuse("its job is not an object");
  for (const char* key : {"stages", "observers", "forces"}) {
    const bool needed = key[0] == 's';
    const auto it = job.find(key);
    if (it == job.end() && !needed) continue;
    const bool list = it != job.end() && it->is_array() && !(needed && it->empty());
    if (!list || !std::all_of(it->begin(), it->end(), [](const Json& v) { return v.is_object(); }))
      refuse(fmt::format("its job has no list \"{}\"", key));
  }
}

}  // namespace

Standing standing_of(const std::map<std::string, Record>& records) {
  Archive archive = Archive::restoring({});
  const auto read = [&](const std::string& name, auto& value) {
    const auto it = records.find(name);
    if (it != records.end()) archive = Archive::restoring({{name, it->second}});
    archive(name, value);
  };
  Standing standing;
  read("run/stage", standing.stage);
  read("run/complete", standing.complete);
  return standing;
}

std::string longer_by(const Json& job, std::int64_t steps, const std::vector<std::string>& sets) {
  const Json& stages = job.at("stages");
  const std::size_t last = stages.size() - 1;
  const std::string one_more = join_path("stages", last + 1);
  for (const std::string& given : sets) {
    const std::string assignment = from_start(job, given);
    const std::string path = assignment.substr(0, assignment.find('='));
    if (path == "stages" || path == join_path("stages", last) ||
        path == join_path("stages", last) + ".steps" || path.starts_with(one_more))
      throw UserError(fmt::format(
          "--steps {}: extends {}, and --set {} changes its steps or what the last stage is: "
          "expected one of the two options",
          steps, join_path("stages", last), assignment));
  }
  const auto before = stages[last].find("steps");
  if (before == stages[last].end() || !before->is_number_integer())
    throw UserError(fmt::format("--steps: {} ({}) has no \"steps\": extend it with --set",
                                join_path("stages", last), stages[last].value("type", "")));
  return fmt::format("{}.steps={}", join_path("stages", last), before->get<std::int64_t>() + steps);
}

void set_resumed_job(JsonFile& job, const std::vector<std::string>& assignments,
                     const Standing& standing, bool repeated) {
  const Json before = job.value();
  for (const std::string& given : assignments) {
    const std::string assignment = from_start(job.value(), given);
    const std::string path = assignment.substr(0, assignment.find('='));
    const std::string key = path.substr(0, path.find_first_of(".["));
    const auto is = [&](std::initializer_list<const char*> keys) {
      return std::any_of(keys.begin(), keys.end(), [&](const char* k) { return key == k; });
    };
    if (key == "device")
      throw UserError(
          fmt::format("--set {}: choose the device of a resumed run with --device", assignment));
    if (is({"system", "velocity", "seed", "units", "$schema", "reservoir", "bodies", "orientations",
            "constraints"}))
      throw UserError(
          fmt::format("--set {}: {} cannot change in a resumed run; forces, observers, stages, "
                      "neighbors, title, author and plugins can",
                      assignment, key));
    const Json known = repeated ? job.value() : Json();
    job.set(assignment);
    if (repeated && job.value() == known) continue;
    for (std::uint64_t k = 0; k < standing.stage; ++k)
      if (path.rfind(fmt::format("stages[{}]", k), 0) == 0)
        throw UserError(fmt::format("--set {}: this stage is complete; the run is in stages[{}]",
                                    assignment, standing.stage));
  }
  const Json& after = job.value();
  for (const char* list : {"forces", "observers"}) {
    const std::size_t was = before.contains(list) ? before[list].size() : 0;
    const std::size_t now = after.contains(list) ? after[list].size() : 0;
    if (now > was)
      throw UserError(
          fmt::format("--set: a resumed run has its {} {}: none can be added", was, list));
    if (was > 0) check_types(before[list], after[list], list);
  }
  if (before.contains("stages") && standing.stage < before["stages"].size() &&
      after["stages"].is_array() && standing.stage < after["stages"].size()) {
    const std::string path = join_path("stages", standing.stage);
    const Json &was = before["stages"][standing.stage], &now = after["stages"][standing.stage];
    check_types(was, now, path);
    check_barostats(was, now, path);
    check_box_movers(was, now, path);
  }
}

void check_continued_files(const Json& before, const Json& job,
                           const std::filesystem::path& output_directory) {
  if (!before.contains("observers") || !job.contains("observers") || !job["observers"].is_array())
    return;
  const Json &was = before["observers"], &now = job["observers"];
  for (std::size_t k = 0; k < was.size() && k < now.size(); ++k) {
    const auto has_name = [](const Json& o) { return o.contains("file") && o["file"].is_string(); };
    if (was[k].value("type", Json()) == "checkpoint" || !has_name(was[k])) continue;
    if (!has_name(now[k])) continue;  // said elsewhere
    const auto old_name = was[k]["file"].get<std::string>();
    const auto new_name = now[k]["file"].get<std::string>();
    std::error_code ignored;
    if (new_name == old_name || new_name.empty() ||
        std::filesystem::exists(output_directory / new_name, ignored))
      continue;
    throw UserError(
        fmt::format("--set: {}.file: a resumed run appends to its file \"{}\"; got \"{}\", which "
                    "does not exist in {}",
                    join_path("observers", k), old_name, new_name, output_directory.string()));
  }
}

void check_moved_files(const ResumedJob& resumed, const Job& job) {
  if (!io::writes_files()) return;
  const auto& facts = resumed.checkpoint.facts;
  const std::filesystem::path before =
      (folder_of(resumed.path) / facts.at("output_directory")).lexically_normal();
  Json made_of = resumed.file.value();
  for (const auto& [file, component] : job.context().outputs) {
    const Json* const writer = component.empty() ? nullptr : at_path(made_of, component);
    if (writer == nullptr || !writer->is_object() || writer->value("type", "") == "checkpoint")
      continue;
    const std::filesystem::path old =
        before / file.lexically_relative(job.context().output_directory.lexically_normal());
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored) && std::filesystem::exists(old, ignored))
      throw UserError(
          fmt::format("--output-dir: {} does not exist: a resumed run appends to its files; copy "
                      "those in {} to {} first",
                      file.string(), before.string(), job.context().output_directory.string()));
  }
}

ResumedJob read_resumed_job(const std::filesystem::path& given,
                            std::vector<std::string> assignments, std::int64_t more_steps,
                            bool repeated) {
  const std::filesystem::path path = checkpoint_path(given);
  Checkpoint checkpoint = read_checkpoint(path);
  JsonFile file = JsonFile::parse(checkpoint.job, path.string());
  check_contents(checkpoint, file.value(), path.string());
  const Standing standing = standing_of(checkpoint.records);
  if (more_steps > 0) assignments.push_back(longer_by(file.value(), more_steps, assignments));
  set_resumed_job(file, assignments, standing, repeated);
  const bool complete =
      standing.complete &&
      file.value()["stages"] == Json::parse(checkpoint.job, nullptr, true, true)["stages"];
  return {path, std::move(checkpoint), std::move(file), standing.stage, complete};
}

void continue_options(const ResumedJob& resumed, JobOptions& options, bool other_output_directory) {
  auto facts = resumed.checkpoint.facts;
  if (options.device.empty()) {
    const bool as_many =
        std::max(1, std::atoi(facts["processes"].c_str())) == Communicator::world().count();
    options.device = facts["device"];
    if (options.threads == 0 && options.device == "cpu" && as_many)
      options.threads = std::atoi(facts["threads"].c_str());
    if (Communicator::world().several() && options.device != "cpu") options.device = "cuda";
  }
  options.continued_job = resumed.checkpoint.job;
  options.complete_stages = resumed.stage;
  options.job_directory = facts["job_directory"];
  if (!other_output_directory) {
    options.trusted_directory = folder_of(resumed.path);
    options.output_directory =
        (options.trusted_directory / facts["output_directory"]).lexically_normal();
  }
  if (io::writes_files())
    check_continued_files(Json::parse(resumed.checkpoint.job, nullptr, true, true),
                          resumed.file.value(), options.output_directory);
  std::filesystem::path next = std::filesystem::absolute(resumed.path);
  if (next.extension() == ".prev") next.replace_extension();
  options.default_checkpoint = next;
}

}  // namespace perrin
