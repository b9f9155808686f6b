// What a shell can complete after --set: paths in the job on the command line, and their values.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin {

/// How `word` can go on, each whole. Of a path: the next key or index, with "." where more follows
/// and "=" at its end: those that the job has, and those that `schema` (job_schema()) knows of its
/// types. Behind "=": the value that the job has, the default, and all where they are few.
std::vector<std::string> set_completions(const Json& job, const Json& schema,
                                         const std::string& word);

/// The job of a file, of a checkpoint, or of the folder of a run. Throws UserError.
Json job_to_complete(const std::filesystem::path& given);

}  // namespace perrin
