// Runs the systems of an ensemble beside one another: a system per thread of the CPU, or all on one
// GPU, in the same launches. Several processes have a share of the systems each.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/ensemble/ensemble_files.h"
#include "app/ensemble/system_run.h"
#include "app/run_console.h"
#include "engine/communicator/each_alone.h"
#include "engine/device/batch.h"
#include "engine/run/warnings_heard.h"

namespace perrin {

class EnsembleRun {
 public:
  struct Resumed {
    bool resuming = false;
    std::vector<std::string> changes;  // EnsembleRecord::changes
  };
  /// `options`: as of one job; output_directory is the folder of the ensemble. As long as it lives
  /// each process is alone. All processes call what follows. `hears`: warnings go there, on any
  /// thread; empty: to standard error.
  EnsembleRun(const Variations& variations, JobOptions options, Resumed resumed,
              WarningsHeard::Function hears = {});

  /// Makes every system's job without running it. Throws UserError with the mistakes of the first
  /// systems that have any.
  void validate();
  /// The systems that validate() has found not to be at their end.
  const std::vector<std::int64_t>& left() const { return left_; }
  /// Runs all systems to their ends, or until a signal or the time limit. One that fails is told
  /// and left; the others go on. Throws RunError, in all processes, where any has failed.
  void execute();

 private:
  using Clock = std::chrono::steady_clock;
  struct Failure {
    std::int64_t system;
    std::string what;
  };
  std::string stop_reason();
  void agree_on_time();
  void deal_out();
  void run_all();
  void run_beside_one_another();
  void run_dealt_out();
  void listen(const std::atomic<bool>& done);
  void begin_systems();
  void run_with_exchange();
  std::uint64_t first_exchange() const;
  void look_at_one();
  void run_one(std::int64_t system, int member);
  void run_whole(std::int64_t system, int member);
  void exchange_all(std::uint64_t step);
  void begin_exchange();
  bool wants_checkpoints() const;
  void checkpoints_are_written();
  void gather_results();
  void ended(std::int64_t system, SystemRun& run);
  void tell_failure(const Failure& failure);
  void failed(std::int64_t system, const std::string& what);
  void tell_warnings(const SystemRun& run);
  void warn(const std::string& what);
  void hear(const std::string& line);
  void summary(double seconds);
  template <class F>
  bool guarded(std::int64_t system, const F& f);

  const Variations& variations_;
  JobOptions options_;
  WarningsHeard::Function hears_, hears_runs_;
  EachAlone alone_;
  Communicator& all_ = alone_.all();
  RunConsole console_;                 // the first process has one
  std::vector<char> complete_before_;  // [system]
  std::vector<std::int64_t> mine_;     // systems of this process
  int workers_ = 1;                    // threads
  int at_once_ = 1;                    // systems
  std::vector<std::int64_t> left_;
  std::int64_t most_particles_ = 0;  // of a system, as far as they have been seen
  std::unique_ptr<Batch> batch_;     // of a GPU; outlives systems
  EnsembleContext context_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<ExchangeTable> table_;
  std::vector<std::unique_ptr<SystemRun>> systems_;  // of an ensemble with exchange; those here
  std::string exchange_record_;                      // while systems run
  std::vector<std::int64_t> undone_;                 // CommonTime::undone
  Clock::time_point start_ = Clock::now(), saved_ = start_;  // saved_: checkpoints, all of them

  std::mutex telling_, hearing_;
  std::unique_ptr<Progress> progress_;
  std::vector<std::string> warnings_;  // told already
  std::vector<Failure> failures_;
  std::int64_t complete_ = 0, stopped_ = 0, ended_before_ = 0;  // here; in the end, of all
  double particle_steps_ = 0;
  std::string error_;              // what ended the work here that is not of one system
  std::atomic<bool> over_{false};  // systems elsewhere, or others that exchange, were stopped
};

}  // namespace perrin
