#include "engine/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "engine/md_stage.h"
#include "engine/rng_command.h"
#include "forces/register.h"
#include "integrators/register.h"
#include "io/convert.h"
#include "io/register.h"

namespace perrin {

Components::Components() {
  register_sources(registry);
  register_forces(registry);
  register_integrators(registry);
  register_io(registry);
  register_md_stage(registry);
}

double parse_duration(const std::string& text) {
  double seconds = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t used = 0;
    double value = -1;
    try {
      value = std::stod(text.substr(i), &used);
    } catch (const std::logic_error&) {
    }
    const char unit = i + used < text.size() ? text[i + used] : 's';
    const double size = unit == 's'   ? 1
                        : unit == 'm' ? 60
                        : unit == 'h' ? 3600
                        : unit == 'd' ? 86400
                                      : 0;
    if (!(value >= 0) || size == 0)
      throw UserError(
          fmt::format("--time-limit {}: expected a time such as 3600, 90s, 30m, 1h30m", text));
    seconds += value * size;
    i += used + 1;
  }
  return seconds;
}

namespace {

void add_run_options(CLI::App& app, RunArguments& a) {
  app.add_option("--device", a.device, "auto, cpu, cuda or cuda:N");
  app.add_option("--threads", a.threads, "threads on the CPU (default: all cores)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--set", a.sets, "change a value of the job: path=value")->allow_extra_args(false);
  app.add_option("--output-dir", a.output_directory, "folder for output files");
  app.add_option("--time-limit", a.time_limit,
                 "stop after this wall time, with a checkpoint: 3600, 30m, 1h30m");
  app.add_flag("--quiet", a.quiet, "print errors only");
}

int say(ExitStatus status, const char* what, const std::string& text) {
  // Each line of the user's mistakes begins with its place; the others name the program.
  if (status == ExitStatus::user)
    std::fputs((text + "\n").c_str(), stderr);
  else
    std::fputs(fmt::format("perrin: {}: {}\n", what, text).c_str(), stderr);
  return static_cast<int>(status);
}

}  // namespace

int run_program(int argc, char** argv) {
  // These two have command lines of their own.
  if (argc > 1 && std::string(argv[1]) == "rng") return rng_command(argc - 1, argv + 1);
  if (argc > 1 && std::string(argv[1]) == "convert") return convert_command(argc - 1, argv + 1);

  CLI::App app("Perrin: particles in soft matter, on CPU and GPU");
  app.set_version_flag("--version", std::string(engine_version()));
  app.require_subcommand(1);
  RunArguments arguments;
  std::string type;

  auto* run = app.add_subcommand("run", "run a job");
  run->add_option("JOB", arguments.file, "job file")->required();
  add_run_options(*run, arguments);
  run->add_flag("--overwrite", arguments.overwrite, "replace output files that exist");
  run->callback([&] { run_command(arguments); });

  auto* resume = app.add_subcommand("resume", "go on from a checkpoint");
  resume->add_option("CHECKPOINT", arguments.file, "checkpoint file")->required();
  add_run_options(*resume, arguments);
  resume->callback([&] { resume_command(arguments); });

  auto* validate =
      app.add_subcommand("validate", "check a job and its input files without running");
  validate->add_option("JOB", arguments.file, "job file")->required();
  validate->add_option("--set", arguments.sets, "change a value of the job: path=value")
      ->allow_extra_args(false);
  validate->add_option("--threads", arguments.threads, "threads")->check(CLI::Range(1, 4096));
  validate->callback([&] { validate_command(arguments); });

  app.add_subcommand("schema", "print the JSON Schema of job files")->callback(schema_command);
  auto* help = app.add_subcommand("help", "list what a job can name, or explain one type");
  help->add_option("TYPE", type, "a type, or \"job\" for the top level of a job file");
  help->callback([&] { help_command(type); });
  app.add_subcommand("plugins", "list the plug-ins that are found")->callback(plugins_command);
  app.add_subcommand("info", "print versions, build and devices")->callback(info_command);
  app.add_subcommand("convert", "convert trajectories and configurations between formats");
  app.add_subcommand("rng", "write random numbers, list the generators");

  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    return status == 0 ? 0 : static_cast<int>(ExitStatus::user);
  } catch (const UserError& e) {
    return say(ExitStatus::user, "", e.what());
  } catch (const RunError& e) {
    return say(ExitStatus::run, "the run stopped", e.what());
  } catch (const std::bad_alloc&) {
    return say(ExitStatus::run, "the run stopped", "out of memory");
  } catch (const std::exception& e) {
    return say(ExitStatus::bug, "this is a bug", e.what());
  }
}

}  // namespace perrin
