// run, resume, validate.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "engine/app/commands.h"
#include "engine/app/resumed_job.h"
#include "engine/run/compile_plugin.h"
#include "engine/run/run.h"
#include "engine/run/signals.h"
#include "engine/settings/output_path.h"
#include "io/checkpoint.h"
#include "io/folder_lock.h"
#include "io/writer.h"

namespace perrin {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

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
  const std::string what = why_no_folder(a.output_directory, 1);
  if (!what.empty()) throw UserError("--output-dir: " + what);
}

/// Makes the folders of all outputs, and keeps other runs out of them.
void take_folders(const Job& job, io::FolderLocks& locks) {
  const auto make = [](const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error && !fs::is_directory(folder))
      throw UserError(
          fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  };
  make(job.context().output_directory);
  for (const auto& [file, component] : job.context().outputs) {
    make(folder_of(file));
    locks.take(folder_of(file));
  }
  // Another run may have made its files since the job was checked.
  job.check_outputs();
}

void print_timings(const Simulation& simulation, std::uint64_t steps, double seconds) {
  const Timings& t = simulation.timings;
  const double known = t.neighbors + t.forces + t.integration + t.output;
  const auto row = [&](const char* name, double s) {
    fmt::print("  {:<12} {:>10.3f} s {:>5.1f} %\n", name, s, seconds > 0 ? 100 * s / seconds : 0);
  };
  if (const std::string report = simulation.neighbor_report(); !report.empty())
    fmt::print("neighbours: {}\n", report);
  fmt::print("time\n");
  row("neighbours", t.neighbors);
  row("forces", t.forces);
  row("integration", t.integration);
  row("output", t.output);
  row("other", std::max(0.0, seconds - known));
  row("total", seconds);
  if (steps > 0 && seconds > 0)
    fmt::print("{} steps, {:.5g} steps/s, {:.4g} million particle steps/s\n", steps,
               double(steps) / seconds,
               1e-6 * double(steps) * double(simulation.particles.size()) / seconds);
}

/// The same for `perrin report`, of what was run since the last start.
std::string timings_text(const Simulation& simulation, std::uint64_t steps, double seconds) {
  const Timings& t = simulation.timings;
  return Json{{"neighbors", t.neighbors},
              {"forces", t.forces},
              {"integration", t.integration},
              {"output", t.output},
              {"total", seconds},
              {"steps", steps},
              {"particles", simulation.particles.size()}}
      .dump();
}

/// What the last bits of a run depend on; not the number of threads.
std::string hardware(const Device& device) {
  const std::string text = device.description();
  return device.is_cuda() ? text.substr(0, text.rfind(" ("))
                          : "CPU" + text.substr(text.rfind(", "));
}

std::string job_path_text(const fs::path& path) {
  return fs::absolute(path).lexically_normal().string();
}

void print_warnings(const Job& job) {
  for (const auto& warning : job.warnings()) fmt::print(stderr, "{}\n", warning);
}

/// Runs the job in folders that are locked. Returns what to say of a run that was stopped.
std::string run_in_folders(Job& job, const RunArguments& a, const JobOptions& options,
                           Archive* restored) {
  if (!a.quiet) fmt::print("Perrin {}\n{}", engine_version(), job.summary());
  std::fflush(stdout);
  if (!a.quiet) print_warnings(job);

  RunParts parts = job.take_parts();
  const Device device = job.context().device;
  std::function<std::string()> timings;
  parts.write_checkpoint = [&](const fs::path& path, const Archive& archive) {
    const fs::path folder = fs::absolute(folder_of(path)).lexically_normal();
    Checkpoint c;
    c.job = job.record().job;
    c.version = job.record().version;
    c.facts["device"] = device.name();
    c.facts["hardware"] = hardware(device);
    c.facts["threads"] = std::to_string(device.threads());
    c.facts["job_directory"] = job_path_text(options.job_directory);
    // Relative, so that the folder can be moved as a whole.
    c.facts["output_directory"] = fs::absolute(options.output_directory)
                                      .lexically_normal()
                                      .lexically_relative(folder)
                                      .string();
    if (timings) c.facts["timings"] = timings();
    c.records = archive.records();
    write_checkpoint(path, c);
  };

  Run run(std::move(parts), job.control());
  if (restored) run.restore(std::move(*restored));
  const std::uint64_t first_step = run.has_simulation() ? run.simulation().step() : 0;
  if (run.has_simulation())
    timings = [&] {
      return timings_text(run.simulation(), run.simulation().step() - first_step, run.seconds());
    };
  const SignalWatch signals;
  const bool complete = run.execute();
  if (!a.quiet && run.has_simulation())
    print_timings(run.simulation(), run.simulation().step() - first_step, run.seconds());
  if (complete) return "";
  const std::string where =
      run.has_simulation() ? fmt::format(" at step {}", run.simulation().step()) : "";
  return fmt::format("stopped by {}{}; go on with: perrin resume {}\n", run.stop_reason(), where,
                     run.checkpoint().string());
}

