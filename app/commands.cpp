#include "app/commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>
#include <system_error>

#include "app/examples_command.h"
#include "app/exit_status.h"
#include "app/new_plugin_command.h"
#include "app/one_voice.h"
#include "app/report/report_command.h"
#include "app/rng_command.h"
#include "app/set_completion.h"
#include "app/shell.h"
#include "engine/base/printable.h"
#include "engine/communicator/communicator.h"
#include "engine/device/threads.h"
#include "engine/run/md_stage.h"
#include "engine/run/signals.h"
#include "engine/settings/other_names.h"
#include "forces/register.h"
#include "integrators/register.h"
#include "io/convert.h"
#include "io/formats.h"
#include "io/register.h"
#include "perrin/commit.h"

namespace perrin {

Components::Components() {
  register_sources(registry);
  register_forces(registry);
  register_integrators(registry);
  register_io(registry);
  register_md_stage(registry);
}

namespace {

/// Of a number of steps or words: an integer from 1.
CLI::Validator from_one() {
  return {[](const std::string& text) {
            const bool small = text.starts_with('-') || std::strtod(text.c_str(), nullptr) < 1;
            return small ? fmt::format("expected an integer from 1, got {}", printable(text)) : "";
          },
          "POSITIVE"};
}

}  // namespace

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

/// Where the program is given its words, several assignments may follow one --set: a word after an
/// assignment that is one as well, and no file (a job may be "a=1.json").
std::vector<const char*> with_every_set(int argc, const char* const* argv) {
  static constexpr const char* option = "--set";
  const auto assigns = [](const std::string& word) {
    std::error_code ignored;
    return word.find('=') != std::string::npos && !word.starts_with('-') &&
           !std::filesystem::exists(word, ignored);
  };
  std::vector<const char*> words;
  bool follows = false;  // this word an assignment
  for (int k = 0; k < argc; ++k) {
    const std::string word = argv[k];
    const bool named = k > 0 && argv[k - 1] == std::string(option);
    if (follows && !named && assigns(word)) words.push_back(option);
    follows = named || word.starts_with("--set=") || (follows && assigns(word));
    words.push_back(argv[k]);
  }
  return words;
}

void add_sets(CLI::App& app, RunArguments& a) {
  app.add_option("--set", a.sets,
                 "change values of the job: path=value; an index equal to the length of a list "
                 "appends to it")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

void add_run_options(CLI::App& app, RunArguments& a) {
  app.add_option("--device", a.device, "auto, cpu, cuda or cuda:N");
  app.add_option("--threads", a.threads, "threads on the CPU (default: all cores)")
      ->check(CLI::Range(1, Threads::most));
  add_sets(app, a);
  app.add_option("--output-dir", a.output_directory, "folder for output files");
  app.add_option("--time-limit", a.time_limit,
                 "stop after this wall time, with a checkpoint: 3600, 30m, 1h30m");
  app.add_flag("--quiet", a.quiet, "print only errors and warnings of the job");
}

/// What is in OUT otherwise than in IN.
void add_changes(CLI::App& app, ConvertOptions& options) {
  app.add_flag("--unwrap", options.unwrapped,
               "positions without jumps at the faces of the box, instead of images");
  app.add_flag("!--no-velocities", options.velocities, "ignore the velocities of IN");
  app.add_option(
      "--atom-style", options.atom_style,
      "atom style of IN (LAMMPS data), overrides the file: full, \"hybrid sphere bond\"");
  app.add_option("--dimension", options.dimension, "dimension of IN, overrides the file: 2 or 3")
      ->check(CLI::Range(2, 3));
  app.add_option(
         "--box", options.box,
         "box of IN, overrides the file: Lx,Ly,Lz or Lx,Ly,Lz,xy,xz,yz, with the lower corner at 0")
      ->delimiter(',');
  app.add_option("--group", options.groups,
                 "groups of particles to read from IN (H5MD, under /particles); several are joined")
      ->delimiter(',');
  app.add_option("--types", options.types, "rename types: A=Ar,B=Kr (ASE requires element names)")
      ->delimiter(',');
  app.add_option("--origin", options.origin,
                 "lower corner of the box: at 0 (corner), at -L/2 (middle), or as in IN (file); "
                 "for extended XYZ and LAMMPS data")
      ->check(CLI::IsMember({"file", "corner", "middle"}));
  app.add_option("--precision", options.precision,
                 "precision of positions and velocities: single, double (default: that of IN where "
                 "IN and OUT are both H5MD or GSD, or OUT is H5MD; else single); for H5MD and GSD")
      ->check(CLI::IsMember({"single", "double"}));
  app.add_option("--compression", options.compression,
                 "compression of OUT: none, deflate, rounded; for H5MD")
      ->check(CLI::IsMember({"none", "deflate", "rounded"}));
  app.add_option("--decimals", options.decimals,
                 "decimal places of rounded positions; for H5MD, XTC and GRO")
      ->check(CLI::Range(0, 9));
  app.add_option("--chunk", options.chunk,
                 "chunk layout: frame, or time for reading the paths of single particles (not for "
                 "VMD); for H5MD")
      ->check(CLI::IsMember({"frame", "time"}));
}

void add_convert(CLI::App& app, ConvertOptions& options) {
  auto* convert_files =
      app.add_subcommand("convert", "convert trajectories and configurations between formats");
  const std::vector<std::string> formats = io::format_choices();
  const std::vector<std::string> written = io::format_choices(true);
  convert_files->add_option("IN", options.in, "input file")->required();
  convert_files->add_option("OUT", options.out, "output file")->required();
  convert_files->add_option("--frame", options.frame,
                            "convert one frame, counted from 0; negative: from the end (default: "
                            "all; LAMMPS data: the last)");
  convert_files
      ->add_option("--from", options.from,
                   fmt::format("format of IN: {}", fmt::join(formats, ", ")))
      ->check(CLI::IsMember(formats));
  convert_files
      ->add_option("--to", options.to, fmt::format("format of OUT: {}", fmt::join(written, ", ")))
      ->check(CLI::IsMember(written));
  add_changes(*convert_files, options);
  convert_files->add_flag("--overwrite", options.overwrite, "replace OUT if it exists");
  options.warn = [](const std::string& what) { fmt::print(stderr, "warning: {}\n", what); };
  convert_files->callback([&options] {
    std::error_code ignored;
    if (!options.overwrite && std::filesystem::is_regular_file(options.out, ignored))
      throw UserError(options.out + " exists: --overwrite replaces it, or name another file");
    const long long frames = convert(options);
    fmt::print("{}: {} frame{}\n", options.out, frames, frames == 1 ? "" : "s");
  });
}

void add_rng(CLI::App& app, RngArguments& a) {
  auto* rng = app.add_subcommand(
      "rng",
      "write random numbers to standard output: raw 32-bit words (little-endian) for test "
      "batteries, numbers of a distribution as text, or the area of a figure");
  rng->add_option("name", a.generator, "generator");
  rng->add_option("--seed", a.seed, "64-bit seed");
  rng->add_option(
      "--scheme", a.scheme,
      "keyed, phillips, state, shared or shared:LAG (default: the generator's usual one)");
  rng->add_option("--pattern", a.pattern, "particles, particle, pairs, rows, columns or sequence");
  rng->add_option("--count", a.count,
                  "number of words, numbers or points (default: unlimited; points: a million)")
      ->check(from_one());
  NumberArguments& n = a.numbers;
  rng->add_option("--distribution", n.distribution,
                  "numbers as text: uniform in [0, 1), normal (mean 0, variance 1), exponential "
                  "(mean 1)");
  rng->add_option("--method", n.method,
                  "of normal: inversion (default), box_muller, polar or ziggurat");
  rng->add_option(
      "--density", n.density,
      "numbers of this density, by inversion: a formula of x, of any norm, with --range");
  rng->add_option("--range", n.range, "LOW,HIGH of x")->delimiter(',');
  rng->add_option("--density-file", n.density_file,
                  "numbers of this density: two columns, x and the density, linear between");
  rng->add_option("--figure", n.figure,
                  "length, area or volume of where a formula of x, y, z is above 0, and its "
                  "standard error: \"x^2 + y^2 < 1\" with --box");
  rng->add_option("--box", n.box, "LOW,HIGH of x, then of y, then of z: where points are drawn")
      ->delimiter(',');
  rng->add_flag("--list", a.list, "print the names of the generators");
  rng->callback([&a] { rng_command(a); });
}

struct ExampleArguments {
  std::string name, folder;
};

void add_examples(CLI::App& app, ExampleArguments& a) {
  auto* examples = app.add_subcommand("examples", "list the examples, or copy one to start from");
  examples->add_option("NAME", a.name, "name of an example, or a part of it");
  examples->add_option("FOLDER", a.folder, "new folder for the copy (default: NAME)");
  examples->callback([&a] { examples_command(a.name, a.folder); });
}

struct NewPluginArguments {
  std::string kind, name, folder;
};

void add_new_plugin(CLI::App& app, NewPluginArguments& a) {
  auto* command = app.add_subcommand(
      "new-plugin",
      "create a plug-in to start from, in a new folder: source, build file, job and test");
  command->add_option("KIND", a.kind, fmt::format("{}", fmt::join(plugin_kinds(), ", ")))
      ->required();
  command->add_option("NAME", a.name, "name of the type in jobs, in lower case")->required();
  command->add_option("FOLDER", a.folder, "new folder (default: NAME)");
  command->callback([&a] { new_plugin_command(a.kind, a.name, a.folder, help_words()); });
}

struct CompletionArguments {
  std::string job, word;
};

void add_completion(CLI::App& app, CompletionArguments& a) {
  auto* completion = app.add_subcommand("completion", "print a completion script for bash");
  completion->add_option("JOB", a.job,
                         "job file, checkpoint, or the folder of a run: print, in place of the "
                         "script, what --set can change in it");
  completion->add_option("WORD", a.word, "how path=value begins (default: empty)");
  completion->callback([&app, &a] {
    if (a.job.empty()) return fmt::print("{}", bash_completion(app, help_words()));
    const Json job = job_to_complete(a.job);
    Components components;
    components.registry.discover();
    for (const std::string& word : set_completions(job, job_schema(components.registry), a.word))
      fmt::print("{}\n", printable_line(word));
  });
}

/// A mistake of the user begins with its place; the others name the program.
Outcome failure(ExitStatus status, const std::string& what, const std::string& text) {
  return {static_cast<int>(status),
          printable(status == ExitStatus::user ? text + "\n"
                                               : fmt::format("perrin: {}: {}\n", what, text))};
}

/// A file that is opened must not become standard output because that was closed.
void hold_standard_streams() {
  for (int descriptor = 0; descriptor < 3; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0)
      while (::open("/dev/null", O_RDWR) >= 0 && ::fcntl(descriptor, F_GETFD) < 0) {
      }
}

/// What takes a job or a checkpoint.
void add_jobs(CLI::App& app, RunArguments& arguments) {
  auto* run = app.add_subcommand("run", "run a job");
  run->add_option("JOB", arguments.file, "job file")->required();
  add_run_options(*run, arguments);
  run->add_flag("--overwrite", arguments.overwrite, "replace output files that exist");
  run->callback([&arguments] { run_command(arguments); });

  auto* resume = app.add_subcommand("resume", "continue from a checkpoint");
  resume->add_option("CHECKPOINT", arguments.file, "checkpoint, or the folder of a run")
      ->required();
  add_run_options(*resume, arguments);
  resume
      ->add_option("--steps", arguments.more_steps, "extend the last stage by this number of steps")
      ->check(from_one());
  resume->callback([&arguments] { resume_command(arguments); });

  auto* validate =
      app.add_subcommand("validate", "check a job and its input files without running");
  validate->add_option("JOB", arguments.file, "job file")->required();
  add_sets(*validate, arguments);
  validate->add_option("--threads", arguments.threads, "threads on the CPU (default: all cores)")
      ->check(CLI::Range(1, Threads::most));
  validate->add_option("--output-dir", arguments.output_directory, "folder for output files");
  validate->add_flag("--overwrite", arguments.overwrite,
                     "accept output files that exist, as run --overwrite does");
  validate->add_flag("--measure", arguments.measure,
                     "measure the error of the forces of ewald and dipole_ewald at the start");
  validate->callback([&arguments] { validate_command(arguments); });

  auto* show = app.add_subcommand(
      "show", "print a job as strict JSON, without comments and with --set applied");
  show->add_option("JOB", arguments.file, "job file")->required();
  add_sets(*show, arguments);
  show->callback([&arguments] { show_command(arguments); });
}

constexpr const char* import_is_elsewhere =
    "it is one of the wheel; with another installation of the module: python3 -m perrin import "
    "(docs/guide/import.md)";

/// CLI11 says of a missing or unknown command only that a subcommand is required.
void check_command(const CLI::App& app, const std::string& word) {
  if (word.empty()) throw UserError("perrin: a command is missing\n\n" + app.help());
  if (word[0] == '-') return;
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (std::ranges::count(known, word) == 0)
    throw UserError(fmt::format("perrin: unknown command \"{}\"; {}", word,
                                word == "import" ? import_is_elsewhere : suggest(word, known)));
}

/// `perrin help WORD`: of a command what its own --help says.
void help_of(const CLI::App& app, const std::string& word) {
  const CLI::App* named = nullptr;
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == word) named = command;
  if (word == "import") return fmt::print("import: a command; {}\n", import_is_elsewhere);
  if (!named) return help_command(word);
  fmt::print("{}", named->help(app.get_name()));
  if (const char* meant = other_name(word)) fmt::print("In a job \"{}\": {}\n", word, meant);
}

Outcome run_command_line(int argc, char** argv) {
  CLI::App app("Perrin: particles in soft matter, on CPU and GPU");
  app.set_version_flag("--version",
                       fmt::format("{} ({}; {})", engine_version(), PERRIN_COMMIT, build_tag()));
  app.require_subcommand(1);
  RunArguments arguments;
  std::string type;

  add_jobs(app, arguments);
  app.add_subcommand("schema", "print the JSON Schema of job files")->callback(schema_command);
  auto* help = app.add_subcommand("help", "list all types of jobs, or explain one");
  help->add_option(
      "TYPE", type,
      "a type, a kind (force), a topic (units), a potential (\"potentials\" lists them), "
      "\"job\" for the top level of a job file, or a command");
  help->callback([&] { help_of(app, type); });
  app.add_subcommand("plugins", "list the plug-ins found and their types")
      ->callback(plugins_command);
  ExampleArguments example;
  add_examples(app, example);
  NewPluginArguments plugin;
  add_new_plugin(app, plugin);
  app.add_subcommand("info", "print versions, build and devices")->callback(info_command);
  CompletionArguments completed;
  add_completion(app, completed);
  app.add_subcommand("man", "print the manual page")->callback([&app] {
    fmt::print("{}", man_page(app));
  });
  ConvertOptions conversion;
  add_convert(app, conversion);
  ReportArguments page;
  add_report(app, page);
  RngArguments words;
  add_rng(app, words);

  const auto stopped = [&]() -> const char* {
    for (const char* name : {"convert", "report", "rng"})
      if (app.got_subcommand(name)) return name;
    return "the run stopped";
  };
  try {
    check_command(app, argc > 1 ? argv[1] : "");
    const std::vector<const char*> words = with_every_set(argc, argv);
    app.parse(int(words.size()), words.data());
    return {};
  } catch (const CLI::ParseError& e) {
    std::ostringstream what;
    const int status = app.exit(e, std::cout, what);
    return {status == 0 ? 0 : static_cast<int>(ExitStatus::user), printable(what.str())};
  } catch (const OtherProcessFailed& e) {
    return {static_cast<int>(ExitStatus::run), e.what(), true};
  } catch (const UserError& e) {
    return failure(ExitStatus::user, "", e.what());
  } catch (const RunError& e) {
    return failure(ExitStatus::run, stopped(), e.what());
  } catch (const std::bad_alloc&) {
    return failure(ExitStatus::run, stopped(), "out of memory");
  } catch (const std::system_error& e) {  // no thread to be had, a full disk behind standard output
    const bool thread = e.code() == std::errc::resource_unavailable_try_again;
    return failure(ExitStatus::run, stopped(),
                   thread ? "out of memory or threads: no thread can be started" : e.what());
  } catch (const std::exception& e) {
    return failure(ExitStatus::bug, "internal error, a bug of Perrin or a plug-in", e.what());
  }
}

Outcome run_and_flush(int argc, char** argv) {
  const Outcome outcome = run_command_line(argc, argv);
  errno = 0;
  if (outcome.status != 0 || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return outcome;
  const std::string why = errno != 0 ? std::strerror(errno) : "an earlier write failed";
  return failure(ExitStatus::run, "standard output could not be written", why);
}

}  // namespace

int run_program(int argc, char** argv) {
  hold_standard_streams();
  const IgnoredSignal too_large(SIGXFSZ);
  return in_one_voice(argc > 1 ? argv[1] : "", [&] { return run_and_flush(argc, argv); });
}

}  // namespace perrin
