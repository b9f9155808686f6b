// A job that Python drives: the engine's own Job and Run, stopped and continued from outside.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/resumed_job.h"
#include "engine/job/job.h"
#include "engine/run/run.h"
#include "io/folder_lock.h"
#include "python/src/python_force.h"
#include "python/src/session_log.h"
#include "python/src/state.h"

namespace perrin::python {

/// A function called at steps that are multiples of `stride`, with the particles at rest.
struct Callback {
  std::int64_t stride, number;
  nb::object function;
};

/// Not for two threads at once: while one runs it, the others are refused. After a fork the child
/// has neither the threads nor the GPU of the parent, and is refused, too.
class Session {
 public:
  /// Where a job comes from.
  struct Source {
    std::string file, text;         // a path, unless there is a text
    std::vector<std::string> sets;  // path=value
    bool is_checkpoint = false;
    std::int64_t more_steps = 0;          // of a checkpoint's last stage
    bool other_output_directory = false;  // than the checkpoint's
    bool other_checkpoint = false;        // at the end, than the one that it comes from
    std::string command;                  // what the log says was called
    bool always_logs = false;             // also where the job writes no files
  };
  /// Throws MistakesError, without places where the job is no file.
  /// `self`: the object of Python that it is.
  Session(const Source& source, nb::handle self, nb::list functions, JobOptions options);
  ~Session();

  /// On to this step, or to the end of the job. True: the job is complete. Throws what a callback
  /// or a signal handler has thrown, when the step is done; the run can go on then.
  bool run(std::uint64_t to);
  /// Lets run() return soon, from a signal handler.
  void interrupt();
  /// Begins the first stage, if that has not been.
  void begin();
  /// Ends the running stage as a signal would: files are closed, and the checkpoints that the job
  /// names are written. Particles can still be looked at. `goes_on`: for the log, with other
  /// settings.
  void close(bool goes_on);
  bool has_system() const { return run_->has_simulation(); }
  bool complete() const { return complete_; }
  const Job& job() const { return job_; }
  /// What the run has warned of, after the warnings of the job.
  const std::vector<std::string>& told() const { return told_; }
  /// That an unfinished run writes when it is closed; empty: none.
  std::string checkpoint_path() const { return options_.default_checkpoint.string(); }
  State state(nb::handle owner);
  void write_checkpoint(const std::string& path);

  std::int64_t add_callback(std::int64_t stride, nb::object function);
  void remove_callback(std::int64_t number);
  std::int64_t next_call() const;  // a step; 0: now, or none
  void call_due();

  int traverse(visitproc visit, void* arg);
  void clear();

 private:
  class Observing;
  void interrupt_if_asked();
  bool execute();
  void open_log();
  void hear(const std::string& warning);
  void end(bool goes_on = false);

  std::optional<ResumedJob> resumed_;
  JsonFile file_;
  JobOptions options_;
  Functions functions_;
  Components components_;
  std::unique_ptr<io::FolderLocks> locks_ = std::make_unique<io::FolderLocks>();
  std::optional<Archive> restored_;
  Job job_;
  SessionLog log_;
  PresentAttributes present_;
  MoreFacts timings_;  // for checkpoints
  std::unique_ptr<Run> run_;
  std::vector<Callback> callbacks_;
  std::int64_t callbacks_made_ = 0;
  std::uint64_t called_step_ = ~std::uint64_t(0);
  std::exception_ptr thrown_;  // by a callback
  std::vector<std::string> told_;
  Use use_;
  std::atomic<bool> interrupted_{false};
  bool started_ = false, ended_ = false, complete_ = false, broken_ = false, closed_ = false;
};

void bind_session(nb::module_& m);

}  // namespace perrin::python
