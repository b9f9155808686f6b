// One system of an ensemble: its job and its run, in a folder of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/job_files.h"
#include "app/resumed_job.h"
#include "engine/job/variations.h"
#include "engine/run/run.h"
#include "io/folder_lock.h"

namespace perrin {

/// CUDA has a current device for each thread.
void use_device(const Device& device);

/// Where a system of a resumed ensemble goes on.
enum class Start {
  newest,    // from its checkpoint, or anew where it has none
  previous,  // from the one before it, which then takes its place
  anew,
  left_out,  // it has failed, and the others have gone on without it
};

/// What the systems of an ensemble have in common.
struct EnsembleContext {
  const Variations& variations;
  JobOptions options;  // output_directory: the folder of the ensemble; threads: of one system
  bool resuming = false;
  std::vector<std::string> changes;  // EnsembleRecord::changes
  Components components{};
  std::mutex making{};  // of a job: plug-ins and types of formulas are everybody's
  /// Why all systems are to stop; empty: they go on.
  std::function<std::string()> stop_reason{};
  /// What each checkpoint holds beside the system.
  MoreFacts facts{};
  std::vector<Start> starts{};  // [system]; empty: the newest of each

  Start start(std::int64_t system) const {
    return starts.empty() ? Start::newest : starts[std::size_t(system)];
  }
  std::filesystem::path folder(std::int64_t system) const;
  /// Where the checkpoints of its job are.
  std::filesystem::path checkpoint(std::int64_t system) const;
};

class SystemRun {
 public:
  SystemRun(EnsembleContext& ensemble, std::int64_t system);
  ~SystemRun();

  /// Instead of the one that the options name.
  void set_device(const Device& device) { options_.given_device = device; }
  /// Makes the job, and goes on from the checkpoint of a resumed ensemble, if there is one. Throws
  /// UserError, MistakesError.
  void begin();
  /// On to this step, to the end, or until all are to stop.
  void run_to(std::uint64_t step);
  /// Whether its job wants a checkpoint now: by steps, or by the seconds since the last one.
  bool wants_checkpoint(double seconds) const;
  /// Between exchanges, of a system that has not ended. Throws RunError.
  void save();
  /// Closes all files. Throws RunError where they could not be written.
  void end();

  bool complete() const { return complete_; }
  /// Of a system that goes on from a checkpoint: it was at its end already.
  bool is_complete() const { return resumed_ && resumed_->complete; }
  bool stopped() const { return stopped_; }
  Job& job() { return *job_; }
  Run& run() { return *run_; }
  std::uint64_t step() const { return run_->simulation().step(); }
  std::int64_t particles() const { return particles_; }
  /// Steps made since begin().
  std::int64_t steps_made() const { return steps_made_; }
  /// Warnings of the job, without its name.
  const std::vector<std::string>& warnings() const { return job_->warnings(); }
  /// Of the checkpoint that it went on from; empty: from none.
  const std::map<std::string, std::string>& facts() const { return facts_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  EnsembleContext& ensemble_;
  std::int64_t system_;
  std::filesystem::path folder_;
  JobOptions options_;
  std::optional<ResumedJob> resumed_;
  std::optional<JsonFile> file_;
  io::FolderLocks locks_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<Run> run_;
  std::map<std::string, std::string> facts_;
  std::int64_t particles_ = 0, steps_made_ = 0;
  bool complete_ = false, stopped_ = false;
};

}  // namespace perrin
