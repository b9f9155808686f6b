// An integrator with random numbers and a state of each particle: friction, and a random force that
// remembers,
//
//     m dv/dt = F - xi v + eta,    d(eta)/dt = -eta/tau + sqrt(2 s²/tau) W,
//
// where W is white noise: eta has the variance s² along each axis and the correlation exp(-t/tau).
// (P. Hänggi, P. Jung, Adv. Chem. Phys. 89, 239 (1994), coloured noise by an Ornstein-Uhlenbeck
// process.) Half a kick, half a step of the position, friction, half a step of the position, the
// forces, the new eta, half a kick.
#include <cmath>

#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/job/plugin_api.h"
#include "engine/system/particle_array.h"
#include "integrators/particle_steps.h"
#include "rng/keyed.h"

using namespace perrin;

namespace plugin_name {

// Keys of random numbers: a number of the author's own, and what they are for.
constexpr Purpose first_noise = plugin_purpose(4711, 0), later_noise = plugin_purpose(4711, 1);

struct PluginNameSettings {
  double timestep = 0.005, friction = 1, noise = 1, persistence_time = 1;
};
template <class D>
void describe(D& d, PluginNameSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.required("friction", s.friction, NonNegative{}, "xi: force per velocity (mass/time)");
  d.required("noise", s.noise, NonNegative{},
             "s: root mean square of the random force along an axis (energy/length)");
  d.required("persistence_time", s.persistence_time, Positive{}, "tau of the random force (time)");
}

/// Normally distributed numbers of the variance 1 for the axes of a particle, the same whatever the
/// number of threads or processes.
struct Noise {
  RunKey key;
  bool planar;  // two dimensions
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    auto random = keyed<Philox>(key, step, id);
    const Real3 r = random.template normal3<Real>();
    return {r.x, r.y, planar ? Real(0) : r.z, 0};
  }
};

/// eta begins as it is on average.
struct Begin {
  Noise noise;
  std::uint64_t step;
  Real size;
  Real4* eta;  // by id
  PERRIN_HD void operator()(std::int64_t id) const {
    eta[id] = times(size, noise.draw(step, std::uint32_t(id)));
  }
};

/// What both halves of a step do with the velocity.
PERRIN_HD void kick(MovingParticle& p, Real half_step, const Real4& eta) {
  p.kick(half_step);
  p.velocity = multiply_add(half_step * p.velocity.w, eta, p.velocity);
}

struct KickAndDrift {
  const Real4* eta;  // by id
  Real half_step, friction_dt;
  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    kick(p, half_step, eta[p.id]);
    const Real4 before = p.velocity;
    p.velocity = with_w(times(std::exp(-friction_dt * before.w), before), before);
    return times(half_step, plus(before, p.velocity));
  }
};
struct RenewAndKick {
  Real4* eta;  // by id
  Real half_step, decay, fresh;
  Noise noise;

  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const { return noise.draw(step, id); }
  PERRIN_HD void operator()(MovingParticle& p, const Real4& r) const {
    const Real4 now = multiply_add(fresh, r, times(decay, eta[p.id]));
    eta[p.id] = now;
    kick(p, half_step, now);
  }
};

class PluginName final : public Integrator {
 public:
  explicit PluginName(const PluginNameSettings& s) : settings_(s) {}

  double timestep() const override { return settings_.timestep; }
  /// Noise and friction change the momentum of all particles.
  Motion motion() const override {
    Motion motion;
    motion.conserves_momentum = false;
    return motion;
  }

  void begin(StageContext& s) override {
    s.ensure_forces();
    const bool planar = s.particles().box().dimension == 2;
    noise_ = {RunKey(later_noise, s.seed()), planar};
    eta_ = {s.particles(), IndexedBy::id};  // a resumed run then restores what state() has saved
    for_each(
        s.device(), "first random forces", s.particles().size(),
        Begin{
            {RunKey(first_noise, s.seed()), planar}, s.step(), Real(settings_.noise), eta_.data()});
  }
  void end() override { eta_ = {}; }
  /// Device work only; recorded on a GPU.
  void steps(StepContext& s, int n) override {
    const double dt = settings_.timestep, x = dt / settings_.persistence_time;
    const Real half = Real(dt / 2);
    run_particle_steps(
        s, n,
        [&] {
          return KickAndDrift{eta_.data(), half, Real(settings_.friction * dt)};
        },
        [&] {
          return RenewAndKick{eta_.data(), half, Real(std::exp(-x)),
                              Real(settings_.noise * std::sqrt(-std::expm1(-2 * x))), noise_};
        });
  }
  void state(Archive& archive) override {
    eta_.state(archive, "random_force");
    if (archive.is_saving()) return;
    for (const Real4& v : eta_.to_host())
      archive.require(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z),
                      "random_force", "finite numbers");
  }

 private:
  PluginNameSettings settings_;
  Noise noise_{};
  ParticleArray<Real4> eta_;
};

void register_components(Registry& registry) {
  registry.add<Integrator, PluginNameSettings>(
      "plugin_name", "friction, and a random force on each particle that remembers",
      [](const PluginNameSettings& s, Setup&) { return std::make_unique<PluginName>(s); });
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", plugin_name::register_components)
