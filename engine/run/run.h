// A run of a job: goes through its stages, calls the observers, writes checkpoints, and stops when
// it is asked to.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/observer.h"
#include "engine/components/run_control.h"
#include "engine/components/stage.h"
#include "engine/dynamics/event.h"
#include "engine/dynamics/simulation.h"
#include "engine/run/progress.h"

namespace perrin {

/// What a run consists of; made by a Job.
struct RunParts {
  std::unique_ptr<Simulation> simulation;  // nullptr: no stage needs a system
  std::vector<std::unique_ptr<Observer>> observers;
  /// [observer][stage]: whether it is called there; empty: in all.
  std::vector<std::vector<bool>> observer_stages;
  /// [observer]: in place of its stride, and the event that it waits for at these steps.
  struct Call {
    std::optional<Schedule> schedule;
    std::optional<Event> event;
  };
  std::vector<Call> calls;  // empty: none has one
  std::vector<std::unique_ptr<Stage>> stages;
  std::vector<std::string> stage_names, stage_types;  // a stage without a name has its type's
  std::filesystem::path output_directory;
  std::uint64_t seed = 0;
  bool quiet = false;
  RunLog* log = nullptr;  // what is said goes there, too; must live as long as the run
  std::string label;      // before each line on the console: which of several runs it is
  double time_limit = 0;  // seconds of wall time; 0: none
  /// Writes a checkpoint (io/checkpoint.h), and the path for one where the job names none.
  std::function<void(const std::filesystem::path&, const Archive&)> write_checkpoint;
  std::filesystem::path default_checkpoint;
  std::string forces_record;  // their settings: a resumed run that has others computes forces anew
  /// Asked between chunks of steps: true lets execute() return, as Run::pause_at() does.
  std::function<bool()> interrupted;
  /// Which force has a formula that is not a number in this state, and where, for messages: of a
  /// particle, or of any. Empty: none.
  std::function<std::string(Simulation&, std::optional<std::uint32_t>)> undefined;
  /// Chooses anew the groups that are due at a step; asked at multiples of groups_every (0: none).
  std::function<void(Simulation&)> choose_groups;
  std::int64_t groups_every = 0;
  /// At multiples of this the totals are measured on the way, for who looks at them in a pause.
  std::int64_t totals_every = 0;
  /// Checkpoints by steps and by time wait for save_all(): who drives the run writes them together
  /// with those of others.
  bool saved_from_outside = false;
};

/// Given to Stage::run. A stage that moves the particles by itself does
///
///     while (done < total && !run.stop_requested()) { …; run.observe(); run.progress(done); }
class Run {
 public:
  Run(RunParts parts, RunControl& control);
  ~Run();

  /// Throws BugError where the job has no system.
  Simulation& simulation();
  bool has_simulation() const { return parts_.simulation != nullptr; }
  RunControl& control() { return control_; }
  std::size_t stage_index() const { return stage_; }
  /// The settings of all forces, and what they say of themselves.
  const std::string& forces_record() const { return parts_.forces_record; }
  const std::string& stage_name() const { return parts_.stage_names.at(stage_); }
  const std::string& stage_type() const { return parts_.stage_types.at(stage_); }
  const std::filesystem::path& output_directory() const { return parts_.output_directory; }
  std::uint64_t seed() const { return parts_.seed; }
  bool quiet() const { return parts_.quiet; }

  /// Calls the observers that are due at simulation().step() and writes the checkpoints that are.
  /// Called again at the same step it does nothing. A stage without a system calls it wherever its
  /// state can be saved.
  void observe();
  /// For a stage whose steps are those of an integrator: at most n of them, to the next step at
  /// which an observer looks at the particles. Those that look at totals alone are called for every
  /// step before the last one; observe() is to follow. Returns how many steps it made. `unseen`:
  /// only observers read the particles before Simulation::complete().
  std::int64_t advance(Integrator& integrator, std::int64_t n, bool unseen = false);
  /// Steps until an observer is due, at least 1; very large without one.
  std::int64_t steps_to_observer();
  /// A signal has come, the time limit is over, or a component asked: return from Stage::run. Of
  /// several processes all ask at the same places and hear the same.
  bool stop_requested();
  /// Starts the progress line of this stage.
  void start_progress(const std::string& unit, std::int64_t done, std::int64_t total);
  void progress(std::int64_t done) { progress_.update(done); }
  /// The stage has reached its end, with this many units, be it earlier than was planned; `remark`:
  /// how.
  void finish_progress(std::int64_t done, const std::string& remark = {}) {
    progress_.finish(done, remark);
  }
  void print(const std::string& line) { progress_.print(parts_.label + line); }
  double seconds() const;  // of wall time since the run began, in this process

  /// Runs all stages, or on from a restored state. True: the job is complete; false: it was
  /// stopped, and checkpoint() says where it goes on.
  bool execute();
  /// For who drives the run from outside (python/): execute() returns false when the system has
  /// reached this step, or soon after RunParts::interrupted says so, and continues when it is
  /// called again, bitwise identical to a run without the pause. Nothing ends and nothing is
  /// written meanwhile.
  void pause_at(std::uint64_t step) { pause_at_ = step, paused_ = false; }
  /// Goes on from a checkpoint; before execute().
  void restore(Archive archive);
  /// In a pause: all checkpoints that the job has, now.
  void save_all();
  /// Where the last checkpoint was written; empty: none was.
  const std::filesystem::path& checkpoint() const { return last_checkpoint_; }
  const std::string& stop_reason() const { return stop_reason_; }
  /// After the last execute(): closes all files, for who still looks at the particles.
  void close_files() {
    parts_.observers.clear();
    if (!parts_.simulation) parts_.stages.clear();  // with one, stages have no files of their own
  }

 private:
  void state(Archive& archive);
  /// Whether an observer is called in a stage.
  bool observes(std::size_t observer, std::size_t stage) const;
  Schedule schedule(std::size_t observer) const;
  /// Its event, if it waits for one, has happened at this instant.
  bool is_called(std::size_t observer, const Instant& instant);
  /// Step at which a stage began.
  std::uint64_t begin_of(std::uint64_t stage) const;
  std::array<Sampling, 2> schedules() const;
  void observe_totals(const Instant& instant);
  /// Throws RunError where the potential energy is no number.
  void check_energy(const Instant& instant);
  /// RunParts::undefined behind a colon, or empty.
  std::string why_undefined(std::optional<std::uint32_t> particle);
  bool is_to_pause();
  void tell_what_is_not_shared();
  bool run_stages();
  void begin_stage(bool resumed);
  void end_stage();
  void end_broken_stage();
  /// What a checkpoint holds now.
  Archive saved();
  void save(const std::filesystem::path& path);
  void write(const std::filesystem::path& path, const Archive& archive);
  void save_due();

  RunParts parts_;
  RunControl& control_;
  Progress progress_;
  std::chrono::steady_clock::time_point start_;
  double agreed_seconds_ = 0;  // the same in all processes: when they asked last whether to stop
  std::uint64_t stage_ = 0;
  bool complete_ = false;
  bool begun_ = false;  // the stage, by this process
  bool paused_ = false;
  std::uint64_t pause_at_ = std::numeric_limits<std::uint64_t>::max();
  std::int64_t observed_step_ = -1;
  std::uint64_t observed_stage_ = 0;   // the stage of the last observe()
  std::unique_ptr<Archive> restored_;  // until the stage that was running has begun
  std::filesystem::path last_checkpoint_;
  std::string stop_reason_;
};

}  // namespace perrin