void run_job(Job& job, const RunArguments& a, const JobOptions& options, io::FolderLocks& locks,
             Archive* restored) {
  take_folders(job, locks);
  const std::string stopped = run_in_folders(job, a, options, restored);
  // With the run all its files were closed: whatever that says comes before any good news.
  io::writer().flush_and_wait();
  std::fputs(stopped.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

void run_command(const RunArguments& a) {
  JsonFile file = JsonFile::read(a.file);
  for (const auto& assignment : a.sets) file.set(assignment);
  check_output_directory(a);
  Components components;
  const JobOptions options = options_of(a);
  io::FolderLocks locks;
  locks.take_if_possible(options.output_directory);
  Job job(file, components.registry, components.plugins, options);
  run_job(job, a, options, locks, nullptr);
}

void resume_command(const RunArguments& a) {
  check_output_directory(a);
  io::FolderLocks locks;
  locks.take_if_possible(folder_of(a.file));
  Checkpoint checkpoint = read_checkpoint(a.file);
  JsonFile file = JsonFile::parse(checkpoint.job, a.file);
  const Standing standing = standing_of(checkpoint.records);
  std::vector<std::string> sets = a.sets;
  if (a.more_steps > 0) sets.push_back(longer_by(file.value(), a.more_steps));
  set_resumed_job(file, sets, standing);
  Components components;
  JobOptions options = options_of(a);
  // The same device and number of threads, if not told otherwise: the same bits.
  if (options.device.empty()) {
    options.device = checkpoint.facts["device"];
    if (options.threads == 0 && options.device == "cpu")
      options.threads = std::atoi(checkpoint.facts["threads"].c_str());
  }
  options.job_directory = checkpoint.facts["job_directory"];
  if (a.output_directory.empty())
    options.output_directory =
        (folder_of(a.file) / checkpoint.facts["output_directory"]).lexically_normal();
  check_continued_files(Json::parse(checkpoint.job), file.value(), options.output_directory);
  fs::path next = fs::absolute(a.file);
  if (next.extension() == ".prev") next.replace_extension();
  options.default_checkpoint = next;
  Archive archive = Archive::restoring(std::move(checkpoint.records));
  Job job(file, components.registry, components.plugins, options, &archive);
  if (standing.complete && file.value()["stages"] == Json::parse(checkpoint.job)["stages"]) {
    fmt::print(
        "{0}: this run is complete, nothing is left to do; longer: perrin resume {0} --steps N, or "
        "one stage more: --set 'stages[{1}]={{…}}'\n",
        a.file, standing.stage + 1);
    return;
  }
  const std::string before = checkpoint.facts["hardware"];
  if (const std::string now = hardware(job.context().device); !a.quiet && now != before)
    fmt::print(
        "note: the checkpoint was made on {}: on {} it goes on from the same state, with other "
        "last bits\n",
        before, now);
  run_job(job, a, options, locks, &archive);
}

void show_command(const RunArguments& a) {
  JsonFile file = JsonFile::read(a.file);
  for (const auto& assignment : a.sets) file.set(assignment);
  fmt::print("{}\n", file.value().dump(2));
}

void validate_command(const RunArguments& a) {
  JsonFile file = JsonFile::read(a.file);
  for (const auto& assignment : a.sets) file.set(assignment);
  check_output_directory(a);
  Components components;
  JobOptions options = options_of(a);
  options.validating = true;
  const Job job(file, components.registry, components.plugins, options);
  print_warnings(job);
  fmt::print("{}{}: {}\n", job.summary(), a.file,
             job.warnings().empty() ? "nothing wrong found" : "no mistakes; see the warnings");
}

}  // namespace perrin
