// run, resume, validate.
#include <fmt/format.h>

#include <functional>

#include "app/checkpoint_path.h"
#include "app/commands.h"
#include "app/ensemble/ensemble_commands.h"
#include "app/ensemble/ensemble_files.h"
#include "app/job_files.h"
#include "app/measure_errors.h"
#include "app/resumed_job.h"
#include "app/run_console.h"
#include "app/same_run.h"
#include "engine/job/compile_plugin.h"
#include "engine/run/run.h"
#include "engine/run/signals.h"
#include "engine/settings/output_path.h"
#include "io/new_file.h"
#include "io/writer.h"

namespace perrin {
namespace {

namespace fs = std::filesystem;

JobOptions options_of(const RunArguments& a) {
  say_what_is_compiled(!a.quiet);
  JobOptions options;
  options.device = a.device;
  options.threads = a.threads;
  options.job_directory = folder_of(a.file);
  options.output_directory =
      a.output_directory.empty() ? fs::path(".") : fs::path(a.output_directory);
  options.overwrite = a.overwrite;
  options.quiet = a.quiet;
  options.time_limit = parse_duration(a.time_limit);
  return options;
}

void check_output_directory(const RunArguments& a) {
  if (!io::writes_files()) return;
  const std::string what = why_no_folder(a.output_directory, 1);
  if (!what.empty()) throw UserError("--output-dir: " + what);
}

/// What the log says was asked for.
std::string command_text(const char* command, const RunArguments& a) {
  std::string text = fmt::format("{} {}", command, a.file);
  for (const std::string& assignment : a.sets) text += fmt::format(" --set '{}'", assignment);
  if (a.more_steps > 0) text += fmt::format(" --steps {}", a.more_steps);
  if (!a.output_directory.empty()) text += " --output-dir " + a.output_directory;
  return text;
}

/// Runs the job in folders that are locked. Returns what to say of a run that was stopped.
std::string run_in_folders(Job& job, RunConsole& console, const JobOptions& options,
                           Archive* restored) {
  const std::string processes = processes_summary(job);
  console.say(fmt::format("Perrin {}\n{}{}", engine_version(), job.summary(), processes));
  say_warnings(console, job);

  RunParts parts = job.take_parts();
  parts.log = &console.log();
  require_same("files of forces", parts.forces_record);
  MoreFacts timings;
  parts.write_checkpoint = checkpoint_writer(job, options, timings);

  Run run(std::move(parts), job.control());
  if (restored) run.restore(std::move(*restored));
  const std::uint64_t first_step = run.has_simulation() ? run.simulation().step() : 0;
  if (run.has_simulation())
    timings = [&](auto& facts) {
      facts["timings"] =
          timings_json(run.simulation(), run.simulation().step() - first_step, run.seconds());
    };
  const bool complete = run.execute();
  if (run.has_simulation()) {
    const std::uint64_t steps = run.simulation().step() - first_step;
    console.say(timings_table(run.simulation(), steps, run.seconds()));
    console.log().put(timings_mark + timings_json(run.simulation(), steps, run.seconds()));
  }
  if (complete) return "";
  const std::string where =
      run.has_simulation() ? fmt::format(" at step {}", run.simulation().step()) : "";
  return fmt::format("stopped by {}{}; continue with: perrin resume {}\n", run.stop_reason(), where,
                     run.checkpoint().string());
}

/// `command` and `note` are for the beginning of the log; an empty note is none.
void run_job(Job& job, RunConsole& console, const std::string& command, const std::string& note,
             const JobOptions& options, io::FolderLocks& locks, Archive* restored) {
  const SignalWatch signals;  // until the last file is closed
  take_folders(job, locks);
  console.open_log(options.output_directory, command);
  console.say(note);
  try {
    const std::string stopped = run_in_folders(job, console, options, restored);
    // With the run all its files were closed: whatever that says comes before any good news.
    io::writer().flush_and_wait();
    console.say_always(stopped);
  } catch (const std::exception& e) {
    console.error(e.what());
    throw;
  }
}

}  // namespace

void run_command(const RunArguments& a) {
  // `perrin run JOB | head` is no reason to end a run without a checkpoint.
  const IgnoredSignal closed_pipe(SIGPIPE);
  JsonFile file = JsonFile::read(a.file);
  for (const auto& assignment : a.sets) file.set(from_start(file.value(), assignment));
  check_output_directory(a);
  JobOptions options = options_of(a);
  options.job_file = a.file;
  if (Variations::has(file)) return run_ensemble(std::move(file), std::move(options));
  options.on_start = require_same_particles;
  Components components;
  require_same_program(file.value(), options);
  io::FolderLocks locks;
  locks.take_if_possible(options.output_directory);
  Job job(file, components.registry, components.plugins, options);
  require_same_parts(job, components.plugins);
  RunConsole console(a.quiet);
  run_job(job, console, command_text("perrin run", a), "", options, locks, nullptr);
}

void resume_command(const RunArguments& a) {
  const IgnoredSignal closed_pipe(SIGPIPE);
  check_output_directory(a);
  if (is_ensemble_folder(a.file)) {
    if (!a.output_directory.empty())
      throw UserError(fmt::format(
          "{0}: is the folder of an ensemble, which goes on there; --output-dir is for one system: "
          "perrin resume {0}/SYSTEM",
          a.file));
    return resume_ensemble(a.file, {a.sets, a.more_steps}, options_of(a));
  }
  io::FolderLocks locks;
  const fs::path file = checkpoint_path(a.file);
  locks.take_if_possible(folder_of(file));
  ResumedJob resumed = read_resumed_job(file, a.sets, a.more_steps);
  Components components;
  JobOptions options = options_of(a);
  continue_options(resumed, options, !a.output_directory.empty());
  options.on_start = require_same_particles;
  require_same_program(resumed.file.value(), options);
  require_same_checkpoint(resumed.checkpoint);
  Archive archive = Archive::restoring(std::move(resumed.checkpoint.records));
  Job job(resumed.file, components.registry, components.plugins, options, &archive);
  if (!a.output_directory.empty()) check_moved_files(resumed, job);
  if (resumed.complete) {
    fmt::print(
        "{0}: this run is complete; extend it by perrin resume {0} --steps N, or add a stage by "
        "--set 'stages[{1}]={{…}}'\n",
        file.string(), resumed.stage + 1);
    return;
  }
  require_same_parts(job, components.plugins);
  const std::string before = resumed.checkpoint.facts["hardware"];
  std::string note;
  if (const std::string now = hardware(job.context().device); now != before)
    note = fmt::format(
        "note: the checkpoint was written on {}, the run continues on {}: from the same state, but "
        "not bitwise identically\n",
        before, now);
  RunConsole console(a.quiet);
  run_job(job, console, command_text("perrin resume", a), note, options, locks, &archive);
}

void show_command(const RunArguments& a) {
  JsonFile file = JsonFile::read(a.file);
  for (const auto& assignment : a.sets) file.set(from_start(file.value(), assignment));
  fmt::print("{}\n", file.value().dump(2));
}

void validate_command(const RunArguments& a) {
  JsonFile file = JsonFile::read(a.file);
  for (const auto& assignment : a.sets) file.set(from_start(file.value(), assignment));
  check_output_directory(a);
  JobOptions options = options_of(a);
  options.validating = true;
  options.job_file = a.file;
  if (Variations::has(file)) {
    if (a.measure)
      throw UserError(fmt::format(
          "{}: --measure: is for one system, but the job has an \"ensemble\": measure one without",
          a.file));
    return validate_ensemble(std::move(file), std::move(options));
  }
  Components components;
  require_same_program(file.value(), options);
  Job job(file, components.registry, components.plugins, options);
  RunConsole console(false);
  say_warnings(console, job);
  const std::string measured = a.measure ? measured_errors(job, file.value(), a.file) : "";
  fmt::print("{}{}{}: {}\n", job.summary(), measured, a.file,
             job.warnings().empty() ? "valid" : "valid, with warnings");
}

}  // namespace perrin
