#include "engine/run/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/core/parallel.h"
#include "neighbor/neighbors.h"
#include "neighbor/strain.h"
#include "neighbor/tuner.h"

namespace perrin {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Ranges all_ranges(const std::vector<std::unique_ptr<Force>>& forces) {
  Ranges all;
  for (const auto& force : forces) all = join(all, force->ranges());
  return all;
}

Configuration padded(Configuration c, double range) {
  c.box = c.box.padded_for(range * 1.25);  // with room for the skin
  return c;
}

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

/// potential; virial (6); kinetic tensor m v ⊗ v (6); momentum (3)
struct Sums {
  double v[16] = {};
  PERRIN_HD Sums& operator+=(const Sums& b) {
    for (int k = 0; k < 16; ++k) v[k] += b.v[k];
    return *this;
  }
};

std::array<double, 6> virial_of(const Sums& s) {
  return {s.v[1], s.v[2], s.v[3], s.v[4], s.v[5], s.v[6]};
}

struct Measure {
  ParticleView p;
  const Real4* force;
  const Real* virial;
  PERRIN_HD Sums operator()(std::int64_t i) const {
    Sums s;
    s.v[0] = double(force[i].w);
    for (int c = 0; c < 6; ++c) s.v[1 + c] = double(virial[c * p.n + i]);
    const Real4 v = p.velocity[i];
    const double m = 1.0 / double(v.w), x = double(v.x), y = double(v.y), z = double(v.z);
    s.v[7] = m * x * x, s.v[8] = m * y * y, s.v[9] = m * z * z;
    s.v[10] = m * x * y, s.v[11] = m * x * z, s.v[12] = m * y * z;
    s.v[13] = m * x, s.v[14] = m * y, s.v[15] = m * z;
    return s;
  }
};

}  // namespace

Simulation::Simulation(const Device& device, Configuration configuration,
                       std::vector<std::unique_ptr<Force>> the_forces, std::uint64_t the_seed)
    : Simulation(device, std::move(configuration), std::move(the_forces), the_seed,
                 NeighborSettings{}) {}

Simulation::Simulation(const Device& device, Configuration configuration,
                       std::vector<std::unique_ptr<Force>> the_forces, std::uint64_t the_seed,
                       const NeighborSettings& neighbor_settings)
    : degrees_of_freedom(configuration),
      particles(device, padded(std::move(configuration),
                               all_ranges(the_forces).longest() + neighbor_settings.skin)),
      forces(std::move(the_forces)),
      seed(the_seed),
      device_step_(device, steps_per_recording),
      progress_(device, 1),
      fault_(device, 1),
      measured_force_(device, particles.size()),
      measured_virial_(device, 6 * particles.size()) {
  degrees_of_freedom.count(forces, nullptr);
  device.clear_halt();  // that an earlier simulation may have left behind
  for_each(device, "first step", steps_per_recording, SetStep{device_step_.data(), 0});
  ranges_ = all_ranges(forces);
  const double range = ranges_.longest();
  const auto heights = particles.box.padded_heights();
  double smallest = heights.x;
  for (int axis = 1; axis < particles.box.dimension; ++axis)
    smallest = std::min(smallest, heights[axis]);
  max_displacement_ = longest_displacement_ = smallest / 4;
  if (range == 0) return;
  neighbor_settings_ = std::make_unique<NeighborSettings>(neighbor_settings);
  if (neighbor_settings.traversal == "auto")
    tuner_ = std::make_unique<NeighborTuner>(neighbor_settings, range, device.is_cuda());
  use_neighbors(tuner_ ? tuner_->current() : neighbor_settings);
}

void Simulation::use_neighbors(const NeighborSettings& settings, const NeighborChoices* choices) {
  neighbors.reset();  // first: there may be no room for two
  neighbors = std::make_unique<Neighbors>(particles, ranges_, settings, choices);
  max_displacement_ = std::min(longest_displacement_, ranges_.longest() + neighbors->skin());
  forces_valid_ = false;  // the order in memory changes
  recorded_for_ = nullptr;
}

std::string Simulation::neighbor_report() const {
  if (!neighbors) return {};
  const std::string text = neighbors->report();
  return tuner_ ? text + "; auto: " + tuner_->report() : text;
}

Simulation::~Simulation() = default;

template <class F>
void Simulation::timed(double& seconds, F&& work) {
  if (device().is_cuda() && !sampling_) return work();
  const auto start = Clock::now();
  work();
  if (sampling_) device().synchronize();
  seconds += seconds_since(start);
}

