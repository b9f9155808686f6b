#include "engine/dynamics/stepper.h"

#include <algorithm>

#include "engine/components/integrator.h"
#include "engine/components/step_context.h"
#include "engine/device/batch_replay.h"
#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "engine/domain/load_balancer.h"
#include "engine/dynamics/totals_meter.h"
#include "neighbor/halts.h"
#include "neighbor/neighbors.h"

namespace perrin {
namespace {

struct AdvanceStep {
  std::uint64_t* step;
  std::uint64_t by;
  PERRIN_HD void operator()(std::int64_t k) const { step[k] += by; }
};

struct SetStep {
  std::uint64_t* step;
  std::uint64_t to;
  PERRIN_HD void operator()(std::int64_t k) const { step[k] = to + std::uint64_t(k); }
};

}  // namespace

Stepper::Stepper(StepContext& context, Clock& clock, RunningStep& running, TotalsMeter& totals)
    : s_(context), clock_(clock), running_(running), totals_(totals) {}
Stepper::~Stepper() = default;

void Stepper::expect(std::int64_t n, const Sampling& sampling) {
  sampling_ = &sampling;
  if (n == asked_) stops_ = n % RunningStep::usual != 0 ? n : 0;
  asked_ = n;
  sampled_step_ = s_.step();
}

void Stepper::run(Integrator& integrator, std::int64_t n) {
  complete_ = false;
  const std::uint64_t target = s_.step() + std::uint64_t(n);
  s_.device().is_cuda() ? run_on_gpu(integrator, target) : run_on_cpu(integrator, target);
  if (!sampling_->unseen) complete();
  s_.particles().box_state().download();
}

void Stepper::complete() {
  settle();
  if (!complete_) s_.particles().domain().gather_all();
  complete_ = true;
}

void Stepper::settle() {
  if (unsettled_) unsettled_->settle(s_);
  unsettled_ = nullptr;
}

/// The phases are those that decide what is launched, so that plans of steps that are alike are
/// equal.
StepPlan Stepper::plan_of(std::uint64_t at, int count) const {
  const std::int64_t box = s_.box_stride();
  const SlowForces& slow = s_.slow_forces();
  StepPlan plan;
  plan.count = count;
  plan.box_phase = StepPlan::phase_of(std::int64_t(at % std::uint64_t(box)), count, box);
  plan.slow_phase = StepPlan::phase_of(slow.phase(at), count, slow.stride);
  return plan;
}

/// Launches steps (on the CPU: does them).
void Stepper::launch(Integrator& integrator, const StepPlan& plan) {
  totals_.forget();
  running_.plan = plan;
  running_.index = 0;
  try {
    integrator.steps(s_, plan.count);
  } catch (...) {
    running_.plan = {}, running_.index = 0;
    // Nothing that was noted for a batch has been done, no exchange of arrays either.
    if (s_.device().queue().collects()) s_.particles().memory_order().assume_swapped(false);
    throw;
  }
  if (!integrator.recordable()) unsettled_ = &integrator;
  running_.index = 0;
  running_.plan = {};
  s_.particles().memory_order().copy_back_buffers();
  for_each(s_.device(), "advance the step", RunningStep::most,
           AdvanceStep{running_.number.data(), std::uint64_t(plan.count)});
  if (plan.sampled) totals_.launch_sample(true);
}

void Stepper::run_on_cpu(Integrator& integrator, std::uint64_t target) {
  const WallClock clock;
  const Timings before = s_.timings();
  LoadBalancer* const balance = decomposition().balance();
  const auto most = std::uint64_t(integrator.recordable() ? RunningStep::most : 1);
  while (s_.step() < target) {
    const std::uint64_t portion =
        std::min({target - s_.step(), most, sampling_->steps_to_next(s_.step())});
    if (balance) balance->begin_work();
    launch(integrator, plan_of(s_.step(), int(portion)));
    if (balance) balance->end_work();
    Fault& fault = *running_.fault.data();
    decomposition().take(fault.claimed != 0, fault);
    if (fault.claimed) {
      s_.device().halt().set_skipping(false);
      tell();
      clock_.set_step(fault.step);
      s_.check_faults();
    }
    clock_.set_step(s_.step() + portion);
    sample(s_.step());
  }
  tell();
  const Timings& now = s_.timings();
  const double parts =
      now.neighbors + now.forces + now.output - before.neighbors - before.forces - before.output;
  s_.timings().integration += clock.seconds() - parts;
}

bool Stepper::can_be_recorded(const Integrator& integrator) const {
  return integrator.recordable() &&
         std::ranges::none_of(s_.forces(), [](const auto& force) { return force->traits().waits; });
}

/// Where what is launched says the same at any step, and lists need no host.
bool Stepper::forces_can_be_recorded() const {
  const bool alike = s_.slow_forces().stride == 1 && !s_.particles().box_state().moves() &&
                     !s_.constraints() && !s_.bodies();
  if (!alike || std::ranges::any_of(s_.forces(), [](const auto& f) { return f->traits().waits; }))
    return false;
  return s_.neighbors() && s_.neighbors()->visit([]<class T>(const T& traversal) {
    if constexpr (BuildsInPairLoops<T>)
      return traversal.builds_in_pair_loops();
    else
      return false;
  });
}

bool Stepper::compute_forces_in_batch() {
  BatchReplay* const batch = s_.device().role().batch;
  if (!batch || recorded_for_ == nullptr || recorded_version_ != version() ||
      !forces_can_be_recorded() || !batch->comes_between(s_.device().role().batch_member))
    return false;
  if (!forces_)
    forces_ = Recording(s_.device(), [this] {
      s_.update_neighbors();
      s_.compute_forces();
    });
  forces_.replay();
  if (look().halt == 0) return true;
  s_.check_faults();
  s_.neighbors()->recover();  // a row had no room: all forces come after
  return false;
}

/// Waits for what was launched.
HostStatus::Seen Stepper::look() {
  if (!host_status_) host_status_ = std::make_unique<HostStatus>(s_.device());
  return host_status_->look(running_.number.data());
}

/// Now and then one step runs unrecorded: it shows the shares of the parts, and warms up what a
/// recording must not allocate. Whether a step is recorded does not change its bits.
void Stepper::run_on_gpu(Integrator& integrator, std::uint64_t target) {
  const WallClock clock;
  const double output = s_.timings().output;
  decomposition().begin_work();
  while (s_.step() < target) {
    rebalance();
    if (shares_are_old() || !recordings_hold(integrator)) {
      step_unrecorded(integrator);
    } else if (can_be_recorded(integrator)) {
      replay(integrator, target);
    } else {
      launch(integrator, plan_of(s_.step(), 1));
      clock_.set_step(s_.step() + 1);
      if (s_.step() == target || s_.step() % 64 == 0) check();
    }
    sample(s_.step());
  }
  tell();
  const double total = clock.seconds() - (s_.timings().output - output);
  s_.timings().neighbors += shares_.neighbors * total;
  s_.timings().forces += shares_.forces * total;
  s_.timings().integration += total - (shares_.neighbors + shares_.forces) * total;
}

/// Several processes do what the others do, and do not ask the clock. One of a batch waits for
/// others most of the time: its shares are those of its first step.
bool Stepper::shares_are_old() const {
  constexpr double often_enough = 0.1;
  constexpr std::uint64_t steps = 4096;
  if (s_.device().role().batch) return false;
  return decomposition().several() ? s_.step() - shares_step_ > steps
                                   : shares_.age.seconds() > often_enough;
}

Decomposition& Stepper::decomposition() const { return decomposition_of(s_.device()); }

void Stepper::step_unrecorded(Integrator& integrator) {
  shares_step_ = s_.step();
  const WallClock clock;
  Timings parts;
  std::swap(parts, s_.timings());
  StepPlan next = plan_of(s_.step(), 1);
  next.timed = true;
  launch(integrator, next);
  s_.device().synchronize();
  std::swap(parts, s_.timings());
  const double all = std::max(clock.seconds(), 1e-9);
  shares_ = {parts.neighbors / all, parts.forces / all, {}};
  // Before it is recorded all that a step may do has been done.
  if (!recordings_hold(integrator) &&
      StepPlan::is_due(next.slow_phase, 0, s_.slow_forces().stride)) {
    recordings_.clear();
    forces_ = {};
    sampled_unrecorded_ = false;
    recorded_for_ = &integrator;
    recorded_version_ = version();
  }
  clock_.set_step(s_.step() + 1);
  check();
}

/// Now and then, if GPUs have not worked equally long.
void Stepper::rebalance() {
  const LoadBalancer* const balance = decomposition().balance();
  if (!balance || !s_.neighbors() || s_.step() - looked_step_ < balance->steps_between_looks())
    return;
  looked_step_ = s_.step();
  if (!decomposition().plan_rebalancing()) return;
  s_.neighbors()->rebalance();
  decomposition().begin_work();
}

/// So many that they fill the time between samples, changes of the box, or stops for observers and
/// callbacks, if that can be.
int Stepper::steps_of_a_recording() const {
  constexpr int fewest = 4;
  if (const int cycle = int(s_.slow_forces().stride); cycle > 1) {
    const std::int64_t between =
        sampling_->common_stride() > 0 ? sampling_->common_stride() : stops_;
    for (int n = RunningStep::most / cycle * cycle; n >= std::max(fewest, cycle); n -= cycle)
      if (between > 0 && between % n == 0) return n;
    return RunningStep::usual / cycle * cycle;
  }
  const std::int64_t samples = sampling_->common_stride(), quiet = s_.box_stride() - 1;
  for (int n = RunningStep::usual; samples == 0 && quiet > 0 && n >= fewest; --n)
    if (quiet % n == 0) return n;
  const std::int64_t between = samples > 0 ? samples : quiet > 0 ? 0 : stops_;
  if (between > 0 && between <= RunningStep::most) return int(between);
  for (int n = RunningStep::most; n >= fewest; --n)
    if (between > 0 && between % n == 0) return n;
  return RunningStep::usual;
}

/// Recorded steps, or up to and including one that was halted; not further than there is room for
/// samples.
void Stepper::replay(Integrator& integrator, std::uint64_t target) {
  totals_.forget();
  std::uint64_t at = s_.step();
  const bool ahead = samples_ahead();
  if (!ahead) target = at + std::min(target - at, sampling_->steps_to_next(at));
  several_ = steps_of_a_recording();
  std::erase_if(recordings_, [&](const auto& one) {
    return one.first.count != 1 && one.first.count != several_;
  });
  while (at < target && !totals_.full()) {
    const std::uint64_t end = at + std::min(target - at, sampling_->steps_to_next(at));
    const bool sampled = ahead && sampling_->is_due(end);
    while (at < end) {
      const Portion next = next_portion(at, end, sampled && sampled_unrecorded_);
      at += std::uint64_t(next.plan.count) * std::uint64_t(next.times);
      recording(integrator, next.plan).replay(next.times);
    }
    if (!sampled) continue;
    sampled_unrecorded_ ? note_sample(at) : sample(at);
    sampled_unrecorded_ = true;
  }
  const HostStatus::Seen seen = look();
  clock_.set_step(seen.number);
  const bool halted = decomposition().any(seen.halt != 0);
  tell();
  if (!halted) return;
  s_.check_faults();
  recover(integrator);
}

std::int64_t Stepper::version() const { return s_.neighbors() ? s_.neighbors()->version() : 0; }

bool Stepper::recordings_hold(const Integrator& integrator) const {
  return recorded_for_ == &integrator && recorded_version_ == version();
}

/// Between a change of the box and the next, as many as there are before `end`; with slow forces
/// whole cycles, or else one. The last ones before a sample come by themselves.
Stepper::Portion Stepper::next_portion(std::uint64_t at, std::uint64_t end, bool sampled) const {
  const auto several = std::uint64_t(several_), stride = std::uint64_t(s_.box_stride());
  const std::int64_t phase = s_.slow_forces().phase(at);
  const std::uint64_t quiet = stride > 1 ? stride - 1 - at % stride : end - at;
  const std::uint64_t n = phase == 0 && std::min(end - at, quiet) >= several ? several : 1;
  const bool alike = s_.slow_forces().stride == 1 || n > 1;
  const std::uint64_t times = quiet == 0 || !alike ? 1 : std::min(end - at, quiet) / n;
  Portion next{plan_of(at, int(n)), int(times)};
  if (!sampled || at + n * times != end) return next;
  next.plan.sampled = times == 1;
  if (times > 1) --next.times;
  return next;
}

const Recording& Stepper::recording(Integrator& integrator, const StepPlan& plan) {
  for (const auto& [of, recording] : recordings_)
    if (of == plan) return recording;
  Recording made(s_.device(), [this, &integrator, plan] { launch(integrator, plan); });
  return recordings_.emplace_back(plan, std::move(made)).second;
}

/// Whether totals can be measured between steps without the host: what searches for pairs anew may
/// find no room, and lists have been looked after by the step.
bool Stepper::samples_ahead() const { return !s_.neighbors() || s_.neighbors()->has_lists(); }

/// Measures the totals if that is due at this step.
void Stepper::sample(std::uint64_t step) {
  if (step == sampled_step_ || !sampling_->is_due(step)) return;
  if (totals_.full()) tell();
  settle();
  const WallClock clock;
  totals_.launch_sample(samples_ahead());
  note_sample(step);
  s_.timings().output += clock.seconds();
  // Particles come and go in steps that are not recorded: who is there is known now.
  const bool recorded = s_.bath() == nullptr || s_.bath()->recordable();
  if (!samples_ahead() || !recorded) tell();
}

void Stepper::note_sample(std::uint64_t step) {
  totals_.note_sample(step);
  sampled_step_ = step;
}

/// Calls the observers for every finished sample.
void Stepper::tell() {
  for (const Instant& instant : totals_.collect()) {
    if (instant.step == s_.step()) totals_.set(instant.totals, instant.groups);
    sampling_->tell(instant);
  }
}

/// Throws RunError if a step went wrong, when what came before has been told.
void Stepper::check() {
  tell();
  s_.check_faults();
}

/// A list was full, and every kernel since did nothing: a larger one is built, and what is left of
/// the step is done, from update_neighbors() on.
void Stepper::recover(Integrator& integrator) {
  const std::uint32_t done = running_.progress.to_host(0);
  clock_.set_step(s_.step() + done);
  sampled_step_ = s_.step();  // what was launched for later steps did nothing
  // By every step that came to sort its particles.
  std::uint32_t halt = 0;
  s_.device().memory().copy_out(&halt, s_.device().halt().word(), sizeof halt);
  const bool sorted = halt != halted_by_cut;
  s_.particles().memory_order().assume_swapped(running_.exchanges && (done % 2 == 0) == sorted);
  PERRIN_ASSERT(s_.neighbors() && s_.neighbors()->recover());
  set_device_step();
  s_.device().halt().set_skipping(true);
  launch(integrator, plan_of(s_.step(), 1));
  s_.device().halt().set_skipping(false);
  clock_.set_step(s_.step() + 1);
}

void Stepper::set_device_step() {
  for_each(s_.device(), "running step", RunningStep::most,
           SetStep{running_.number.data(), s_.step()});
}

void Stepper::restart() {
  set_device_step();
  forget();
}

}  // namespace perrin
