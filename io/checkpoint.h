// Checkpoints: the records of an Archive with the job, in an HDF5 file that is replaced atomically.
//
// The file is written aside (<path>.part), sealed (io/seal.h), brought to the disk, read back, and
// renamed; the checkpoint before it stays as <path>.prev. At every moment at least one of the two
// is whole, whichever call fails.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/components/observer.h"
#include "engine/components/run_control.h"
#include "engine/components/setup.h"
#include "engine/settings/settings.h"
#include "engine/system/archive.h"

namespace perrin {

struct Checkpoint {
  std::string job;                           // JSON of the job as run
  std::string version;                       // of the Perrin that wrote it, with its build tag
  std::map<std::string, std::string> facts;  // whatever the job wants back: "device", "job_file", …
  std::map<std::string, Record> records;
};

/// Drains the queue of the writer first, so that the output files hold what the checkpoint counts
/// on. Throws RunError; the earlier checkpoint is then still there.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
/// Throws UserError where the file is missing, no checkpoint, or not what was written; it names the
/// checkpoint before it where that is whole.
Checkpoint read_checkpoint(const std::filesystem::path& path);

struct CheckpointSettings {
  std::string file = "checkpoint.h5";
  std::int64_t steps = 0;
  double minutes = 0;
};

template <class D>
void describe(D& d, CheckpointSettings& s) {
  d.optional(
      "file", s.file, Any{},
      "file, relative to the output directory; the previous checkpoint is kept as FILE.prev");
  d.optional("steps", s.steps, NonNegative{}, "output interval (steps); 0: not by steps");
  d.optional("minutes", s.minutes, NonNegative{},
             "output interval (minutes of wall time); 0: not by time. A checkpoint is always "
             "written at the end, at a signal and at --time-limit");
}

/// Asks the run for checkpoints (engine/components/run_control.h); the run writes them.
class CheckpointObserver : public Observer {
 public:
  CheckpointObserver(const CheckpointSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.steps; }
  void observe(const Observation& seen) override;

 private:
  CheckpointSettings settings_;
  std::filesystem::path path_;
  RunControl* control_;
};

}  // namespace perrin
