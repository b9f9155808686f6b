#include "integrators/barostat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/configuration_archive.h"
#include "engine/core/parallel.h"
#include "engine/run/simulation.h"
#include "neighbor/neighbors.h"
#include "rng/keyed.h"

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

struct AddWork {
  BoxWork work;  // nullptr: no force has that
  const Real4 *force, *velocity;
  const Real* virial;  // nullptr: all have it
  std::int64_t n;
  PERRIN_HD AxisSums operator()(std::int64_t i) const {
    const Real4 a = work.of ? work.of[i] : Real4{};
    AxisSums s{{double(a.x), double(a.y), double(a.z)}, double(a.w)};
    if (!virial) return s;
    for (int k = 0; k < 3; ++k) s.of[k] += double(virial[k * n + i]);
    const Real4 f = force[i];
    s.power += double(work.power(velocity[i], f.x, f.y, f.z));
    return s;
  }
};

struct AddKinetic {
  const Real4* velocity;
  Vec3<double> drift;
  PERRIN_HD AxisSums operator()(std::int64_t i) const {
    const Real4 v = velocity[i];
    if (!(v.w > 0)) return {};
    const double x = double(v.x) - drift.x, y = double(v.y) - drift.y, z = double(v.z) - drift.z;
    const double m = 1 / double(v.w);
    return {{m * x * x, m * y * y, m * z * z}, 0};
  }
};

/// What proposal and decision need. Energies and volumes in the job's units.
struct VolumeMove {
  BarostatMemory* memory;
  Box* box;
  const std::uint64_t* step;
  RunKey key;
  Barostat::Ramp kt_ramp;
  double pressure, diffusion, most, tail_virial, range, half_step;
  bool axes[3];
  int dimension;

  PERRIN_HD static double volume(const Box& b) { return b.length.x * b.length.y * b.length.z; }
  PERRIN_HD double axis_count() const { return double(axes[0] + axes[1] + axes[2]); }
  PERRIN_HD double kt() const { return kt_ramp.at(*step); }
  /// The pressure along the axes; lengths have grown by `factor` since the kinetic energy was
  /// measured.
  PERRIN_HD double internal_pressure(const AxisSums& virial, double v, double factor) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      if (axes[k]) sum += memory->kinetic.of[k] / (factor * factor);
    return (sum + work(virial, v)) / (axis_count() * v);
  }
  /// Of the virial, tail corrections included, for a change of the lengths' logarithm.
  PERRIN_HD double work(const AxisSums& virial, double v) const {
    double sum = axis_count() * tail_virial / (double(dimension) * v);
    for (int k = 0; k < 3; ++k)
      if (axes[k]) sum += virial.of[k];
    return sum;
  }
  /// The mean of a step from λ; where the pressure is far off, no more than it can be undone from.
  PERRIN_HD double mean_step(double lambda, double internal) const {
    const double t = kt();
    const double far = 0.25 * axis_count() * most * lambda;  // half of the longest step
    const double drift = diffusion * t * (1 / lambda + 2 * lambda * (internal - pressure) / t);
    return drift > far ? far : drift < -far ? -far : drift;
  }
};

struct Propose {
  VolumeMove m;
  FaultSink faults;
  PERRIN_HD void operator()(std::int64_t) const {
    BarostatMemory& memory = *m.memory;
    Box b = *m.box;
    memory.box = b;
    memory.factor = 1;
    const double v = VolumeMove::volume(b), lambda = std::sqrt(v);
    auto random = keyed<Philox>(m.key, *m.step, 0);
    const double spread = std::sqrt(2 * m.diffusion * m.kt());
    const double next = lambda + m.mean_step(lambda, m.internal_pressure(memory.before, v, 1)) +
                        spread * random.normal<double>();
    const double log_factor = next > 0 ? 2 * std::log(next / lambda) / m.axis_count() : -1e300;
    if (log_factor > m.most || log_factor < -m.most) return;
    const double f = std::exp(log_factor);
    for (int k = 0; k < 3; ++k)
      if (m.axes[k]) b.length[k] *= f, b.origin[k] *= f;
    if (m.axes[0]) b.xy *= f, b.xz *= f;
    if (m.axes[1]) b.yz *= f;
    const auto heights = b.padded_heights();
    for (int k = 0; k < m.dimension; ++k)
      if (b.periodic[std::size_t(k)] && heights[k] / 2 < m.range) {
        faults.report(FaultKind::box_too_small, 0, heights[k] / 2, m.range);
        return;
      }
    memory.factor = f;
    const Real s = Real(1 / f);
    memory.scale = {m.axes[0] ? s : Real(1), m.axes[1] ? s : Real(1), m.axes[2] ? s : Real(1), 0};
    memory.pending = 1;
    *m.box = b;
  }
};

