// What `perrin resume` is given: a checkpoint, or the folder of a run.
#pragma once

#include <filesystem>

namespace perrin {

/// The checkpoint that is meant: the file itself, or that of a folder. Throws UserError where a
/// folder has none or several, and for a job.
std::filesystem::path checkpoint_path(const std::filesystem::path& given);

}  // namespace perrin
