#include "engine/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/base/error.h"
#include "engine/communicator/agreement.h"
#include "engine/components/fault_text.h"
#include "engine/components/integrator.h"
#include "engine/domain/processes.h"
#include "engine/dynamics/observation.h"
#include "engine/run/signals.h"
#include "engine/system/configuration_archive.h"

namespace perrin {
namespace {

/// Adds the time until it is destroyed to a total.
class Stopwatch {
 public:
  explicit Stopwatch(double* total) : total_(total) {}
  ~Stopwatch() {
    if (total_)
      *total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  double* total_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Run::Run(RunParts parts, RunControl& control)
    : parts_(std::move(parts)),
      control_(control),
      progress_(parts_.quiet, owns_terminal(), parts_.log),
      start_(std::chrono::steady_clock::now()) {
  if (parts_.simulation) parts_.simulation->stages().reset(parts_.stages.size());
  if (!parts_.quiet || parts_.log != nullptr)
    control_.print_lines_by([this](const std::string& line) { print(line); });
}

Run::~Run() { control_.print_lines_by(nullptr); }

Simulation& Run::simulation() {
  if (!parts_.simulation) throw BugError("a stage asked for the system of a job that has none");
  return *parts_.simulation;
}

double Run::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Run::stop_requested() {
  if (!stop_reason_.empty() || is_to_pause()) return true;
  // A signal may come to one process alone, and clocks differ: the latest word counts for all.
  constexpr std::int64_t unit = std::int64_t(1) << 56, component = 100;
  const std::int64_t stop = control_.stop_reason().empty() ? SignalWatch::received() : component;
  const std::int64_t heard =
      agreed_max(stop * unit + std::min(std::int64_t(1e6 * seconds()), unit - 1));
  agreed_seconds_ = 1e-6 * double(heard % unit);
  if (heard / unit == component)
    stop_reason_ = stop == component ? control_.stop_reason() : "another process";
  else if (heard / unit > 0)
    stop_reason_ = SignalWatch::name(int(heard / unit));
  else if (parts_.time_limit > 0 && agreed_seconds_ >= parts_.time_limit)
    stop_reason_ = fmt::format("the time limit of {:g} s", parts_.time_limit);
  return !stop_reason_.empty();
}

bool Run::is_to_pause() {
  if (parts_.interrupted && parts_.interrupted()) paused_ = true;
  return paused_ || (parts_.simulation && simulation().step() >= pause_at_);
}

void Run::start_progress(const std::string& unit, std::int64_t done, std::int64_t total) {
  progress_.start(parts_.stage_names.at(stage_), unit, done, total);
}

/// [which]: those that look at totals alone, and the others.
std::array<Sampling, 2> Run::schedules() const {
  std::array<Sampling, 2> all;
  all[0].begin = all[1].begin = begin_of(stage_);
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    const Schedule one = schedule(i);
    if (!one.never() && observes(i, stage_))
      all[parts_.observers[i]->only_totals() ? 0 : 1].schedules.push_back(one);
  }
  return all;
}

Schedule Run::schedule(std::size_t observer) const {
  if (observer < parts_.calls.size() && parts_.calls[observer].schedule)
    return *parts_.calls[observer].schedule;
  return Schedule(parts_.observers[observer]->stride());
}

std::uint64_t Run::begin_of(std::uint64_t stage) const {
  const auto& steps = parts_.simulation->stages().steps();
  return stage < steps.size() ? std::uint64_t(std::max<std::int64_t>(steps[stage], 0)) : 0;
}

bool Run::is_called(std::size_t observer, const Instant& instant) {
  if (observer >= parts_.calls.size() || !parts_.calls[observer].event) return true;
  return parts_.calls[observer].event->happens(instant);
}

std::int64_t Run::steps_to_observer() {
  const auto [totals, others] = schedules();
  const std::uint64_t step = simulation().step();
  return std::int64_t(std::min({totals.steps_to_next(step), others.steps_to_next(step),
                                std::uint64_t(std::numeric_limits<std::int64_t>::max())}));
}

std::int64_t Run::advance(Integrator& integrator, std::int64_t n, bool unseen) {
  auto [totals, others] = schedules();
  totals.unseen = unseen;
  if (parts_.totals_every > 0) totals.schedules.emplace_back(parts_.totals_every);
  const std::uint64_t step = simulation().step();
  if (const auto every = std::uint64_t(parts_.groups_every); every > 0) {
    if (step % every == 0) {
      simulation().complete();
      parts_.choose_groups(simulation());
      integrator.follow_group(simulation());
    }
    n = std::int64_t(std::min(std::uint64_t(n), every - step % every));
  }
  n = std::int64_t(std::min(
      {std::uint64_t(n), others.steps_to_next(step), pause_at_ > step ? pause_at_ - step : 1}));
  const std::uint64_t last = step + std::uint64_t(n);
  totals.tell = [&](const Instant& instant) {
    if (instant.step < last) observe_totals(instant);
  };
  simulation().advance(integrator, n, totals);
  return n;
}

bool Run::observes(std::size_t observer, std::size_t stage) const {
  if (observer >= parts_.observer_stages.size()) return true;
  const auto& stages = parts_.observer_stages[observer];
  return stages.empty() || stages.at(stage);
}

std::string Run::why_undefined(std::optional<std::uint32_t> particle) {
  const std::string why =
      parts_.undefined ? parts_.undefined(simulation(), particle) : std::string();
  return why.empty() ? why : ": " + why;
}

/// An energy that is no number tells of a force that is wrong, be it finite. Where particles that
/// overlap are allowed, as in a minimisation, it may be infinite.
void Run::check_energy(const Instant& instant) {
  const double energy = instant.totals.potential;
  if (std::isfinite(energy)) return;
  const Integrator* const integrator = parts_.stages[stage_]->integrator();
  if (energy > 0 && !(integrator && integrator->timestep() > 0)) return;
  throw RunError(fmt::format("step {}: the potential energy is {}{}", instant.step,
                             std::isnan(energy) ? "not a number (NaN)" : "infinite",
                             why_undefined({})));
}

/// In the middle of advance().
void Run::observe_totals(const Instant& instant) {
  check_energy(instant);
  const Stopwatch watch(&simulation().timings().output);
  bool known = false;
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    Observer& o = *parts_.observers[i];
    if (!o.only_totals() || !observes(i, stage_) ||
        !schedule(i).is_due(instant.step, begin_of(stage_)))
      continue;
    known = true;
    if (is_called(i, instant)) o.observe_totals(instant);
  }
  if (known) parts_.stages[stage_]->totals_are_known(*this, instant);
}

void Run::observe() {
  if (parts_.simulation) {
    const auto step = static_cast<std::int64_t>(simulation().step());
    const bool new_step = step != observed_step_;
    if (new_step || stage_ != observed_stage_) {
      std::optional<Instant> instant;
      const Stopwatch watch(&simulation().timings().output);
      for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
        // The end of one stage is the beginning of the next: who was called there is not again.
        const Schedule when = schedule(i);
        const auto is_due = [&](std::uint64_t stage) {
          return observes(i, stage) && when.is_due(std::uint64_t(step), begin_of(stage));
        };
        if (!is_due(stage_) || (!new_step && is_due(observed_stage_))) continue;
        Observer& o = *parts_.observers[i];
        const bool waits = i < parts_.calls.size() && parts_.calls[i].event;
        if (!instant && (waits || o.only_totals())) {
          instant = simulation().now();
          check_energy(*instant);
        }
        if (waits && !is_called(i, *instant)) continue;
        if (o.only_totals()) {
          o.observe_totals(*instant);
        } else {
          simulation().complete();
          o.observe(Observation(simulation()));
        }
      }
      if (instant) parts_.stages[stage_]->totals_are_known(*this, *instant);
      observed_step_ = step;
      observed_stage_ = stage_;
    }
  }
  save_due();
}

Archive Run::saved() {
  if (parts_.simulation) simulation().complete();
  Archive archive = Archive::saving();
  state(archive);
  return archive;
}

void Run::save(const std::filesystem::path& path) {
  if (!parts_.write_checkpoint) return;
  const Stopwatch watch(parts_.simulation ? &simulation().timings().output : nullptr);
  write(path, saved());
}

void Run::write(const std::filesystem::path& path, const Archive& archive) {
  if (writes_files()) parts_.write_checkpoint(path, archive);
  last_checkpoint_ = path;
}

void Run::save_all() {
  control_.take_requests();
  for (const auto& plan : control_.plans()) save(plan.path);
}

void Run::save_due() {
  if (parts_.saved_from_outside) return;
  for (const auto& path : control_.take_requests()) save(path);
  for (auto& plan : control_.plans()) {
    if (plan.seconds <= 0 || agreed_seconds_ - plan.last < plan.seconds) continue;
    plan.last = agreed_seconds_;
    save(plan.path);
  }
}

void Run::state(Archive& archive) {
  archive("run/stage", stage_);
  archive("run/observed_step", observed_step_);
  archive("run/complete", complete_);
  if (!archive.is_saving()) complete_ = false;  // it is being made longer
  if (parts_.simulation) {
    if (archive.is_saving()) {
      // What the components are made from when the run is resumed.
      Configuration configuration = simulation().particles().configuration();
      archive_configuration(archive, configuration);
    }
    simulation().state(archive);
    archive.require(observed_step_ >= -1 && observed_step_ <= std::int64_t(simulation().step()),
                    "run/observed_step", "a step that the run has made, or -1");
    simulation().stages().state(archive, stage_, std::int64_t(simulation().step()));
    if (!archive.is_saving()) observed_stage_ = stage_;
    for (std::size_t i = 0; i < simulation().forces().size(); ++i) {
      const Archive::Scope scope(archive, fmt::format("force{}", i));
      simulation().forces()[i]->state(archive);
    }
    std::string forces = parts_.forces_record;
    archive("run/forces", forces);
    if (forces != parts_.forces_record) simulation().invalidate();
  }
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    const Archive::Scope scope(archive, fmt::format("observer{}", i));
    parts_.observers[i]->state(archive);
    if (i < parts_.calls.size() && parts_.calls[i].event) {
      const Archive::Scope event(archive, "event");
      parts_.calls[i].event->state(archive);
    }
  }
  if (!archive.is_saving()) {
    if (stage_ >= parts_.stages.size())
      throw UserError("the checkpoint is from a stage that this job does not have");
    return;
  }
  const Archive::Scope scope(archive, "stage");
  parts_.stages[stage_]->state(archive);
}

