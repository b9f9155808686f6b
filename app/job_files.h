// What the program and the Python module do alike with the files of a job.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "engine/job/job.h"
#include "io/folder_lock.h"

namespace perrin {

std::filesystem::path folder_of(const std::filesystem::path& file);

/// And those around it, unless it exists. Throws UserError.
void make_folder(const std::filesystem::path& folder);

/// Makes the folders of all outputs, and keeps other runs out of them; in the process
/// that writes.
void take_folders(const Job& job, io::FolderLocks& locks);

/// What the last bits of a run depend on; not the number of threads.
std::string hardware(const Device& device);

/// What else a checkpoint holds, by names.
using MoreFacts = std::function<void(std::map<std::string, std::string>& facts)>;
/// For RunParts. All three must live as long as the run; `more` is asked when a checkpoint is
/// written, unless it is empty.
std::function<void(const std::filesystem::path&, const Archive&)> checkpoint_writer(
    const Job& job, const JobOptions& options, const MoreFacts& more);

}  // namespace perrin