void Simulation::next_step() {
  ++recorded_step_;
  // After a fault nothing happens any more, as on a GPU that is halted.
  if (!device().is_cuda() && fault_.data()->claimed) device().set_skipping(true);
}

void Simulation::update_neighbors(bool may_exchange) {
  if (!device().is_cuda() && device().skipping()) return;
  exchanges_ = may_exchange && in_step_ && neighbors && !neighbors->has_lists();
  timed(timings.neighbors, [&] {
    // A step that was halted by a full list goes on from here.
    if (device().skipping() && neighbors) neighbors->forget_check();
    device().set_skipping(false);
    if (neighbors) neighbors->update(progress_.data(), std::uint32_t(recorded_step_), exchanges_);
  });
}

MoveCheck Simulation::check_moves() {
  return neighbors ? neighbors->check_moves(progress_.data(), std::uint32_t(recorded_step_))
                   : MoveCheck{};
}

void Simulation::compute_forces() {
  timed(timings.forces, [&] {
    bool add = false;
    for (const auto& force : forces) {
      force->compute(*this, {particles.force.data(), nullptr, add, false});
      add = true;
    }
    if (forces.empty()) particles.force.zero();
  });
}

void Simulation::ensure_forces() {
  if (forces_valid_) return;
  update_forces();
  forces_valid_ = true;
  check_faults();
}

void Simulation::prepare(const Integrator& integrator) {
  degrees_of_freedom.count(forces, &integrator);
  const double timestep = integrator.recordable() ? integrator.timestep() : 0;
  const bool in_forces = !integrator.applies_pair_friction();
  if (timestep == timestep_ && in_forces == friction_in_forces_) return;
  timestep_ = timestep;
  friction_in_forces_ = in_forces;
  totals_valid_ = forces_valid_ = false;
  recorded_for_ = nullptr;
}

void Integrator::steps(Simulation& simulation, int n) {
  for (int k = 0; k < n; ++k) {
    if (k > 0) simulation.next_step();
    step(simulation);
  }
}

void Simulation::run_steps(Integrator& integrator, int n) {
  in_step_ = true;
  recorded_step_ = 0;
  integrator.steps(*this, n);
  recorded_step_ = 0;
  in_step_ = false;
  particles.settle();
  for_each(device(), "advance the step", steps_per_recording,
           AdvanceStep{device_step_.data(), std::uint64_t(n)});
}

Recording& Simulation::recorded(Integrator& integrator, int n) {
  const std::int64_t version = neighbors ? neighbors->version() : 0;
  if (recorded_for_ != &integrator || recorded_version_ != version) {
    one_step_ = many_steps_ = {};
    recorded_for_ = &integrator;
    recorded_version_ = version;
  }
  Recording& recording = n == 1 ? one_step_ : many_steps_;
  if (!recording)
    recording = Recording(device(), [this, &integrator, n] { run_steps(integrator, n); });
  return recording;
}

void Simulation::finish_halted_step(Integrator& integrator) {
  // The list was full: every kernel since did nothing. Build a larger one and do what is left of
  // the step.
  for_each(device(), "running step", steps_per_recording, SetStep{device_step_.data(), step_});
  device().set_skipping(true);
  run_steps(integrator, 1);
  device().set_skipping(false);
}

void Simulation::advance(Integrator& integrator, std::int64_t n) {
  if (!tuner_ || !integrator.recordable()) return advance_steps(integrator, n);
  constexpr std::int64_t at_least = 64;
  constexpr double long_enough = 0.1;
  while (n > 0) {
    const std::int64_t portion = std::min(n, at_least);
    const auto begin = Clock::now();
    advance_steps(integrator, portion);
    n -= portion;
    window_.seconds += seconds_since(begin);
    window_.steps += portion;
    if (window_.steps < at_least || window_.seconds < long_enough) continue;
    if (tuner_->measured(window_.seconds / double(window_.steps))) {
      use_neighbors(tuner_->current());
      advance_steps(integrator,
                    std::min<std::int64_t>(n, 16));  // first lists and recordings are not counted
      n -= std::min<std::int64_t>(n, 16);
      ensure_forces();  // n may be 0, and observers want forces in the order of the new lists
    }
    window_ = {};
  }
}

