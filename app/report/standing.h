// How far a run has come, as its files tell.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/report/record.h"

namespace perrin::report {

/// What a checkpoint says beside the state of the particles.
struct CheckpointNote {
  std::string file, job, timings;  // JSON
  std::int64_t step = 0;           // 0 where the run has none
  bool complete = false;
};
/// Throws UserError where the file is no whole checkpoint.
CheckpointNote read_checkpoint_note(const std::string& path);

/// The timings of the last run that the log of a folder tells of (JSON); empty: none.
std::string timings_of_log(const std::filesystem::path& file);

/// Steps of the last rows of a file: the last, and how far it is from the one before.
struct LastStep {
  std::int64_t step = -1, stride = 0;
};

/// {state: complete, running, stopped, killed or unknown; text}.
Json standing(const std::filesystem::path& folder, const Record& record,
              const std::optional<CheckpointNote>& checkpoint, const LastStep& last);

}  // namespace perrin::report
