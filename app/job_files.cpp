#include "app/job_files.h"

#include <fmt/format.h>

#include "engine/communicator/communicator.h"
#include "io/checkpoint.h"
#include "io/new_file.h"

namespace perrin {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder))
    throw UserError(
        fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
}

void take_folders(const Job& job, io::FolderLocks& locks) {
  if (!io::writes_files()) return;
  make_folder(job.context().output_directory);
  for (const auto& [file, component] : job.context().outputs) {
    make_folder(folder_of(file));
    locks.take(folder_of(file));
  }
  // Another run may have made its files since the job was checked.
  job.check_outputs();
}

std::string hardware(const Device& device) {
  const std::string text = device.description();
  return device.is_cuda() ? text.substr(0, text.rfind(" ("))
                          : "CPU" + text.substr(text.rfind(", "));
}

std::function<void(const fs::path&, const Archive&)> checkpoint_writer(const Job& job,
                                                                       const JobOptions& options,
                                                                       const MoreFacts& more) {
  return [&](const fs::path& path, const Archive& archive) {
    const Device& device = job.context().device;
    const fs::path folder = fs::absolute(folder_of(path)).lexically_normal();
    Checkpoint c;
    c.job = job.record().job;
    c.version = job.record().version;
    c.facts["device"] = device.name();
    c.facts["hardware"] = hardware(device);
    c.facts["threads"] = std::to_string(device.threads());
    c.facts["processes"] = std::to_string(Communicator::world().count());
    c.facts["job_directory"] = fs::absolute(options.job_directory).lexically_normal().string();
    // Relative, so that the folder can be moved as a whole.
    c.facts["output_directory"] = fs::absolute(options.output_directory)
                                      .lexically_normal()
                                      .lexically_relative(folder)
                                      .string();
    if (more) more(c.facts);
    c.records = archive.records();
    write_checkpoint(path, c);
  };
}

}  // namespace perrin
