#include "integrators/moving.h"

#include <cmath>

#include "engine/components/registry.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/simulation.h"
#include "integrators/prescribed.h"

namespace perrin {
namespace {

/// Where a particle is, from where it was when the stage began, and how fast.
struct Path {
  Vec3<double> velocity, amplitude;
  double frequency;  // 2 pi / period; 0: no oscillation
  double dt;
  std::int64_t start;

  PERRIN_HD double phase(std::uint64_t step) const {
    return frequency * (dt * double(std::int64_t(step) - start));
  }
  /// From one step to the next.
  PERRIN_HD Real4 displacement(std::uint64_t step) const {
    const double swing = std::sin(phase(step + 1)) - std::sin(phase(step));
    return {Real(dt * velocity.x + swing * amplitude.x),
            Real(dt * velocity.y + swing * amplitude.y),
            Real(dt * velocity.z + swing * amplitude.z), Real(0)};
  }
  /// After so many steps; w is the inverse mass.
  PERRIN_HD Real4 velocity_at(std::uint64_t step, Real w) const {
    const double swing = frequency * std::cos(phase(step));
    return {Real(velocity.x + swing * amplitude.x), Real(velocity.y + swing * amplitude.y),
            Real(velocity.z + swing * amplitude.z), w};
  }
};

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

Path path_of(const MovingSettings& s, std::int64_t start) {
  Path path{s.velocity, {0, 0, 0}, 0, s.timestep, start};
  if (s.oscillation)
    path.amplitude = s.oscillation->amplitude, path.frequency = 2 * M_PI / s.oscillation->period;
  return path;
}

}  // namespace

void Moving::begin(Simulation& simulation) {
  context_ = &simulation, group_ = simulation.group();
  if (start_ < 0) start_ = std::int64_t(simulation.step());
  take_velocity();
  simulation.ensure_forces();
  work_ = {simulation.particles, IndexedBy::place};
  scratch_ = {simulation.device(), sum_chunks};
  const std::vector<std::uint8_t> none(std::size_t(simulation.particles.size()), 0);
  nobody_ = {simulation.device(), std::span<const std::uint8_t>(none)};
}

void Moving::take_velocity() {
  const Real4 v = path_of(settings_, start_).velocity_at(context_->step(), 1);
  set_velocities(*context_, group_, {double(v.x), double(v.y), double(v.z)});
}

void Moving::steps(StepContext& context, int n) {
  const Path path = path_of(settings_, start_);
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
  work_.state(archive, "work");
  if (!archive.is_saving()) take_velocity();
}

void register_moving(Registry& registry) {
  registry.add<Integrator, MovingSettings>(
      "moving", "particles whose motion is prescribed, as those of a sliding or shaken wall",
      [](const MovingSettings& s, Setup& setup) {
        const auto flat = [&](const char* key, Vec3<double> v) {
          if (setup.configuration().box.dimension == 2 && v.z != 0)
            setup.error(key, "must have no z component in two dimensions");
        };
        flat("velocity", s.velocity);
        if (s.oscillation) flat("oscillation.amplitude", s.oscillation->amplitude);
        return std::make_unique<Moving>(s);
      });
}

}  // namespace perrin
