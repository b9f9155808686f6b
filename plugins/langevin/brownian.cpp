// Integrator "brownian": overdamped motion, xi dx = F dt + sqrt(2 xi k_B T) dW. Velocities are
// neither used nor changed.
//
// ermak_mccammon: x' = x + F dt/xi + sqrt(2 k_B T dt/xi) R. D. L. Ermak, J. A. McCammon, J. Chem.
// Phys. 69, 1352 (1978), without hydrodynamic interactions. In a harmonic trap of stiffness k its
// variance is (k_B T/k) / (1 - k dt / 2 xi).
//
// leimkuhler_matthews: (R_n + R_n+1)/2 in place of R. B. Leimkuhler, C. Matthews, Appl. Math. Res.
// Express 2013, 34. The variance in a harmonic trap is k_B T/k, whatever the time step.
#include <limits>
#include <optional>

#include "engine/core/parallel.h"
#include "engine/run/registry.h"
#include "forces/harmonic_trap.h"
#include "forces/nearest_image.h"
#include "integrators/drift.h"
#include "plugins/langevin/bath.h"
#include "plugins/langevin/particle_loop.h"
#include "plugins/langevin/register.h"

namespace perrin::langevin {
namespace {

struct Mobility {  // of one particle
  Real drift;      // dt / xi
  Real spread;     // of the displacement at k_B T = 1: sqrt(2 dt / xi)
};

/// The forces of a step: there are none, they are in memory, or a harmonic trap is all there is.
struct Push {
  enum class Kind { none, memory, trap } kind;
  Anchor center;
  Position middle;  // the center, where every axis is periodic and images do not count
  NearestImage image;
  Real3 stiffness;
  bool unwrapped;
  const std::uint32_t* mask;  // by type; nullptr: the trap acts on all

  /// In a periodic box that is not tilted, to the nearest image of the center.
  PERRIN_HD Real3 nearest(const Metric& metric, const Position& p) const {
    return pull(mask, p, metric.vector(p, middle));
  }
  PERRIN_HD Real3 trap(const ParticleView& particles, const Metric& metric, const Position& p,
                       std::int64_t i) const {
    if (unwrapped) return pull(mask, p, center.to(metric, p, particles.image[i]));
    return pull(mask, p, image(center.to(metric, p, Image{})));
  }

 private:
  PERRIN_HD Real3 pull(const std::uint32_t* acts, const Position& p, Real3 r) const {
    if (acts != nullptr && !acts[p.type()]) return {};
    return {-stiffness.x * r.x, -stiffness.y * r.y, -stiffness.z * r.z};
  }
};

/// Without neighbours to find and forces to read, a particle costs its position, read and written,
/// and its id: 36 bytes. To move that at the speed of memory the GPU has some 300 instructions, so
/// the common case is compiled by itself. Plain: all particles move along the three axes of a
/// periodic box, with the same mobility, at a constant temperature, by ermak_mccammon, and nobody
/// counts the heat.
template <class Noise, bool Plain>
struct Move {
  ParticleView particles;
  Metric metric;
  FaultSink faults;
  Mobile mobile;
  Coefficients<Mobility> mobility;
  Temperature temperature;
  NoiseLaw law;
  Noise noise;
  const std::uint64_t* step;
  Push push;
  bool keep_forces;     // of a fused trap
  Real4* previous;      // noise of the last step, by id; nullptr: ermak_mccammon
  double* heat;         // nullptr: not counted
  Real3* displacement;  // of this step, by id; where heat is counted
  Real limit;

  /// What is read of every particle.
  struct Loaded {
    Position position;
    std::uint32_t id;
    Real3 force;  // from memory
    std::uint64_t step;
  };
  PERRIN_HD Loaded load(std::int64_t i) const {
    Loaded now{particles.position[i], particles.id[i], {}, *step};
    if (push.kind == Push::Kind::memory) now.force = particles.force[i].xyz();
    return now;
  }

  PERRIN_HD void operator()(std::int64_t i, const Loaded& now) const {
    Position p = now.position;
    if (Plain || mobile.moves(p.type())) {
      auto g = noise.local(now.step, now.id);
      const NoiseLaw draws = Plain ? NoiseLaw{true, true, true, law.uniform} : law;
      const Real3 fresh = draws.draw(g);
      noise.store(now.id, g);
      Real3 r = fresh;
      if (!Plain && previous != nullptr) r = Real(0.5) * (previous[now.id].xyz() + fresh);
      const Mobility m = Plain ? mobility.all : mobility.of(p.type(), now.id);
      const Real root = Plain ? temperature.root_from : temperature.root(now.step);
      const Real3 force = Plain ? at(p, now, i) : mobile.along(at(p, now, i));
      const Real3 d = m.drift * force + m.spread * root * r;
      displace(p, i, d);
      // Only now. Issued right behind the load of the same line, this store made a step of 10^7
      // particles five times slower on an H200 (888 µs instead of 188): it seems to wait for it.
      if (!Plain && previous != nullptr) previous[now.id] = {fresh.x, fresh.y, fresh.z, Real(0)};
      if (!Plain && heat != nullptr) {
        heat[i] -= 0.5 * double(dot(force, d));
        displacement[now.id] = d;
      }
    }
    if (keep_forces) {
      const Real3 f = trap_at(p, i);
      particles.force[i] = {f.x, f.y, f.z, Real(0)};
    }
  }

