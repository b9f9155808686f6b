// What every output file of a run says about the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "io/hdf5.h"

namespace perrin::io {

/// Author, creator, and /parameters/perrin.
void write_run_record(const Node& root, const JobRecord& record, bool named_units);
/// For a resumed run: where it has something otherwise than the run before, it becomes the record,
/// and that one goes to /parameters/perrin/earlier/0, 1, … with the last step written under it.
void renew_run_record(const Node& root, const JobRecord& record, std::int64_t last_step);

/// An H5MD module that the file follows, in version 1.0.
void write_module(const Node& root, const std::string& name);
/// What a file says of its run that is known only while it runs. Nothing is written before write():
/// whoever owns one calls that when the file is open, and before it is closed for good.
class LateRecord {
 public:
  /// How pairs were found: Simulation::neighbor_report(). At most 1024 characters.
  void neighbors(const std::string& report) { neighbors_ = report; }
  /// At which step a stage of the job began, -1: not yet (StageLog::steps()), and what it has
  /// warned of at its end (remarks()), at most 1024 bytes. `stages`: of the job.
  void stage(std::size_t stages, std::size_t k, std::int64_t step, const std::string& remark);
  bool waits() const { return neighbors_ || new_steps_ || new_remarks_; }
  /// What has been said since, into its place. Jobs have thousands of stages, each of which says
  /// something: remarks, which are long, are written again only where one has changed.
  void write(const File& file);

 private:
  std::optional<std::string> neighbors_;
  std::vector<std::int64_t> steps_;
  std::vector<std::string> remarks_;
  bool new_steps_ = false, new_remarks_ = false;
};

/// `path`: a series of steps. Throws UserError if the number of rows differs, or if the last of
/// them is of another step: the file is not the one that the checkpoint knows.
void check_steps(const Node& root, const std::string& path, std::int64_t rows,
                 std::int64_t last_step);

}  // namespace perrin::io
