#include "integrators/moving.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "engine/domain/reduction.h"
#include "integrators/prescribed.h"

namespace perrin {

/// Where a particle is, from where it was when the stage began, and how fast.
struct Path {
  Vec3<double> velocity, amplitude;
  double frequency;  // 2 pi / period; 0: no oscillation
  double dt;
  std::int64_t start;
  double before;  // time at the step `start`

  formula::ProgramView formula[3];  // of t: velocities in place of `velocity`

  PERRIN_HD double time(std::uint64_t step) const {
    return before + dt * double(std::int64_t(step) - start);
  }
  PERRIN_HD double phase(std::uint64_t step) const { return frequency * time(step); }
  PERRIN_HD double given(int axis, double t) const {
    return formula[axis] ? formula[axis].evaluate(&t) : velocity[axis];
  }
  PERRIN_HD double step_of(int axis, double t) const {
    if (!formula[axis]) return dt * velocity[axis];
    return dt / 6 * (given(axis, t) + 4 * given(axis, t + dt / 2) + given(axis, t + dt));
  }
  /// From one step to the next.
  PERRIN_HD Real4 displacement(std::uint64_t step) const {
    const double swing = std::sin(phase(step + 1)) - std::sin(phase(step)), t = time(step);
    return {Real(step_of(0, t) + swing * amplitude.x), Real(step_of(1, t) + swing * amplitude.y),
            Real(step_of(2, t) + swing * amplitude.z), Real(0)};
  }
  /// After so many steps; w is the inverse mass.
  PERRIN_HD Real4 velocity_at(std::uint64_t step, Real w) const {
    const double swing = frequency * std::cos(phase(step)), t = time(step);
    return {Real(given(0, t) + swing * amplitude.x), Real(given(1, t) + swing * amplitude.y),
            Real(given(2, t) + swing * amplitude.z), w};
  }
};

namespace {

PERRIN_HD double half_work(const MovingParticle& p, double dt) {
  const Real4 &f = p.force, &v = p.velocity;
  return -0.5 * dt *
         (double(f.x) * double(v.x) + double(f.y) * double(v.y) + double(f.z) * double(v.z));
}

struct FollowPath {
  Path path;
  double* work;
  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    work[p.i] += half_work(p, path.dt);
    p.velocity = path.velocity_at(p.step + 1, p.velocity.w);
    return path.displacement(p.step);
  }
};

struct CountWork {
  double dt;
  double* work;
  PERRIN_HD void operator()(const MovingParticle& p) const { work[p.i] += half_work(p, dt); }
};

struct Work {
  const double* work;
  PERRIN_HD double operator()(std::int64_t i) const { return work[i]; }
};

}  // namespace

Path Moving::path(const std::array<formula::ProgramView, 3>& formula) const {
  Path path{velocity_.number, {0, 0, 0}, 0, settings_.timestep, start_, before_, {}};
  for (std::size_t k = 0; k < 3; ++k) path.formula[k] = formula[k];
  if (const auto& swing = settings_.oscillation)
    path.amplitude = swing->amplitude, path.frequency = 2 * M_PI / swing->period;
  return path;
}

void Moving::begin(StageContext& context) {
  context_ = &context, group_ = context.group();
  for (std::size_t k = 0; k < 3; ++k)
    code_[k] = {context.device(), std::span<const formula::Instruction>(velocity_.code[k])};
  if (start_ < 0) start_ = std::int64_t(context.step());
  take_velocity();
  work_ = {context.particles(), IndexedBy::place};
  scratch_ = {context.device(), sum_chunks};
  const std::vector<std::uint8_t> none(std::size_t(context.particles().size()), 0);
  nobody_ = {context.device(), std::span<const std::uint8_t>(none)};
}

void Moving::take_velocity() {
  std::array<formula::ProgramView, 3> host;
  for (std::size_t k = 0; k < 3; ++k)
    host[k] = {velocity_.code[k].data(), int(velocity_.code[k].size())};
  const Real4 v = path(host).velocity_at(context_->step(), 1);
  set_velocities(*context_, group_, {double(v.x), double(v.y), double(v.z)});
}

void Moving::steps(StepContext& context, int n) {
  std::array<formula::ProgramView, 3> code;
  for (std::size_t k = 0; k < 3; ++k) code[k] = {code_[k].data(), int(code_[k].size())};
  const Path path = Moving::path(code);
  double* const work = work_.data();
  run_particle_steps(
      context, n,
      [&] {
        return FollowPath{path, work};
      },
      [&] {
        return CountWork{path.dt, work};
      });
}

Motion Moving::motion() const {
  Motion motion;
  motion.axes = {false, false, false};
  motion.conserves_momentum = false;
  return motion;
}

void Moving::measure_work(StepContext& context, double* work) {
  if (!work_) return Integrator::measure_work(context, work);  // it has not begun
  sum<double>(context.device(), "work", work_.size(), Work{work_.data()}, scratch_, work);
}

void Moving::state(Archive& archive) {
  const std::int64_t now = start_;
  archive("start", start_);
  archive.require(now < 0 || (start_ >= 0 && start_ <= now), "start",
                  "a step that the run has made");
  double timestep = settings_.timestep;
  if (archive.has("timestep")) {
    archive("timestep", timestep);
    archive("before", before_);
    archive.require(timestep > 0 && before_ >= 0 && std::isfinite(timestep + before_), "before",
                    "a time since the stage began");
  }
  work_.state(archive, "work");
  if (archive.is_saving()) return;
  if (timestep != settings_.timestep) {  // from here on
    before_ += timestep * double(std::int64_t(context_->step()) - start_);
    start_ = std::int64_t(context_->step());
  }
  take_velocity();
}

void register_moving(Registry& registry) {
  registry.add<Integrator, MovingSettings>(
      "moving", "particles whose motion is prescribed, as those of a sliding or shaken wall",
      [](const MovingSettings& s, Setup& setup) {
        if (s.oscillation) setup.refuse_z("oscillation.amplitude", s.oscillation->amplitude);
        if (s.oscillation && s.oscillation->period < 4 * s.timestep)
          setup.error("oscillation.period",
                      fmt::format("must be at least four time steps, {:.6g}, got {:.6g}: between "
                                  "steps the oscillation would not be seen",
                                  4 * s.timestep, s.oscillation->period));
        auto velocity = formula::vector_of_time(
            s.velocity, setup.configuration().box.dimension, "velocity", "a velocity",
            [&](const auto& key, const auto& what) { setup.error(key, what); });
        for (std::size_t k = 0; k < 3; ++k) {
          const auto& code = velocity.code[k];
          const double start = 0;  // of the stage, of which t is the time
          if (code.empty()) continue;
          const double v = formula::ProgramView{code.data(), int(code.size())}.evaluate(&start);
          if (!std::isfinite(v))
            setup.error(fmt::format("velocity[{}]", k),
                        fmt::format("must be a number when the stage begins, got {} at t = 0", v));
        }
        return std::make_unique<Moving>(s, std::move(velocity));
      });
}

}  // namespace perrin