/// A search without lists was halted by something full before the decision: what is left of the
/// step is run again.
struct TakeBack {
  BarostatMemory* memory;
  Box* box;
  PERRIN_HD void operator()(std::int64_t) const {
    if (memory->pending) *box = memory->box;
    memory->pending = 0;
  }
};

struct Decide {
  VolumeMove m;
  std::uint32_t* due;
  PERRIN_HD void operator()(std::int64_t) const {
    *due = 0;
    BarostatMemory& memory = *m.memory;
    memory.pending = 0;
    memory.tried += 1;
    const double f = memory.factor;
    if (f == 1) return;
    const double kt = m.kt(), d = m.diffusion * kt;
    const double v0 = VolumeMove::volume(memory.box), v1 = VolumeMove::volume(*m.box);
    const double a = std::sqrt(v0), b = std::sqrt(v1);
    const double forth = b - a - m.mean_step(a, m.internal_pressure(memory.before, v0, 1));
    const double back = a - b - m.mean_step(b, m.internal_pressure(memory.after, v1, f));
    double energy = -0.5 * (m.work(memory.before, v0) + m.work(memory.after, v1)) * std::log(f);
    for (int k = 0; k < 3; ++k)
      if (m.axes[k]) energy += 0.5 * memory.kinetic.of[k] * (1 / (f * f) - 1);
    // The second half of the kick is still to come.
    energy += m.half_step * (memory.after.power - memory.before.power);
    const double log_ratio = std::log(b / a) - (energy + m.pressure * (v1 - v0)) / kt +
                             (forth * forth - back * back) / (4 * d);
    auto random = keyed<Philox>(m.key, *m.step, 1);
    if (std::log(random.uniform_open<double>()) < log_ratio) {
      memory.heat += energy;
      memory.accepted += 1;
    } else {
      *m.box = memory.box;
      memory.factor = 1;
    }
  }
};

/// v -> drift + (v - drift) / factor along the axes that have changed.
struct ScaleVelocities {
  Real4* velocity;
  const BarostatMemory* memory;
  Vec3<double> drift;
  bool axes[3];
  PERRIN_HD void operator()(std::int64_t i) const {
    const double f = memory->factor;
    if (f == 1) return;
    Real4 v = velocity[i];
    const Real s = Real(1 / f);
    const double rest = 1 - double(s);
    if (axes[0]) v.x = multiply_add(s, v.x, Real(rest * drift.x));
    if (axes[1]) v.y = multiply_add(s, v.y, Real(rest * drift.y));
    if (axes[2]) v.z = multiply_add(s, v.z, Real(rest * drift.z));
    velocity[i] = v;
  }
};

struct AddHeat {
  const BarostatMemory* memory;
  double* heat;
  PERRIN_HD void operator()(std::int64_t) const { *heat += memory->heat; }
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
                AddWork{work, force_.data(), s.particles.velocity.data(),
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
  VolumeMove move{memory,
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
    for_each(device, "take back a box", 1, TakeBack{memory, move.box});
    s.follow_box();
  }
  measure(s, nullptr, &memory->before);
  sum<AxisSums>(device, "kinetic energy", n, AddKinetic{s.particles.velocity.data(), drift_},
                scratch_, &memory->kinetic);
  for_each(device, "propose a box", 1, Propose{move, s.fault_sink()});
  s.follow_box();
  measure(s, &memory->scale, &memory->after);
  for_each(device, "decide on the box", 1, Decide{move, due_.data()});
  s.follow_box();
  for_each(
      device, "velocities in the new box", n,
      ScaleVelocities{
          s.particles.velocity.data(), memory, drift_, {move.axes[0], move.axes[1], move.axes[2]}});
}

void Barostat::add_heat(Simulation& s, double* heat) const {
  if (memory_.size() == 0) return;
  for_each(s.device(), "heat of the barostat", 1, AddHeat{memory_.data(), heat});
}

std::string Barostat::report() const {
  const BarostatMemory m = memory_.size() > 0 ? memory_.to_host(0) : BarostatMemory{};
  if (m.tried == 0) return {};
  return fmt::format("{} of {} changes of the volume accepted", m.accepted, m.tried);
}

void Barostat::state(Archive& a) {
  const Archive::Scope scope(a, "barostat");
  a("begun", begun_);
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