void Simulation::advance_steps(Integrator& integrator, std::int64_t n) {
  if (n <= 0) return;
  prepare(integrator);
  ensure_forces();
  totals_valid_ = false;
  const std::uint64_t target = step_ + std::uint64_t(n);
  const auto begin = Clock::now();
  const Timings before = timings;
  // Counted from where the time step last changed: bits must not depend on how a run is cut into
  // calls.
  if (integrator.timestep() != clock_.timestep) clock_ = {step_, time_, integrator.timestep()};
  const auto set_step = [&](std::uint64_t step) {
    step_ = step;
    time_ = clock_.time + double(step - clock_.step) * clock_.timestep;
  };

  if (!device().is_cuda()) {
    const int most = integrator.recordable() ? steps_per_recording : 1;
    while (step_ < target) {
      const auto portion = int(std::min<std::uint64_t>(target - step_, std::uint64_t(most)));
      run_steps(integrator, portion);
      if (fault_.data()->claimed) {
        device().set_skipping(false);
        set_step(fault_.data()->step);
        check_faults();
      }
      set_step(step_ + std::uint64_t(portion));
    }
    const double parts = timings.neighbors + timings.forces - before.neighbors - before.forces;
    timings.integration += seconds_since(begin) - parts;
    return;
  }

  // One step of every call runs unrecorded: it shows the shares of the parts, and warms up what
  // a recording must not allocate. Whether a step is recorded does not change its bits.
  Timings share;
  std::swap(share, timings);
  sampling_ = true;
  const auto sample_begin = Clock::now();
  run_steps(integrator, 1);
  device().synchronize();
  const double sample = seconds_since(sample_begin);
  sampling_ = false;
  std::swap(share, timings);
  set_step(step_ + 1);
  check_faults();

  while (step_ < target) {
    if (!integrator.recordable()) {
      run_steps(integrator, 1);
      set_step(step_ + 1);
      if (step_ == target || step_ % 64 == 0) check_faults();
      continue;
    }
    std::uint64_t left = target - step_;
    for (; left >= steps_per_recording; left -= steps_per_recording)
      recorded(integrator, steps_per_recording).replay();
    for (; left > 0; --left) recorded(integrator, 1).replay();
    device().synchronize();
    set_step(device_step_.to_host(0));
    if (!device().halted()) continue;
    check_faults();
    const std::uint32_t done = progress_.to_host(0);
    set_step(step_ + done);
    particles.assume_exchanged(exchanges_ && done % 2 == 0);  // by every step that was begun
    PERRIN_ASSERT(neighbors && neighbors->recover());
    finish_halted_step(integrator);
    set_step(step_ + 1);
  }
  const double total = seconds_since(begin);
  const double scale = total / std::max(sample, 1e-9);
  timings.neighbors += share.neighbors * scale;
  timings.forces += share.forces * scale;
  timings.integration += total - (share.neighbors + share.forces) * scale;
}

const Totals& Simulation::totals() {
  if (totals_valid_) return totals_;
  if (neighbors) neighbors->update();
  measured_force_.zero();
  measured_virial_.zero();
  bool add = false;
  // Those that see pairs through the list, or the others.
  const auto measure = [&](bool pairs) {
    for (const auto& force : forces) {
      if ((force->range() > 0) != pairs) continue;
      force->compute(*this, {measured_force_.data(), measured_virial_.data(), add, true});
      add = true;
    }
    return sum<Sums>(device(), "totals", particles.size(),
                     Measure{particles.view(), measured_force_.data(), measured_virial_.data()});
  };
  const bool any_other = std::any_of(forces.begin(), forces.end(),
                                     [](const auto& force) { return !(force->range() > 0); });
  // The virial is that of all forces, friction and noise of pairs included: there the correction errs by
  // some 1e-8 of their random sum.
  Sums s = measure(true);
  double unstretched = neighbors ? pair_strain(*neighbors).energy(virial_of(s)) : 0;
  if (any_other) {
    const Sums all = measure(false);
    std::array<double, 6> others = virial_of(all);
    for (std::size_t c = 0; c < 6; ++c) others[c] -= virial_of(s)[c];
    unstretched += metric_strain(particles.box).energy(others);
    s = all;
  }
  Totals t;
  t.potential = s.v[0] + unstretched;
  for (std::size_t c = 0; c < 6; ++c) {
    t.virial[c] = s.v[1 + c];
    t.kinetic_tensor[c] = s.v[7 + c];
  }
  t.kinetic = (t.kinetic_tensor[0] + t.kinetic_tensor[1] + t.kinetic_tensor[2]) / 2;
  t.momentum = {s.v[13], s.v[14], s.v[15]};
  for (const auto& force : forces) {
    const ForceCorrection c = force->correction(*this);
    t.potential += c.energy;
    for (std::size_t axis = 0; axis < 3; ++axis) t.virial[axis] += c.virial / 3;
  }
  totals_ = t;
  totals_valid_ = true;
  return totals_;
}

