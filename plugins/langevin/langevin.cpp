// Integrator "langevin": m dv = F dt - xi v dt + sqrt(2 xi k_B T) dW.
//
// baoab: kick, drift, Ornstein-Uhlenbeck, drift, kick. B. Leimkuhler, C. Matthews, Appl. Math. Res.
// Express 2013, 34. Averages over positions are those of the canonical ensemble up to dt^4 at high
// friction; of a harmonic oscillator they are exact, and m <v²> is k_B T (1 - k dt²/4m).
//
// velocity_verlet: the force of the bath, sqrt(2 xi k_B T / dt) R - xi v, is added to the others at
// the end of a step, v being the velocity half a step before, and stays until the next. C. L.
// Phillips, J. A. Anderson, S. C. Glotzer, J. Comput. Phys. 230, 7191 (2011), equation 1, with
// uniform R.
#include <optional>

#include "engine/core/parallel.h"
#include "engine/run/registry.h"
#include "integrators/drift.h"
#include "plugins/langevin/bath.h"
#include "plugins/langevin/register.h"

namespace perrin::langevin {
namespace {

/// 1/2 m (b² - a²), in double: heat is a small difference.
PERRIN_HD double kinetic_change(Real3 a, Real3 b, Real inverse_mass) {
  const Real3 d = b - a, s = a + b;
  return 0.5 * (double(d.x) * double(s.x) + double(d.y) * double(s.y) + double(d.z) * double(s.z)) /
         double(inverse_mass);
}

PERRIN_HD void set_velocity(const ParticleView& particles, const FaultSink& faults, std::int64_t i,
                            Real3 v, Real inverse_mass) {
  particles.velocity[i] = {v.x, v.y, v.z, inverse_mass};
  const Real total = v.x + v.y + v.z;
  if (!(total - total == Real(0)))  // NaN or infinite
    faults.report(FaultKind::not_finite, particles.id[i], double(total), 0);
}

struct Friction {  // of one particle
  Real decay;      // exp(-xi dt / m)
  Real spread;     // of the velocity drawn, at k_B T = 1
};

/// B A O A; the second B is HalfKick.
template <class Noise>
struct Baoab {
  ParticleView particles;
  Metric metric;
  FaultSink faults;
  Mobile mobile;
  Coefficients<Friction> friction;
  Temperature temperature;
  NoiseLaw law;
  Noise noise;
  const std::uint64_t* step;
  double* heat;
  Real half_dt, limit;

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t type = particles.position[i].type(), id = particles.id[i];
    if (!mobile.moves(type)) return;
    const Real4 v = particles.velocity[i];
    const Real3 before = v.xyz() + half_dt * v.w * mobile.along(particles.force[i].xyz());

    auto g = noise.local(*step, id);
    const Real3 r = law.draw(g);
    noise.store(id, g);
    const Friction f = friction.of(type, id);
    const Real3 after = f.decay * before + f.spread * temperature.root(*step) * r;

    particles.velocity[i] = {after.x, after.y, after.z, v.w};
    if (heat != nullptr) heat[i] += kinetic_change(before, after, v.w);
    drift(particles, metric, faults, i, half_dt * (before + after), limit);
  }
};

struct HalfKick {
  ParticleView particles;
  FaultSink faults;
  Mobile mobile;
  Real half_dt;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (!mobile.moves(particles.position[i].type())) return;
    const Real4 v = particles.velocity[i];
    set_velocity(particles, faults, i,
                 v.xyz() + half_dt * v.w * mobile.along(particles.force[i].xyz()), v.w);
  }
};

struct Drag {   // of one particle
  Real drag;    // xi
  Real spread;  // of the random force, at k_B T = 1: sqrt(2 xi / dt)
};

/// The half kick by a force of the particles and one of the bath, whose part is counted as heat.
PERRIN_HD Real3 kick_with_bath(const ParticleView& particles, const Mobile& mobile, std::int64_t i,
                               const Real4& v, Real3 bath, Real half_dt, double* heat) {
  const Real3 total = mobile.along(particles.force[i].xyz()) + bath;
  const Real3 kick = half_dt * v.w * total;
  if (heat != nullptr) heat[i] += double(half_dt) * double(dot(v.xyz() + Real(0.5) * kick, bath));
  return v.xyz() + kick;
}

struct FirstHalf {
  ParticleView particles;
  Metric metric;
  FaultSink faults;
  Mobile mobile;
  const Real3* bath;  // by id
  double* heat;
  Real dt, limit;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (!mobile.moves(particles.position[i].type())) return;
    const Real4 v = particles.velocity[i];
    const Real3 w =
        kick_with_bath(particles, mobile, i, v, bath[particles.id[i]], Real(0.5) * dt, heat);
    particles.velocity[i] = {w.x, w.y, w.z, v.w};
    drift(particles, metric, faults, i, dt * w, limit);
  }
};