 private:
  PERRIN_HD Real3 trap_at(const Position& p, std::int64_t i) const {
    if constexpr (Plain)
      return push.nearest(metric, p);
    else
      return push.trap(particles, metric, p, i);
  }
  PERRIN_HD Real3 at(const Position& p, const Loaded& now, std::int64_t i) const {
    if (push.kind == Push::Kind::none) return {};
    if (push.kind == Push::Kind::memory) return now.force;
    return trap_at(p, i);
  }

  /// Moves the particle, and p.
  PERRIN_HD void displace(Position& p, std::int64_t i, Real3 d) const {
    if (!Plain || !(dot(d, d) <= limit * limit)) {
      drift(particles, metric, faults, i, d, limit);  // reports what is too long
      p = particles.position[i];
      return;
    }
    const Real3 u = metric.fixed(d);
    const Position q = moved(p, {u.x, u.y, u.z, 0});
    const Image crossed{crossing(p.x, q.x, u.x), crossing(p.y, q.y, u.y), crossing(p.z, q.z, u.z)};
    particles.position[i] = p = q;
    if ((crossed.x | crossed.y | crossed.z) != 0) particles.image[i] += crossed;
  }
};

/// Heat is minus the work of the forces, of which the mean before and after a displacement counts
/// (K. Sekimoto, Prog. Theor. Phys. Suppl. 130, 17 (1998)): potential energy minus heat is
/// conserved. This is the half with the new forces.
struct SecondHalfOfWork {
  ParticleView particles;
  Mobile mobile;
  const Real3* displacement;  // by id
  double* heat;
  PERRIN_HD void operator()(std::int64_t i) const {
    if (mobile.moves(particles.position[i].type()))
      heat[i] -= 0.5 * double(dot(particles.force[i].xyz(), displacement[particles.id[i]]));
  }
};

/// The noise before the first step: from a key of its own, so that it suits every generator.
struct FirstNoise {
  RunKey key;
  NoiseLaw law;
  std::uint64_t step;
  Real4* previous;
  PERRIN_HD void operator()(std::int64_t id) const {
    auto g = keyed<Philox>(key, step, std::uint32_t(id), 1);
    const Real3 r = law.draw(g);
    previous[id] = {r.x, r.y, r.z, Real(0)};
  }
};

template <class Stream>
class Brownian : public Integrator {
  using Noise = decltype(std::declval<Stream&>().view());

 public:
  Brownian(const BrownianSettings& settings, Bath bath)
      : settings_(settings), bath_(std::move(bath)), dt_(settings.timestep) {}

  void begin(Simulation& simulation) override {
    const Device& device = simulation.device();
    const std::int64_t n = simulation.particles.size();
    bath_.begin(simulation, settings_.tally_heat);
    bath_.tabulate(simulation, mobility_, [&](double xi, double) {
      return Mobility{Real(dt_ / xi), Real(std::sqrt(2 * dt_ / xi))};
    });
    trap_ = nullptr;
    if (settings_.fuse && !settings_.tally_heat && simulation.forces.size() == 1)
      trap_ = dynamic_cast<const HarmonicTrap*>(simulation.forces[0].get());
    simulation.ensure_forces();
    if (trap_ != nullptr && !settings_.keep_forces) {  // not stale, but plainly absent
      const Real nan = std::numeric_limits<Real>::quiet_NaN();
      simulation.particles.force.assign(
          std::vector<Real4>(std::size_t(n), Real4{nan, nan, nan, Real(0)}));
    }
    if (settings_.tally_heat) displacement_ = Buffer<Real3>(device, n);
    if (settings_.method == "leimkuhler_matthews") {
      previous_ = Buffer<Real4>(device, n);
      for_each(device, "brownian: first noise", n,
               FirstNoise{RunKey(Purpose::brownian, bath_.seed(simulation.seed)), bath_.law(),
                          simulation.step(), previous_.data()});
    }
    stream_.emplace(device, Purpose::brownian, bath_.seed(simulation.seed), n, bath_.law().words());
  }

