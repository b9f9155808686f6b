#include "engine/dynamics/deformation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/components/integrator.h"
#include "engine/components/rigid_bodies.h"
#include "engine/components/setup.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/deformation_kernels.h"
#include "engine/system/configuration_archive.h"
#include "neighbor/neighbors.h"

namespace perrin {

using namespace deformation;

namespace deformation {

struct SixSums {
  double of[6] = {};
  PERRIN_HD SixSums& operator+=(const SixSums& b) {
    for (int k = 0; k < 6; ++k) of[k] += b.of[k];
    return *this;
  }
};

struct AddVirial {
  const Real* virial;
  std::int64_t n;
  PERRIN_HD SixSums operator()(std::int64_t i) const {
    SixSums s;
    for (int c = 0; c < 6; ++c) s.of[c] = double(virial[c * n + i]);
    return s;
  }
};

}  // namespace deformation

namespace {

/// 0 where places alone change: where the job says so, and where the integrator has no velocities.
std::uint32_t turns_velocities(const StepContext& s, const std::optional<DeformSettings>& deform) {
  const bool moved = s.degrees_of_freedom().velocities() == VelocityRole::moved;
  return moved && (!deform || deform->remap_velocities) ? 1 : 0;
}

struct Number {
  const double* of;
  PERRIN_HD double operator()(std::int64_t i) const { return of[i]; }
};

}  // namespace

/// The virial by pairs and bonds, and room to measure it.
struct Deformation::Virial {
  Buffer<Real4> force;
  Buffer<Real> shares;
  Buffer<SixSums> scratch, sums;

