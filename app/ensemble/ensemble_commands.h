// perrin run, validate and resume of a job with "ensemble". `hears`: as of EnsembleRun.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/job/job.h"
#include "engine/run/warnings_heard.h"
#include "engine/settings/json_file.h"

namespace perrin {

void run_ensemble(JsonFile file, JobOptions options, WarningsHeard::Function hears = {});
void validate_ensemble(JsonFile file, JobOptions options);

/// What a resumed ensemble is to do otherwise.
struct EnsembleChanges {
  std::vector<std::string> sets;  // as --set has them
  std::int64_t more_steps = 0;    // of the last stage
};
/// Systems that were complete go on where the changes leave them something to do. Throws UserError
/// for changes that a resumed run cannot have, and for settings that vary. Nothing is changed then.
void resume_ensemble(const std::filesystem::path& folder, const EnsembleChanges& changes,
                     JobOptions options, WarningsHeard::Function hears = {});

}  // namespace perrin