double Simulation::temperature() {
  return degrees_of_freedom.kt(totals().kinetic, totals().momentum) / k_boltzmann;
}

std::array<double, 6> Simulation::pressure_tensor() {
  const Totals& t = totals();
  std::array<double, 6> p{};
  for (std::size_t c = 0; c < 6; ++c)
    p[c] = (t.kinetic_tensor[c] + t.virial[c]) / particles.box.volume();
  return p;
}

double Simulation::pressure() {
  const auto p = pressure_tensor();
  return particles.box.dimension == 2 ? (p[0] + p[1]) / 2 : (p[0] + p[1] + p[2]) / 3;
}

void Simulation::invalidate() {
  totals_valid_ = forces_valid_ = false;
  recorded_for_ = nullptr;
  if (neighbors) neighbors->invalidate();
}

void Simulation::check_faults() {
  const Fault f = fault_.to_host(0);
  if (!f.claimed) return;
  const char* axes = "xyz";
  switch (f.kind) {
    case FaultKind::not_finite:
      throw RunError(
          fmt::format("step {}: particle {}: a displacement that is not a finite number "
                      "(velocity or force is NaN or infinite)",
                      f.step, f.id));
    case FaultKind::too_fast:
      throw RunError(
          fmt::format("step {}: particle {} moved {:.6g} in one step; more than {:.6g} is "
                      "taken as an explosion (overlapping particles, or the time step is "
                      "too long)",
                      f.step, f.id, f.value, f.limit));
    case FaultKind::left_the_box:
      throw RunError(
          fmt::format("step {}: particle {} left the box along {}, which is not periodic", f.step,
                      f.id, axes[f.axis % 3]));
    case FaultKind::bond_too_long:
      throw RunError(fmt::format("step {}: particle {}: a bond is {:.6g} long, its limit is {:.6g}",
                                 f.step, f.id, f.value, f.limit));
    default:
      throw BugError("a fault without a kind");
  }
}

void Simulation::state(Archive& a) {
  a.set_device(device());
  Archive::Scope scope(a, "simulation");
  particles.state(a);
  a("step", step_);
  // Steps are counted in signed numbers elsewhere, and must stay exact in a double.
  a.require(step_ < std::uint64_t(1) << 53, "step", "below 2^53");
  a("time", time_);
  a("clock", clock_);
  a.require(clock_.step <= step_ && std::isfinite(clock_.time) && std::isfinite(clock_.timestep),
            "clock", "of this step or an earlier one, with finite times");
  a("forces_valid", forces_valid_);
  a("force_timestep", timestep_);
  a("friction_in_forces", friction_in_forces_);
  state_of_neighbors(a);
  for_each(device(), "running step", steps_per_recording, SetStep{device_step_.data(), step_});
  totals_valid_ = false;
}

void Simulation::state_of_neighbors(Archive& a) {
  const Archive::Scope scope(a, "neighbors");
  const std::string mine = neighbors ? what_choices_rest_on(*neighbor_settings_, ranges_,
                                                            particles.types.size(), device())
                                     : "";
  // Another GPU cuts the box otherwise.
  const std::string my_hardware = device().is_cuda() ? device().description() : "cpu";
  std::string basis = mine, hardware = my_hardware;
  a("basis", basis);
  basis = current_basis(basis);
  a("hardware", hardware);
  recorded_for_ = nullptr;
  if (basis != mine) {
    forces_valid_ = false;
    if (neighbors) neighbors->invalidate();
    return;
  }
  if (!neighbors) return;
  if (tuner_) tuner_->state(a);
  NeighborChoices choices = neighbors->choices();
  choices.state(a);
  if (!a.is_saving()) {
    const bool valid = forces_valid_;
    use_neighbors(tuner_ ? tuner_->current() : *neighbor_settings_, &choices);
    forces_valid_ = valid;
  }
  if (!neighbors->state(a) && hardware == my_hardware)
    throw BugError(
        "the lists of the checkpoint cannot be built again: particles came into another "
        "order in memory");
}

}  // namespace perrin