  Virial(const Device& device, std::int64_t n)
      : force(device, n), shares(device, 6 * n), scratch(device, sum_chunks), sums(device, 1) {}
  const double* measure(StepContext& s) {
    shares.zero();
    bool add = false;
    for (const auto& f : s.forces()) {
      f->act(s, {force.data(), shares.data(), add, true});
      add = true;
    }
    if (s.bodies()) s.bodies()->correct_virial(s.particles(), force.data(), shares.data());
    sum<SixSums>(s.device(), "virial", s.particles().size(),
                 AddVirial{shares.data(), s.particles().size()}, scratch, sums.data());
    return sums.data()->of;
  }
};

Deformation::Deformation(const DeformSettings& settings, std::int64_t steps, std::string path)
    : deform_(settings), path_(std::move(path)), work_(settings.work) {
  schedule_.steps = std::max<std::int64_t>(1, settings.steps.value_or(steps));
  schedule_.form = settings.form == "linear"        ? BoxSchedule::Form::linear
                   : settings.form == "exponential" ? BoxSchedule::Form::exponential
                                                    : BoxSchedule::Form::oscillating;
}

Deformation::Deformation(const ShearSettings& settings, std::string path, bool turns)
    : shear_(settings), path_(std::move(path)), work_(settings.work) {
  schedule_.form = BoxSchedule::Form::shear;
  schedule_.flow = settings.flow[0] - 'x';
  schedule_.gradient = settings.gradient[0] - 'x';
  schedule_.turns = turns;
}

Deformation::~Deformation() = default;

bool Deformation::tilts() const {
  return shear_ || deform_->xy || deform_->xz || deform_->yz || deform_->angles;
}

std::optional<bool> Deformation::leaves_tilt(int tilt) const {
  if (shear_) return tilt == schedule_.which() ? std::optional(true) : std::nullopt;
  const std::optional<double> targets[3] = {deform_->xy, deform_->xz, deform_->yz};
  std::optional<double> target = targets[tilt];
  if (deform_->angles)
    if (const auto tilts = tilts_of({1, 1, 1}, *deform_->angles)) target = (*tilts)[tilt];
  if (!target) return std::nullopt;
  return *target != 0 || deform_->form == "oscillating";
}

const Flow* Deformation::flow() const {
  return memory_.size() > 0 ? memory_.data()->flow : nullptr;
}

void Deformation::begin(StepContext& s, const Integrator& integrator) {
  schedule_.begin = std::int64_t(s.step());
  schedule_.start = s.particles().box();
  const double tilts[3] = {s.particles().box().xy, s.particles().box().xz, s.particles().box().yz};
  for (int t = 0; t < 3; ++t)
    if (shear_ && t != sheared_tilt() && tilts[t] != 0)
      throw UserError(fmt::format("{}: needs a box without the tilt {}, which is now {:.6g}", path_,
                                  std::array{"xy", "xz", "yz"}[std::size_t(t)], tilts[t]));
  make_room(s, integrator);
  set_targets(schedule_, s.particles().size(), timestep_);
  set_up();
}

void Deformation::resume(StepContext& s, const Integrator& integrator) { make_room(s, integrator); }

void Deformation::make_room(StepContext& s, const Integrator& integrator) {
  context_ = &s;
  timestep_ = integrator.timestep();
  for (std::size_t k = 0; k < s.forces().size(); ++k)
    if (!s.forces()[k]->traits().deformation)
      throw UserError(
          fmt::format("forces[{}] cannot be combined with {}, which deforms the box: expected a "
                      "force between particles",
                      k, path_));
  const Device& device = s.device();
  memory_ = {device, 1};
  due_ = {device, 1};
  if constexpr (sizeof(Real) == 4) rest_ = {s.particles(), IndexedBy::memory};
  if (!work_) return;
  kinetic_work_ = {s.particles(), IndexedBy::place};
  scratch_ = {device, sum_chunks};
  virial_ = std::make_unique<Virial>(device, s.particles().size());
}

void Deformation::set_targets(BoxSchedule& schedule, std::int64_t particles,
                              double timestep) const {
  const Box& start = schedule.start;
  for (int k = 0; k < 3; ++k) schedule.length[k] = start.length[k];
  if (shear_) schedule.step_strain = shear_->rate * timestep;
  if (deform_) {
    const DeformSettings& d = *deform_;
    const std::optional<double> lengths[3] = {d.x, d.y, d.z}, tilts[3] = {d.xy, d.xz, d.yz};
    double volume = d.volume.value_or(start.volume());
    if (d.density) volume = double(particles) / *d.density;
    const double factor = std::pow(volume / start.volume(), 1.0 / start.dimension);
    for (int k = 0; k < 3; ++k) {
      if (d.volume || d.density)
        schedule.length[k] *= k < start.dimension ? factor : 1.0;
      else
        schedule.length[k] = lengths[k].value_or(start.length[k]);
      schedule.tilts[k] = tilts[k].has_value();
      schedule.tilt[k] = tilts[k].value_or(0);
    }
    if (d.angles) {
      const double* l = schedule.length;
      const Vec3<double> tilt = tilts_of({l[0], l[1], l[2]}, *d.angles).value();
      for (int k = 0; k < (start.dimension == 2 ? 1 : 3); ++k)
        schedule.tilts[k] = true, schedule.tilt[k] = tilt[k];
    }
    if (d.period) schedule.step_turn = 2 * M_PI * timestep / *d.period;
  }
}

/// Once the schedule is known.
void Deformation::set_up() {
  StepContext& s = *context_;
  if (const std::string wrong = check_steps(schedule_, s.range(), most_); !wrong.empty())
    throw UserError(path_ + ": " + wrong);
  tail_virial_ = 0;
  const Box& box = s.particles().box_state().given();  // of one volume for all resumed runs
  for (const auto& force : s.forces()) tail_virial_ += force->correction(box).virial * box.volume();
  const FlowWords words{schedule_,
                        memory_.data(),
                        1 / timestep_,
                        turns_velocities(s, deform_),
                        work_ ? kinetic_work_.data() : nullptr,
                        rest_.data()};
  for_each(s.device(), "flow of the box", 1, BeginFlow{words, s.device_step()});
}

/// Does every box on the way hold the range of the forces, and is a step short enough?
std::string Deformation::check_steps(const BoxSchedule& schedule, double range,
                                     double& most) const {
  const std::int64_t samples = std::min<std::int64_t>(schedule.steps, 4096);
  double longest = 0;
  std::string wrong;
  const auto check_box = [&](const Box& b) {
    const auto heights = b.padded_heights();
    for (int k = 0; k < b.dimension; ++k)
      if (b.periodic[std::size_t(k)] && heights[k] / 2 < range && wrong.empty())
        wrong = fmt::format(
            "the box shrinks to a height of {:.6g} along {}; half of it must be at least the range "
            "of the forces, {:.6g}",
            heights[k], "xyz"[k], range);
  };
  for (std::int64_t k = 0; k < samples; ++k) {
    const std::int64_t step =
        schedule.begin + k * (schedule.steps - 1) / std::max<std::int64_t>(1, samples - 1);
    const Triangle g = inverse(step_change(schedule, step));
    const double xy = std::abs(g.xy), xz = std::abs(g.xz), yz = std::abs(g.yz);
    // |1 + g|² ≤ 1 + 2 |sym g| + |g|²
    const double stretch =
        std::max({g.xx + (xy + xz) / 2, g.yy + (xy + yz) / 2, g.zz + (xz + yz) / 2, 0.0});
    const double squares = g.xx * g.xx + g.yy * g.yy + g.zz * g.zz + xy * xy + xz * xz + yz * yz;
    longest = std::max(longest, std::sqrt(1 + 2 * stretch + squares) - 1);
    if (!shear_) check_box(schedule.at(step + 1, 0));
  }
  if (shear_) {
    Box b = schedule.start;
    schedule.tilt_of(b) = 0.5 * b.length[schedule.flow];
    check_box(b);
  }
  constexpr double limit = 0.009;
  most = 1.05 * longest + 1e-9;
  if (!(most < limit) && wrong.empty())
    wrong = fmt::format(
        "lengths change by a fraction of up to {:.3g} per step, which must be below {:.3g}: use a "
        "smaller rate, a shorter time step or more steps",
        longest, limit / 1.05);
  return wrong;
}

std::string Deformation::problem(Box& box, std::int64_t particles, double timestep,
                                 double range) const {
  BoxSchedule schedule = schedule_;
  schedule.begin = 0;
  schedule.start = box;
  set_targets(schedule, particles, timestep);
  double most = 0;
  const std::string wrong = check_steps(schedule, range, most);
  if (!shear_) box = schedule.at(schedule.steps, 0);
  return wrong;
}

void Deformation::begin_work() {
  if (!work_) return;
  StepContext& s = *context_;
  const double* virial = virial_->measure(s);
  for_each(s.device(), "work of the box", 1,
           AddVirialWork{schedule_, memory_.data(), virial, s.particles().box_state().data(),
                         s.device_step(), tail_virial_, true});
}

void Deformation::move_box(StepContext& s) {
  const Device& device = s.device();
  const FlowWords words{schedule_,
                        memory_.data(),
                        1 / timestep_,
                        turns_velocities(s, deform_),
                        work_ ? kinetic_work_.data() : nullptr,
                        rest_.data()};
  for_each(
      device, "the box moves", 1,
      MoveBox{words, s.device_step(), s.particles().box_state().data(), s.fault_sink(), s.range()});
  s.follow_box();
  if (!work_) return;
  const double* virial = virial_->measure(s);
  for_each(device, "work of the box", 1,
           AddVirialWork{schedule_, memory_.data(), virial, s.particles().box_state().data(),
                         s.device_step(), tail_virial_, false});
}

void Deformation::turn_box(StepContext& s) {
  if (!shear_) return;
  const Device& device = s.device();
  const Condition due = device.queue().condition(due_.data());
  for_each(device, "does the tilt turn", 1,
           DecideTurn{schedule_, memory_.data(), s.device_step(), due});
  device.queue().when(due, [&] {
    for_each(
        device, "turned tilt", s.particles().size(),
        TurnParticles{s.particles().view(), memory_.data(), schedule_.flow, schedule_.gradient});
    for_each(device, "turned box", 1,
             TurnBox{schedule_, s.device_step(), s.particles().box_state().data(), due_.data()});
    s.follow_box();
    if (s.neighbors()) s.neighbors()->require_build();
  });
}

void Deformation::measure_work(StepContext& s, double* work) {
  if (!kinetic_work_) return s.device().memory().zero(work, sizeof *work);
  sum<double>(s.device(), "work", kinetic_work_.size(), Number{kinetic_work_.data()}, scratch_,
              work);
  for_each(s.device(), "work", 1, AddWork{memory_.data(), work});
}

void Deformation::end() { rest_ = {}, kinetic_work_ = {}; }

double Deformation::strain(std::uint64_t step) const {
  return shear_ ? double(std::int64_t(step) - schedule_.begin) * schedule_.step_strain : 0;
}

void Deformation::state(Archive& a) {
  const Archive::Scope scope(a, "deformation");
  const auto now = std::int64_t(context_->step());
  a("begin", schedule_.begin);
  a.require(schedule_.begin >= 0 && schedule_.begin <= now, "begin",
            "a step that the run has made");
  archive_box(a, "start", schedule_.start);
  if (rest_ && a.has("velocity_rest")) {
    rest_.state(a, "velocity_rest");
    const auto fine = [](const Real4& r) {  // NaN is not
      return std::abs(r.x) <= 1 && std::abs(r.y) <= 1 && std::abs(r.z) <= 1;
    };
    a.require(a.is_saving() || std::ranges::all_of(rest_.to_host(), fine), "velocity_rest",
              "what rounding has left of each velocity");
  }
  if (work_) {
    DeformationMemory m = memory_.to_host(0);
    a("virial_work", m.virial_work);
    std::vector<double> virial(m.virial, m.virial + 6);
    a("virial", virial);
    a.require(virial.size() == 6, "virial", "six numbers");
    kinetic_work_.state(a, "kinetic_work");
    std::copy(virial.begin(), virial.end(), m.virial);
    m.measured = std::uint64_t(now);
    if (!a.is_saving()) memory_.assign(std::span<const DeformationMemory>(&m, 1));
  }
  if (a.is_saving()) return;
  const Box &start = schedule_.start, &box = context_->particles().box();
  a.require(start.periodic == box.periodic && start.dimension == box.dimension, "start",
            "a box of the same axes");
  set_targets(schedule_, context_->particles().size(), timestep_);
  const Box is = schedule_.at(now, now > schedule_.begin ? schedule_.turned(now - 1) : 0);
  const double tolerance = 1e-9 * (box.length.x + box.length.y + box.length.z);
  const auto same = [&](double x, double y) { return std::abs(x - y) < tolerance; };
  if (!(same(is.length.x, box.length.x) && same(is.length.y, box.length.y) &&
        same(is.length.z, box.length.z) && same(is.xy, box.xy) && same(is.xz, box.xz) &&
        same(is.yz, box.yz)))
    throw UserError(fmt::format(
        "{}: the checkpoint has another box than these settings lead to: a resumed run goes on "
        "with {} that it began with{} (or the file was modified)",
        path_, shear_ ? "the rate and the time step" : "the targets, form and number of steps",
        deform_ && !deform_->steps ? "; \"steps\" of deform, by default those of the stage, says "
                                     "how many they were"
                                   : ""));
  set_up();
}

std::unique_ptr<Deformation> Deformation::make(const std::optional<DeformSettings>& deform,
                                               const std::optional<ShearSettings>& shear,
                                               std::int64_t steps, const Integrator* integrator,
                                               Setup& setup) {
  if (!deform && !shear) return nullptr;
  const std::string key = shear ? "shear" : "deform";
  if (deform && shear) setup.error("shear", "a stage has either deform or shear");
  if (integrator && integrator->box_mover())
    setup.error(key, "the integrator has a barostat: only one of them can move the box");
  else if (integrator && !integrator->follows_deformation())
    setup.error(
        key,
        "is not possible with this integrator (a minimiser, several integrators, or one that "
        "freezes particles or axes, or has frictions of axes)");
  if (deform) check(*deform, steps, setup);
  if (deform && deform->period && integrator && *deform->period < 4 * integrator->timestep())
    setup.error("deform.period",
                fmt::format("must be at least four time steps, {:.6g}, got {:.6g}: between steps "
                            "the oscillation would not be seen",
                            4 * integrator->timestep(), *deform->period));
  if (shear) check(*shear, setup);
  const std::string path = setup.path() + "." + key;
  if (shear) return std::make_unique<Deformation>(*shear, path);
  return std::make_unique<Deformation>(*deform, steps, path);
}

}  // namespace perrin
