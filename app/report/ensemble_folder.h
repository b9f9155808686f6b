// The folder of an ensemble as one JSON object, which page/ensemble.js draws.
#pragma once

#include <filesystem>

#include "engine/settings/settings.h"

namespace perrin::report {

/// Means of every series over each system's last stage, as the report of a system has them, and
/// over systems that differ in their seeds alone; how systems ended; what exchange.csv says of
/// replica exchange. Files are read from the systems' folders, or from ensemble.h5. Throws
/// UserError where ensemble.json is none.
Json ensemble_folder(const std::filesystem::path& folder);

/// The folders of the systems, as ensemble.json names them, that are there.
std::vector<std::filesystem::path> system_folders(const std::filesystem::path& folder);

}  // namespace perrin::report