void Run::restore(Archive archive) {
  restored_ = std::make_unique<Archive>(std::move(archive));
  state(*restored_);
}

void Run::begin_stage(bool resumed) {
  if (parts_.simulation) {
    if (!resumed) simulation().stages().begin(stage_, std::int64_t(simulation().step()));
    for (const auto& o : parts_.observers) o->begin(Observation(simulation()), resumed);
  }
  parts_.stages[stage_]->begin(*this, resumed);
  if (resumed) {
    const auto archive = std::move(restored_);
    const Archive::Scope scope(*archive, "stage");
    parts_.stages[stage_]->state(*archive);
  }
}

void Run::end_stage() {
  if (!parts_.simulation) return parts_.stages[stage_]->end(*this);
  simulation().end_stage();
  for (const auto& o : parts_.observers) o->end(Observation(simulation()));
  parts_.stages[stage_]->end(*this);
}

void Run::tell_what_is_not_shared() {
  const Stage& stage = *parts_.stages[stage_];
  std::string what;
  if (!stage.shares_work())
    what = why_not_distributed();
  else if (stage.needs_system())
    what = why_idle(simulation().device(), simulation().particles().size());
  if (!what.empty()) print("warning: stage " + parts_.stage_names.at(stage_) + ": " + what);
}

bool Run::run_stages() {
  while (stage_ < parts_.stages.size()) {
    if (!begun_) {
      tell_what_is_not_shared();
      begin_stage(restored_ != nullptr);
    }
    begun_ = true;
    const bool stopped = !parts_.stages[stage_]->run(*this) && stop_requested();
    if (stopped && stop_reason_.empty()) return false;  // paused
    // Where the job names no file for it, a stopped run makes one all the same: nothing is lost.
    if (stopped && control_.plans().empty() && !parts_.default_checkpoint.empty())
      save(parts_.default_checkpoint);
    // That of a complete run still is in its last stage, which may be made longer with --set.
    complete_ = !stopped && stage_ + 1 == parts_.stages.size();
    if (stopped)
      for (const auto& plan : control_.plans()) save(plan.path);
    // A complete run has nothing left to do when it is resumed: its checkpoint is written when the
    // last rows are in their files. It holds what was before them, for a run that is made longer.
    std::optional<Archive> last;
    if (complete_ && parts_.write_checkpoint && !control_.plans().empty()) last = saved();
    end_stage();
    if (last)
      for (const auto& plan : control_.plans()) write(plan.path, *last);
    begun_ = false;
    if (stopped) return false;
    ++stage_;
  }
  return true;
}

bool Run::execute() {
  try {
    return run_stages();
  } catch (const NotFiniteError& e) {
    const std::string what = e.what() + why_undefined(e.particle);
    end_broken_stage();
    throw RunError(what);
  } catch (...) {
    end_broken_stage();
    throw;
  }
}

/// What was written before stays readable; a second error would only hide the first.
void Run::end_broken_stage() {
  try {
    if (stage_ < parts_.stages.size()) end_stage();
  } catch (const std::exception&) {
  }
}

}  // namespace perrin
