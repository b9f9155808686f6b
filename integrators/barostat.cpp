#include "integrators/barostat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/integrator.h"
#include "engine/components/rigid_bodies.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/system/configuration_archive.h"
#include "integrators/bath_kernels.h"
#include "integrators/cluster_scaling.h"
#include "integrators/strain_move.h"
#include "neighbor/neighbors.h"

namespace perrin {
namespace {

constexpr double most_room = 0.008;  // of the logarithm of a length, in a change of the box

/// With velocity_verlet temperature and pressure share ramp_steps.
void check_ramps(const BarostatSettings& s, Setup& setup) {
  if (!s.temperature || !s.final_temperature) check_ramp(s.ramp, "pressure", setup, "barostat.");
  if (s.final_temperature)
    check_ramp({s.final_temperature, s.ramp.steps}, "temperature", setup, "barostat.");
  if (s.final_temperature && !s.temperature)
    setup.error("barostat.final_temperature", "needs a temperature");
}

/// Those that move: no sites of rigid bodies, and nobody who is frozen.
double free_particles(const StepContext& s) { return s.degrees_of_freedom_of_all().along(0); }

}  // namespace

std::optional<BoxStrains> parse_axes(const std::string& axes, int dimension) {
  BoxStrains s;
  if (axes == "all") {
    s.count = 1;
    for (int axis = 0; axis < dimension; ++axis) s.of[0].axis[axis] = true;
    return s;
  }
  const bool flexible = s.flexible = axes == "flexible";
  const std::string text = !flexible ? axes : dimension == 2 ? "x,y" : "x,y,z";
  bool seen[3] = {}, in_group = false;
  for (const char c : text) {
    const auto axis = std::size_t(c - 'x');
    if (c == ',') {
      if (!in_group) return std::nullopt;
      in_group = false;
    } else if (axis > 2 || seen[axis]) {
      return std::nullopt;
    } else {
      if (!in_group) ++s.count;
      in_group = seen[axis] = s.of[s.count - 1].axis[axis] = true;
    }
  }
  if (!in_group) return std::nullopt;
  for (int tilt = 0; flexible && tilt < (dimension == 2 ? 1 : 3); ++tilt)
    s.of[s.count++].tilt = tilt;
  return s;
}

std::optional<BoxStrains> check_axes(const std::string& axes, const std::string& key,
                                     Setup& setup) {
  const Box& box = setup.configuration().box;
  const std::optional<BoxStrains> strains = parse_axes(axes, box.dimension);
  if (!strains) {
    setup.error(key, fmt::format("must be all, flexible, or groups of x, y and z with commas "
                                 "between them, such as \"xy,z\", each axis once, got \"{}\"",
                                 axes));
    return std::nullopt;
  }
  bool good = true;
  for (int axis = 0; axis < 3; ++axis) {
    bool changes = false;
    for (int k = 0; k < strains->count; ++k) changes |= strains->of[k].axis[axis];
    if (!changes || (axis < box.dimension && box.periodic[std::size_t(axis)])) continue;
    setup.error(key, fmt::format("must be periodic axes of the box, got {}, and {} is not periodic",
                                 axes, "xyz"[axis]));
    good = false;
  }
  return good ? strains : std::nullopt;
}

Barostat::Barostat(const BarostatSettings& settings, int dimension)
    : settings_(settings), strains_(parse_axes(settings.axes, dimension).value()) {}

Barostat::~Barostat() = default;

std::unique_ptr<Barostat> Barostat::make(const std::optional<BarostatSettings>& settings,
                                         bool needs_temperature, Setup& setup) {
  const std::string key = "barostat";
  if (!settings) return nullptr;
  check_ramps(*settings, setup);
  if (settings->temperature.has_value() != needs_temperature)
    setup.error(
        key + ".temperature",
        needs_temperature
            ? "is missing: the barostat needs a temperature, and this integrator has no thermostat"
            : "must be left out: the barostat uses the integrator's temperature");
  if (!check_axes(settings->axes, key + ".axes", setup)) return nullptr;
  return std::make_unique<Barostat>(*settings, setup.configuration().box.dimension);
}

std::unique_ptr<Barostat> Barostat::make(const std::optional<BarostatSettings>& settings,
                                         bool needs_temperature, double timestep,
                                         double temperature, Setup& setup) {
  auto made = make(settings, needs_temperature, setup);
  if (made) made->warn_of_room(timestep, temperature * setup.k_boltzmann(), setup);
  return made;
}

/// From noise of three quarters of the room on, one change in five or more is refused.
void Barostat::warn_of_room(double timestep, double kt, Setup& setup) const {
  const double volume = setup.configuration().box.volume();
  const auto particles = double(setup.configuration().type.size());
  if (!(kt > 0) || particles < 1) return;
  const double noise =
      std::sqrt(2 * mobility(timestep, volume, particles, kt) * kt / volume) / fewest_axes();
  if (noise < 0.75 * most_room) return;
  setup.warn(
      "barostat.tau",
      fmt::format("the volume relaxes slower than this: in {} {} the noise of so small a "
                  "system changes a length by {:.2g} % (rms), and lists have room for "
                  "{:.2g} %: expected {}a longer tau",
                  stride_for(timestep), stride_for(timestep) == 1 ? "step" : "steps", 100 * noise,
                  100 * most_room, stride_for(timestep) > 1 ? "a smaller stride, or " : ""));
}

std::int64_t Barostat::stride_for(double timestep) const {
  return settings_.stride.value_or(
      std::clamp(std::int64_t(settings_.tau / (4 * timestep)), std::int64_t(1), std::int64_t(50)));
}

double Barostat::mobility(double timestep, double volume, double particles, double kt) const {
  const double ideal = volume / (std::max(particles, 1.0) * kt);
  const double compressibility = settings_.compressibility.value_or(0.05 * ideal);
  const double interval = timestep * double(stride_for(timestep));
  // One of the strains at a time.
  return compressibility * interval * strains_.count / settings_.tau;
}

double Barostat::fewest_axes() const {
  double fewest = 3;
  for (int k = 0; k < strains_.count; ++k) fewest = std::min(fewest, strains_.of[k].axes());
  return fewest;
}

void Barostat::begin(StageContext& s, double timestep, const Ramp& kt, BoxRule rule) {
  const Device& device = s.device();
  kt_ = kt;
  rule_ = rule;
  stride_ = stride_for(timestep);
  half_step_ = rule == BoxRule::dynamics ? timestep / 2 : 0;
  if (scratch_.size() == 0) {
    scratch_ = {device, sum_chunks};
    kinetic_scratch_ = {device, sum_chunks};
    if (memory_.size() == 0) memory_ = {device, 1};
  }
  if (rule == BoxRule::energies && energy_.size() == 0)
    energy_ = {device, s.particles().size()}, energy_scratch_ = {device, sum_chunks};
  forces_.begin(s, strains_.axes(), "a barostat");
  if (s.constraints() && !clusters_)
    clusters_ = std::make_unique<ClusterScaling>(device, s.particles().properties().topology,
                                                 s.particles().size());
  const double volume = s.particles().box().volume();
  if (!begun_) {
    begun_ = true;
    drift_ = s.degrees_of_freedom_of_all().drift(s.totals().momentum);
    mobility_ = mobility(timestep, volume, free_particles(s), kt.from);
    // Six times what the noise does to a length; at least two, at most eight parts in a thousand.
    const double noise = std::sqrt(2 * mobility_ * std::max(kt.from, kt.to) / volume);
    most_ = std::clamp(6 * noise / fewest_axes(), 0.002, most_room);
    if (rule == BoxRule::energies) {
      most_ = most_room;  // the step may grow
      step_ = std::min(noise, largest_step());
    }
  }
}

/// `strain`: of velocities (BoxWork).
void Barostat::measure(StepContext& s, const VelocityStrain* strain, StrainWork* sum_of) {
  BarostatMemory* memory = memory_.data();
  BoxWork work;
  work.strain = strain;
  work.off_diagonal = strains_.flexible ? &memory->off_diagonal : nullptr;
  work.kick = Real(half_step_ / 2);
  sum<StrainWork>(
      s.device(), "virial", s.particles().size(),
      detail::AddWork{
          memory, work, forces_.measure(s, work, clusters_.get()), velocities(s),
          s.particles().orientations() ? s.particles().orientations()->view() : OrientationView{},
          s.particles().size(), s.particles().id().data(), s.thermal()},
      scratch_, sum_of);
}

void Barostat::measure_energy(StepContext& s, double* sum_of) {
  bool add = false;
  for (const auto& force : s.forces()) {
    force->act(s, {energy_.data(), nullptr, add, true});
    add = true;
  }
  if (s.forces().empty()) energy_.zero();
  sum<double>(s.device(), "energy in a box", s.particles().size(),
              detail::EnergyOfParticle{energy_.data()}, energy_scratch_, sum_of);
}

/// Those that the box changes: of clusters their common ones.
const Real4* Barostat::velocities(StepContext& s) const {
  return clusters_ ? clusters_->velocities() : s.particles().velocity().data();
}

void Barostat::move_box(StepContext& s) {
  const Device& device = s.device();
  const std::int64_t n = s.particles().size();
  BarostatMemory* memory = memory_.data();
  for_each(device, "which strain", 1,
           detail::ChooseStrain{s.device_step(), std::uint64_t(stride_), strains_, memory});
  const detail::BoxMove move{memory,
                             s.particles().box_state().data(),
                             s.device_step(),
                             RunKey(Purpose::barostat, s.seed()),
                             kt_,
                             settings_.ramp.ramp(settings_.pressure, 1, kt_.start),
                             mobility_,
                             most_,
                             forces_.tail(),
                             s.range(),
                             half_step_,
                             rule_ == BoxRule::dynamics ? 0.0 : free_particles(s),
                             strains_.flexible,
                             rule_ == BoxRule::energies ? step_ : 0.0,
                             forces_.tail_energy()};
  if (device.is_cuda() && s.neighbors() && !s.neighbors()->has_lists()) {
    if (clusters_) clusters_->take_back(s, memory);
    for_each(device, "take back a box", 1, detail::TakeBack{memory, move.box});
    s.follow_box();
  }
  if (clusters_) clusters_->keep(s);
  if (rule_ == BoxRule::energies)
    measure_energy(s, &memory->energy[0]);
  else
    measure(s, nullptr, &memory->before);
  if (rule_ == BoxRule::dynamics)
    sum<StrainKinetic>(
        device, "kinetic energy", n,
        detail::AddKinetic{memory, velocities(s), s.particles().id().data(), s.thermal(), drift_},
        kinetic_scratch_, &memory->kinetic);
  for_each(device, "propose a box", 1, detail::Propose{move, s.fault_sink()});
  s.follow_box();
  if (clusters_) clusters_->follow(s, memory);
  if (rule_ == BoxRule::energies)
    measure_energy(s, &memory->energy[1]);
  else
    measure(s, &memory->velocities, &memory->after);
  for_each(device, "decide on the box", 1, detail::Decide{move});
  s.follow_box();
  if (clusters_) clusters_->settle(s, memory);
  if (rule_ != BoxRule::dynamics) return;
  for_each(device, "velocities in the new box", n,
           detail::StrainVelocities{s.particles().velocity().data(), memory, drift_,
                                    s.particles().id().data(),
                                    s.bath() ? s.bath()->thermal() : GroupMask{},
                                    clusters_ ? clusters_->velocities() : nullptr});
}

void Barostat::add_heat(StepContext& s, double* heat) const {
  if (memory_.size() == 0) return;
  add_heat_of(s.device(), "heat of the barostat", memory_.data(), heat);
}

std::string Barostat::report() const {
  const BarostatMemory m = memory_.size() > 0 ? memory_.to_host(0) : BarostatMemory{};
  if (m.tried == 0) return {};
  std::string text = fmt::format("{} of {} changes of the box accepted", m.accepted, m.tried);
  return step_ > 0 ? text + fmt::format(", step {:.4g}", step_) : text;
}

void Barostat::state(Archive& a) {
  const Archive::Scope scope(a, "barostat");
  a("begun", begun_);
  archive_ramp_start(a, kt_.start);
  a("drift", drift_);
  a("mobility", mobility_);
  a("most", most_);
  if (step_ > 0 && a.has("step")) {
    a("step", step_);
    a.require(step_ > 0 && step_ <= largest_step(), "step", "above 0 and not too large");
  }
  a.require(std::isfinite(dot(drift_, drift_)), "drift", "a finite velocity");
  a.require(mobility_ >= 0 && most_ >= 0 && most_ < 0.01, "most", "below 0.01");
  BarostatMemory m{};
  if (a.is_saving() && memory_.size() > 0) m = memory_.to_host(0);
  a("heat", m.heat);
  a("tried", m.tried);
  a("accepted", m.accepted);
  a.require(m.accepted >= 0 && m.tried >= m.accepted, "tried", "as many as were accepted, or more");
  if (!a.is_saving() && memory_.size() > 0) memory_.assign(std::span<const BarostatMemory>(&m, 1));
}

}  // namespace perrin
