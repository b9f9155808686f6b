#include "integrators/barostat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/configuration_archive.h"
#include "engine/core/parallel.h"
#include "engine/run/simulation.h"
#include "integrators/volume_move.h"
#include "neighbor/neighbors.h"

namespace perrin {
namespace {

struct RaiseWhenDue {
  const std::uint64_t* step;
  std::uint64_t stride;
  Condition due;
  PERRIN_HD void operator()(std::int64_t) const {
    if ((*step + 1) % stride == 0) due.raise();
  }
};

bool has_axis(const BarostatSettings& s, int axis, int dimension) {
  return s.axes == "all" ? axis < dimension : s.axes.find("xyz"[axis]) != std::string::npos;
}

}  // namespace

std::unique_ptr<Barostat> Barostat::make(const std::optional<BarostatSettings>& settings,
                                         bool needs_temperature, Setup& setup) {
  const std::string key = "barostat";
  if (!settings) return nullptr;
  if (settings->temperature.has_value() != needs_temperature)
    setup.error(key + ".temperature",
                needs_temperature
                    ? "missing: the volume fluctuates as a bath of this temperature has it"
                    : "is that of the integrator: nothing is to be said here");
  const Box& box = setup.configuration().box;
  bool good = true;
  for (int axis = 0; axis < 3; ++axis) {
    if (!has_axis(*settings, axis, box.dimension)) continue;
    const char name = "xyz"[axis];
    if (axis >= box.dimension || !box.periodic[std::size_t(axis)]) {
      setup.error(key + ".axes",
                  fmt::format("must be axes along which the box is periodic, got {}, and along {} "
                              "it is not",
                              settings->axes, name));
      good = false;
    }
  }
  return good ? std::make_unique<Barostat>(*settings) : nullptr;
}

void Barostat::begin(Simulation& s, double timestep, const Ramp& kt) {
  const Device& device = s.device();
  const std::int64_t n = s.particles.size();
  kt_ = kt;
  half_step_ = timestep / 2;
  bool all_have_work = true;
  if (scratch_.size() == 0) {
    work_ = {device, n};
    scratch_ = {device, sum_chunks};
    due_ = {device, 1};
    if (memory_.size() == 0) memory_ = {device, 1};
  }
  const double volume = s.particles.box.volume();
  tail_virial_ = 0;
  // Corrections go with 1/volume: of one volume for all resumed runs, to the last bit.
  const Box now = s.particles.box;
  s.particles.box = s.particles.given_box();
  for (std::size_t k = 0; k < s.forces.size(); ++k) {
    Force& force = *s.forces[k];
    if (!force.follows_box())
      throw UserError(
          fmt::format("forces[{}] cannot be in a job with a barostat: that is for forces between "
                      "particles that follow from an energy",
                      k));
    if (!force.compute_box_work(s, {})) all_have_work = false;
    tail_virial_ += force.correction(s).virial * s.particles.box.volume();
  }
  s.particles.box = now;
  if (!all_have_work && force_.size() == 0) force_ = {device, n}, virial_ = {device, 6 * n};
  if (!begun_) {
    begun_ = true;
    drift_ = s.degrees_of_freedom.drift(s.totals().momentum);
    const double ideal = volume / (double(std::max<std::int64_t>(n, 1)) * kt.from);
    const double compressibility = settings_.compressibility.value_or(0.05 * ideal);
    const double interval = timestep * double(settings_.stride);
    diffusion_ = compressibility * interval / (4 * settings_.tau);
    const int dimension = s.particles.box.dimension;
    double axes = 0;
    for (int axis = 0; axis < 3; ++axis) axes += has_axis(settings_, axis, dimension) ? 1 : 0;
    // Six times what the noise does to a length; at least two, at most eight parts in a thousand.
    const double noise = 2 / axes * std::sqrt(2 * diffusion_ * std::max(kt.from, kt.to) / volume);
    most_ = std::clamp(6 * noise, 0.002, 0.008);
  }
}

/// `scale`: of velocities (BoxWork).
void Barostat::measure(Simulation& s, const Real4* scale, AxisSums* sums) {
  BoxWork work{work_.data(), scale, false};
  bool others = false;
  for (const auto& force : s.forces) {
    if (force->compute_box_work(s, work)) {
      work.add = true;
    } else {
      force->compute(s, {force_.data(), virial_.data(), others, true});
      others = true;
    }
  }
  if (!work.add) work.of = nullptr;
  sum<AxisSums>(s.device(), "virial", s.particles.size(),
                detail::AddWork{work, force_.data(), s.particles.velocity.data(),
                                others ? virial_.data() : nullptr, s.particles.size()},
                scratch_, sums);
}

void Barostat::move_box(Simulation& s) {
  const Device& device = s.device();
  const Condition due = device.condition(due_.data());
  for_each(device, "is the box due", 1,
           RaiseWhenDue{s.device_step(), std::uint64_t(settings_.stride), due});
  device.when(due, [&] { propose_and_decide(s); });
}

void Barostat::propose_and_decide(Simulation& s) {
  const Device& device = s.device();
  const std::int64_t n = s.particles.size();
  BarostatMemory* memory = memory_.data();
  const int dimension = s.particles.box.dimension;
  detail::VolumeMove move{memory,
                          s.particles.kept_box(),
                          s.device_step(),
                          RunKey(Purpose::barostat, s.seed),
                          kt_,
                          settings_.pressure,
                          diffusion_,
                          most_,
                          tail_virial_,
                          s.range(),
                          half_step_,
                          {},
                          dimension};
  for (int axis = 0; axis < 3; ++axis) move.axes[axis] = has_axis(settings_, axis, dimension);
  if (device.is_cuda() && s.neighbors && !s.neighbors->has_lists()) {
    for_each(device, "take back a box", 1, detail::TakeBack{memory, move.box});
    s.follow_box();
  }
  measure(s, nullptr, &memory->before);
  sum<AxisSums>(device, "kinetic energy", n,
                detail::AddKinetic{s.particles.velocity.data(), drift_}, scratch_,
                &memory->kinetic);
  for_each(device, "propose a box", 1, detail::Propose{move, s.fault_sink()});
  s.follow_box();
  measure(s, &memory->scale, &memory->after);
  for_each(device, "decide on the box", 1, detail::Decide{move, due_.data()});
  s.follow_box();
  for_each(
      device, "velocities in the new box", n,
      detail::ScaleVelocities{
          s.particles.velocity.data(), memory, drift_, {move.axes[0], move.axes[1], move.axes[2]}});
}

void Barostat::add_heat(Simulation& s, double* heat) const {
  if (memory_.size() == 0) return;
  for_each(s.device(), "heat of the barostat", 1, detail::AddHeat{memory_.data(), heat});
}

std::string Barostat::report() const {
  const BarostatMemory m = memory_.size() > 0 ? memory_.to_host(0) : BarostatMemory{};
  if (m.tried == 0) return {};
  return fmt::format("{} of {} changes of the volume accepted", m.accepted, m.tried);
}

void Barostat::state(Archive& a) {
  const Archive::Scope scope(a, "barostat");
  a("begun", begun_);
  const std::int64_t now = kt_.start;  // as begin() has set it
  a("ramp_start", kt_.start);
  a.require(kt_.start >= 0 && kt_.start <= now, "ramp_start", "a step that the run has made");
  a("drift", drift_);
  a("diffusion", diffusion_);
  a("most", most_);
  a.require(std::isfinite(dot(drift_, drift_)), "drift", "a finite velocity");
  a.require(diffusion_ >= 0 && most_ >= 0 && most_ < 0.01, "most", "below 0.01");
  BarostatMemory m{};
  if (a.is_saving() && memory_.size() > 0) m = memory_.to_host(0);
  a("heat", m.heat);
  a("tried", m.tried);
  a("accepted", m.accepted);
  a.require(m.accepted >= 0 && m.tried >= m.accepted, "tried", "as many as were accepted, or more");
  if (!a.is_saving() && memory_.size() > 0) memory_.assign(std::span<const BarostatMemory>(&m, 1));
}

}  // namespace perrin