template <class Noise>
struct SecondHalf {
  ParticleView particles;
  FaultSink faults;
  Mobile mobile;
  Coefficients<Drag> drag;
  Temperature temperature;
  NoiseLaw law;
  Noise noise;
  const std::uint64_t* step;
  Real3* bath;  // by id
  double* heat;
  Real half_dt;

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t type = particles.position[i].type(), id = particles.id[i];
    if (!mobile.moves(type)) return;
    const Real4 v = particles.velocity[i];
    auto g = noise.local(*step, id);
    const Real3 r = law.draw(g);
    noise.store(id, g);
    const Drag d = drag.of(type, id);
    const Real3 b = d.spread * temperature.root(*step) * r - d.drag * v.xyz();
    bath[id] = b;
    set_velocity(particles, faults, i, kick_with_bath(particles, mobile, i, v, b, half_dt, heat),
                 v.w);
  }
};

template <class Stream>
class Langevin : public Integrator {
  using Noise = decltype(std::declval<Stream&>().view());

 public:
  Langevin(const LangevinSettings& settings, Bath bath)
      : bath_(std::move(bath)),
        dt_(settings.timestep),
        baoab_(settings.method == "baoab"),
        tally_heat_(settings.tally_heat) {}

  void begin(Simulation& simulation) override {
    bath_.begin(simulation, tally_heat_);
    bath_.rest(simulation);
    simulation.ensure_forces();
    const Device& device = simulation.device();
    const std::int64_t n = simulation.particles.size();
    if (baoab_) {
      bath_.tabulate(simulation, friction_, [&](double xi, double mass) {
        const double x = xi * dt_ / mass;
        return Friction{Real(std::exp(-x)), Real(std::sqrt(-std::expm1(-2 * x) / mass))};
      });
    } else {
      bath_.tabulate(simulation, drag_, [&](double xi, double) {
        return Drag{Real(xi), Real(std::sqrt(2 * xi / dt_))};
      });
      force_ = Buffer<Real3>(device, n);  // none in the first half kick of a stage
    }
    stream_.emplace(device, Purpose::langevin, bath_.seed(simulation.seed), n, bath_.law().words());
  }

  void step(Simulation& simulation) override {
    const Device& device = simulation.device();
    const ParticleView p = simulation.particles.view();
    const Metric metric = simulation.particles.box.metric();
    const FaultSink faults = simulation.fault_sink();
    const std::uint64_t* now = simulation.device_step();
    const auto limit = Real(simulation.max_displacement());
    const Real dt = Real(dt_), half_dt = Real(0.5 * dt_);
    const Mobile mobile = bath_.mobile();

    stream_->begin_step(now);
    if (baoab_) {
      for_each(device, "langevin: kick, drift, noise, drift", p.n,
               Baoab<Noise>{p, metric, faults, mobile, friction_.view(), bath_.temperature(),
                            bath_.law(), stream_->view(), now, bath_.heat(), half_dt, limit});
      simulation.update_forces();
      for_each(device, "langevin: half kick", p.n, HalfKick{p, faults, mobile, half_dt});
    } else {
      for_each(device, "langevin: half kick and drift", p.n,
               FirstHalf{p, metric, faults, mobile, force_.data(), bath_.heat(), dt, limit});
      simulation.update_forces();
      for_each(device, "langevin: bath and half kick", p.n,
               SecondHalf<Noise>{p, faults, mobile, drag_.view(), bath_.temperature(), bath_.law(),
                                 stream_->view(), now, force_.data(), bath_.heat(), half_dt});
    }
  }

  double timestep() const override { return dt_; }
  Motion motion() const override { return bath_.motion(); }
  /// Never; but a good moment to look at the stream.
  bool finished(Simulation& simulation) override {
    stream_->check(simulation.step() - std::uint64_t(bath_.start()));
    return false;
  }
  std::int64_t finish_stride() const override { return check_stride<Stream>; }
  double heat(Simulation&) override { return bath_.total_heat(); }

  void state(Archive& archive) override {
    bath_.state(archive);
    if (!baoab_) {
      archive("bath_force", force_);
      require_finite(archive, "bath_force", force_);
    }
    const Archive::Scope scope(archive, "stream");
    stream_->state(archive);
  }

 private:
  Bath bath_;
  double dt_;
  bool baoab_, tally_heat_;
  CoefficientTable<Friction> friction_;
  CoefficientTable<Drag> drag_;
  std::optional<Stream> stream_;
  Buffer<Real3> force_;  // of the bath, by id
};

}  // namespace

void register_langevin(Registry& registry) {
  registry.add<Integrator, LangevinSettings>(
      "langevin", "Langevin dynamics (canonical ensemble): drag and random forces of a heat bath",
      [](const LangevinSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        Bath bath(s, s.method == "baoab" ? "gaussian" : "uniform", Purpose::langevin, setup);
        if (!bath.usable()) return nullptr;
        return with_noise(s.rng, bath.scheme(), [&](auto type) -> std::unique_ptr<Integrator> {
          using Stream = typename decltype(type)::type;
          return std::make_unique<Langevin<Stream>>(s, std::move(bath));
        });
      });
}

}  // namespace perrin::langevin
