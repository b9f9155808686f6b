// The commands of the program `perrin`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/job/job.h"

namespace perrin {

/// Parses the command line, does what it says, prints errors to standard error.
int run_program(int argc, char** argv);

/// What a job can name: the built-ins; plug-ins are loaded when a type is unknown, or all at once.
struct Components {
  Registry registry;
  PluginLoader plugins{registry};
  Components();
};

struct RunArguments {
  std::string file;  // job or checkpoint
  std::string device, output_directory, time_limit;
  int threads = 0;
  std::int64_t more_steps = 0;  // resume: of the last stage
  std::vector<std::string> sets;
  bool overwrite = false, quiet = false;
  bool measure = false;  // validate: the errors of forces
};

void run_command(const RunArguments& arguments);
void resume_command(const RunArguments& arguments);
void validate_command(const RunArguments& arguments);
/// The job as JSON without comments.
void show_command(const RunArguments& arguments);

void schema_command();
void help_command(const std::string& type);
/// What it takes: types, kinds, topics.
std::vector<std::string> help_words();
void plugins_command();
void info_command();

/// "90", "90s", "30m", "1.5h", "1h30m" in seconds; 0 for "". Throws UserError.
double parse_duration(const std::string& text);

}  // namespace perrin