  void step(Simulation& simulation) override {
    const Device& device = simulation.device();
    const ParticleView p = simulation.particles.view();
    const Metric metric = simulation.particles.box.metric();
    const std::uint64_t* now = simulation.device_step();
    stream_->begin_step(now);
    const auto mover = [&](auto plain) {
      return Move<Noise, decltype(plain)::value>{p,
                                                 metric,
                                                 simulation.fault_sink(),
                                                 bath_.mobile(),
                                                 mobility_.view(),
                                                 bath_.temperature(),
                                                 bath_.law(),
                                                 stream_->view(),
                                                 now,
                                                 push(simulation),
                                                 trap_ != nullptr && settings_.keep_forces,
                                                 previous_.size() > 0 ? previous_.data() : nullptr,
                                                 bath_.heat(),
                                                 displacement_.data(),
                                                 Real(simulation.max_displacement())};
    };
    bool done = false;
    // Generators with states in memory are bound by that: the general kernel is enough for them.
    if constexpr (follows_step<Stream> || std::is_same_v<Stream, NoNoise>)
      if (plain(simulation)) {
        for_each_loaded(device, "brownian: move", p.n, mover(std::true_type{}));
        done = true;
      }
    if (!done) for_each(device, "brownian: move", p.n, load_and_do(mover(std::false_type{})));
    if (trap_ != nullptr || simulation.forces.empty()) return;
    simulation.update_forces();
    if (bath_.heat() != nullptr)
      for_each(device, "brownian: heat", p.n,
               SecondHalfOfWork{p, bath_.mobile(), displacement_.data(), bath_.heat()});
  }

  double timestep() const override { return dt_; }
  double typical_displacement(const Simulation&) const override {
    return double(mobility_.view().all.spread) * double(bath_.temperature().root_from);
  }
  /// Never; but a good moment to look at the stream.
  bool finished(Simulation& simulation) override {
    stream_->check(simulation.step() - std::uint64_t(bath_.start()));
    return false;
  }
  std::int64_t finish_stride() const override { return check_stride<Stream>; }
  double heat(Simulation&) override { return bath_.total_heat(); }

  void state(Archive& archive) override {
    bath_.state(archive);
    if (previous_.size() > 0) {
      archive("previous_noise", previous_);
      require_finite(archive, "previous_noise", previous_);
    }
    const Archive::Scope scope(archive, "stream");
    stream_->state(archive);
  }

 private:
  bool plain(const Simulation& simulation) const {
    const Mobile mobile = bath_.mobile();
    const Box& box = simulation.particles.box;
    const auto& periodic = box.periodic;
    return mobile.types == nullptr && mobile.x && mobile.y && mobile.z &&
           mobility_.view().values == nullptr && bath_.temperature().inverse_ramp == 0 &&
           previous_.size() == 0 && !settings_.tally_heat && periodic[0] && periodic[1] &&
           periodic[2] && (trap_ == nullptr || (!trap_->settings().unwrapped && box.orthogonal()));
  }
  Push push(const Simulation& simulation) const {
    const Box& box = simulation.particles.box;
    const HarmonicTrapSettings s = trap_ != nullptr ? trap_->settings() : HarmonicTrapSettings{};
    const Real3 stiffness{Real(s.stiffness.x), Real(s.stiffness.y),
                          box.dimension == 2 ? Real(0) : Real(s.stiffness.z)};
    const auto kind = trap_ != nullptr            ? Push::Kind::trap
                      : simulation.forces.empty() ? Push::Kind::none
                                                  : Push::Kind::memory;
    return {kind,
            Anchor(box, s.center, s.unwrapped),
            box.fixed(s.center, 0),
            NearestImage(box),
            stiffness,
            s.unwrapped,
            trap_ != nullptr && !s.types.empty() ? trap_->mask().data() : nullptr};
  }

  BrownianSettings settings_;
  Bath bath_;
  double dt_;
  const HarmonicTrap* trap_ = nullptr;  // where it is fused
  CoefficientTable<Mobility> mobility_;
  std::optional<Stream> stream_;
  Buffer<Real4> previous_;      // noise, by id
  Buffer<Real3> displacement_;  // of a step, by id
};

}  // namespace

void register_brownian(Registry& registry) {
  registry.add<Integrator, BrownianSettings>(
      "brownian", "Brownian dynamics: overdamped motion in a heat bath, velocities left alone",
      [](const BrownianSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        Bath bath(s, "gaussian", Purpose::brownian, setup);
        if (!bath.usable()) return nullptr;
        return with_noise(s.rng, bath.scheme(), [&](auto type) -> std::unique_ptr<Integrator> {
          using Stream = typename decltype(type)::type;
          return std::make_unique<Brownian<Stream>>(s, std::move(bath));
        });
      });
}

}  // namespace perrin::langevin
