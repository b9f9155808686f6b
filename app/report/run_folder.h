// The files of a run, whatever it has left in its folder.
#pragma once

#include <filesystem>

#include "engine/settings/settings.h"

namespace perrin::report {

/// Everything that the page shows, of the files in this folder (not in those below it). A file that
/// cannot be read is named with the reason. Throws UserError where there is no such folder, or no
/// file of a run in it.
Json run_folder(const std::filesystem::path& folder);

}  // namespace perrin::report
