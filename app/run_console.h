// What a run says: on the console, and in the log of its folder.
#pragma once

#include <filesystem>
#include <string>

#include "engine/dynamics/simulation.h"
#include "engine/job/job.h"
#include "engine/run/run_log.h"

namespace perrin {

class RunConsole {
 public:
  /// `quiet`: standard output has nothing, standard error warnings alone. The log has everything.
  explicit RunConsole(bool quiet) : quiet_(quiet) {}

  /// Appends to FOLDER/log_name, which begins with `command` and the time; in the process that
  /// writes files. A folder that takes no file is told of and has no log.
  void open_log(const std::filesystem::path& folder, const std::string& command);
  RunLog& log() { return log_; }

  /// Whole lines on standard output.
  void say(const std::string& text);
  /// With --quiet, too.
  void say_always(const std::string& text);
  /// One line on standard error. Notes are said unless --quiet is; warnings (": warning: ") are
  /// said always.
  void warn(const std::string& line);
  /// What ended the run: for the log, since the program prints it last of all.
  void error(const std::string& what);

 private:
  bool quiet_;
  RunLog log_;
};

/// The log of FOLDER/log_name, to which a line with `command` and the time was added. Throws
/// UserError where the folder takes no such file.
RunLog begun_log(const std::filesystem::path& folder, const std::string& command);
/// Its last lines where an error ends the run.
std::string ended_by_error(const std::string& what);

/// A rate of at least four digits, written out: 204900, 1287, 37.62, 0.08125.
std::string rate_text(double rate);
/// The table of times, and how fast it was.
std::string timings_table(const Simulation& simulation, std::uint64_t steps, double seconds);
/// The same as JSON, of what was run since the last start: checkpoints have it, and the log in a
/// line that begins with timings_mark. `perrin report` reads both.
std::string timings_json(const Simulation& simulation, std::uint64_t steps, double seconds);

/// Says what a job has to say before it runs.
void say_warnings(RunConsole& console, const Job& job);

}  // namespace perrin
