// The job of a resumed run: that of its checkpoint, with what --set changes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/job/job.h"
#include "engine/settings/json_file.h"
#include "engine/system/archive.h"
#include "io/checkpoint.h"

namespace perrin {

/// Where a checkpoint stands in its job.
struct Standing {
  std::uint64_t stage = 0;
  bool complete = false;  // the run had come to its end
};
/// Throws UserError where the records do not say it.
Standing standing_of(const std::map<std::string, Record>& records);

/// The --set that extends the last stage by a number of steps. Throws UserError if the stage
/// counts none, and where `sets` change its steps or what the last stage is.
std::string longer_by(const Json& job, std::int64_t steps, const std::vector<std::string>& sets);

/// Applies --set to the job of a checkpoint. Throws UserError for what a resumed run cannot change:
/// what the particles were made from, random numbers and units, stages that are done, and the types
/// of components. Stages may be added. `repeated`: those may be among them that the job has
/// already.
void set_resumed_job(JsonFile& job, const std::vector<std::string>& assignments,
                     const Standing& standing, bool repeated = false);

/// Throws UserError where an observer was given another file that is not there: a resumed run goes
/// on with the files of the run before. `before`: the job of the checkpoint.
void check_continued_files(const Json& before, const Json& job,
                           const std::filesystem::path& output_directory);

/// A checkpoint and what is to be run on from it.
struct ResumedJob {
  std::filesystem::path path;
  Checkpoint checkpoint;
  JsonFile file;  // its job, changed
  std::uint64_t stage = 0;
  bool complete = false;  // nothing is left to do
};
/// `more_steps`: of the last stage. `repeated`: as of set_resumed_job(). Throws UserError.
ResumedJob read_resumed_job(const std::filesystem::path& path, std::vector<std::string> assignments,
                            std::int64_t more_steps, bool repeated = false);
/// Folders, and the device and its threads unless they are named, as they were: the same bits.
/// Throws UserError where files that are to be continued are not there.
void continue_options(const ResumedJob& resumed, JobOptions& options, bool other_output_directory);

/// Of a run that goes on in another output directory: throws UserError where a file that it
/// continues is in the folder of before and not there. Checkpoints are made anew.
void check_moved_files(const ResumedJob& resumed, const Job& job);

}  // namespace perrin
