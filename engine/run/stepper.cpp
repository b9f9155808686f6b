#include "engine/run/stepper.h"

#include <algorithm>

#include "engine/core/parallel.h"
#include "engine/run/simulation.h"
#include "neighbor/neighbors.h"
#include "neighbor/tuner.h"

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

void Stepper::advance(Integrator& integrator, std::int64_t n) {
  if (!s_.tuner_ || !integrator.recordable()) return run(integrator, n);
  constexpr std::int64_t at_least = 64, not_counted = 16;  // first lists and recordings
  constexpr double long_enough = 0.1;
  while (n > 0) {
    const std::int64_t portion = std::min(n, at_least);
    const WallClock clock;
    run(integrator, portion);
    n -= portion;
    window_.seconds += clock.seconds();
    window_.steps += portion;
    if (window_.steps < at_least || window_.seconds < long_enough) continue;
    if (s_.tuner_->measured(window_.seconds / double(window_.steps))) {
      s_.use_neighbors(s_.tuner_->current());
      run(integrator, std::min(n, not_counted));
      n -= std::min(n, not_counted);
      s_.ensure_forces();  // n may be 0, and observers want forces in the order of the new lists
    }
    window_ = {};
  }
}

void Stepper::run(Integrator& integrator, std::int64_t n) {
  if (n <= 0) return;
  s_.prepare(integrator);
  s_.ensure_forces();
  s_.totals_.forget();
  s_.clock_.set_timestep(integrator.timestep());
  const std::uint64_t target = s_.step() + std::uint64_t(n);
  s_.device().is_cuda() ? run_on_gpu(integrator, target) : run_on_cpu(integrator, target);
}

/// Launches n steps (on the CPU: does them).
void Stepper::launch(Integrator& integrator, int n) {
  s_.running_.inside = true;
  s_.running_.index = 0;
  integrator.steps(s_, n);
  s_.running_.index = 0;
  s_.running_.inside = false;
  s_.particles.settle();
  for_each(s_.device(), "advance the step", RunningStep::most,
           AdvanceStep{s_.running_.number.data(), std::uint64_t(n)});
}

void Stepper::run_on_cpu(Integrator& integrator, std::uint64_t target) {
  const WallClock clock;
  const Timings before = s_.timings;
  const int most = integrator.recordable() ? RunningStep::most : 1;
  while (s_.step() < target) {
    const auto portion = int(std::min<std::uint64_t>(target - s_.step(), std::uint64_t(most)));
    launch(integrator, portion);
    if (const Fault& fault = *s_.running_.fault.data(); fault.claimed) {
      s_.device().set_skipping(false);
      s_.clock_.set_step(fault.step);
      s_.check_faults();
    }
    s_.clock_.set_step(s_.step() + std::uint64_t(portion));
  }
  const double parts = s_.timings.neighbors + s_.timings.forces - before.neighbors - before.forces;
  s_.timings.integration += clock.seconds() - parts;
}

/// One step of every call runs unrecorded: it shows the shares of the parts, and warms up what a
/// recording must not allocate. Whether a step is recorded does not change its bits.
void Stepper::run_on_gpu(Integrator& integrator, std::uint64_t target) {
  const WallClock clock;
  Timings share;
  std::swap(share, s_.timings);
  s_.running_.sampling = true;
  launch(integrator, 1);
  s_.device().synchronize();
  const double sample = clock.seconds();
  s_.running_.sampling = false;
  std::swap(share, s_.timings);
  s_.clock_.set_step(s_.step() + 1);
  s_.check_faults();

  while (s_.step() < target) {
    if (integrator.recordable()) {
      replay(integrator, std::int64_t(target - s_.step()));
      continue;
    }
    launch(integrator, 1);
    s_.clock_.set_step(s_.step() + 1);
    if (s_.step() == target || s_.step() % 64 == 0) s_.check_faults();
  }
  const double total = clock.seconds();
  const double scale = total / std::max(sample, 1e-9);
  s_.timings.neighbors += share.neighbors * scale;
  s_.timings.forces += share.forces * scale;
  s_.timings.integration += total - (share.neighbors + share.forces) * scale;
}

/// n recorded steps, or up to and including one that was halted.
void Stepper::replay(Integrator& integrator, std::int64_t n) {
  for (; n >= RunningStep::most; n -= RunningStep::most)
    recorded(integrator, RunningStep::most).replay();
  for (; n > 0; --n) recorded(integrator, 1).replay();
  s_.device().synchronize();
  s_.clock_.set_step(s_.running_.number.to_host(0));
  if (!s_.device().halted()) return;
  s_.check_faults();
  recover(integrator);
}

Recording& Stepper::recorded(Integrator& integrator, int n) {
  const std::int64_t version = s_.neighbors ? s_.neighbors->version() : 0;
  if (recorded_for_ != &integrator || recorded_version_ != version) {
    one_step_ = many_steps_ = {};
    recorded_for_ = &integrator;
    recorded_version_ = version;
  }
  Recording& recording = n == 1 ? one_step_ : many_steps_;
  if (!recording)
    recording = Recording(s_.device(), [this, &integrator, n] { launch(integrator, n); });
  return recording;
}

/// A list was full, and every kernel since did nothing: a larger one is built, and what is left of
/// the step is done, from update_neighbors() on.
void Stepper::recover(Integrator& integrator) {
  const std::uint32_t done = s_.running_.progress.to_host(0);
  s_.clock_.set_step(s_.step() + done);
  // By every step that was begun.
  s_.particles.assume_exchanged(s_.running_.exchanges && done % 2 == 0);
  PERRIN_ASSERT(s_.neighbors && s_.neighbors->recover());
  set_device_step();
  s_.device().set_skipping(true);
  launch(integrator, 1);
  s_.device().set_skipping(false);
  s_.clock_.set_step(s_.step() + 1);
}

void Stepper::set_device_step() {
  for_each(s_.device(), "running step", RunningStep::most,
           SetStep{s_.running_.number.data(), s_.step()});
}

void Stepper::restart() {
  set_device_step();
  forget();
}

}  // namespace perrin
