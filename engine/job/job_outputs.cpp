// Where a job writes: never over what it reads, and not unseen elsewhere than in its folder.
#include <fmt/format.h>

#include "engine/communicator/agreement.h"
#include "engine/job/job.h"
#include "engine/settings/output_path.h"

namespace perrin {
namespace fs = std::filesystem;

void Job::name_inputs() {
  if (!options_.job_file.empty()) control_->add_input(options_.job_file, "the job");
  // The source of a resumed run is not made: any text of it may be the name of its file.
  if (!context_.resuming || !file_.value().contains("system")) return;
  const Json texts = file_.value()["system"].flatten();
  for (const auto& [path, value] : texts.items())
    if (value.is_string())
      control_->add_input(context_.job_directory / value.get<std::string>(), "system");
}

void Job::check_places() {
  if (!writes_files()) return;  // the others write none
  const fs::path& directory = context_.output_directory;
  const fs::path& trusted =
      options_.trusted_directory.empty() ? directory : options_.trusted_directory;
  const bool expected = !is_outside(trusted, directory);
  for (const auto& [file, component] : context_.outputs) {
    for (const auto& [input, reader] : control_->inputs())
      // While it is made, and while a journal is written, it has another name.
      for (const char* name : {"", ".part", ".journal"})
        if (const std::string written = file.string() + name; is_same_file(written, input))
          report(component, fmt::format("would replace {}, which the job reads ({}): name another "
                                        "file",
                                        written, reader));
    if (!is_outside(file, trusted)) continue;
    std::string what = why_no_folder(fs::absolute(file).parent_path(), 0);
    if (what.empty() && is_no_output(file))
      what = fmt::format(
          "{} is not an HDF5, GSD or XTC file and is outside of {}: to replace it, remove it first",
          file.string(), fs::absolute(trusted).lexically_normal().string());
    if (!what.empty())
      report(component, what);
    else if (!expected || is_outside(file, directory))
      warn(component, fmt::format("writes outside of {}: {}",
                                  fs::absolute(trusted).lexically_normal().string(),
                                  fs::absolute(file).lexically_normal().string()));
  }
}

}  // namespace perrin
