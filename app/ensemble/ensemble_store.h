// ensemble.h5: the HDF5 files of all systems in one ("files": "one").
//
//   /systems/K            group of system K: attributes state ("complete", "failed", "": it has not
//                         ended), values (JSON) and files (their names)
//   /systems/K/NAME       what the file NAME of the folder K holds, from its root on
//   /values/PATH          [system] what varies: numbers, or JSON texts
//   /tables/NAME/value    [system, row, column] of files with rows of numbers; NaN where a system
//                         has no such row
//   /tables/NAME/column   [column] names: step, time, and the observables
#pragma once

#include <filesystem>

#include "engine/job/variations.h"

namespace perrin {

constexpr const char* ensemble_store_name = "ensemble.h5";

/// Makes the file anew in the folder of an ensemble, of the files of the systems' folders and,
/// where these have none, of what it held before. When it is on the disk, files of complete systems
/// that are in it are removed from their folders; checkpoints, files of other formats and of
/// systems that can go on stay. Throws RunError and UserError; then nothing was removed.
void store_systems(const std::filesystem::path& folder, const Variations& variations);

}  // namespace perrin
