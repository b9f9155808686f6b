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

#include "engine/run/registry.h"
#include "plugins/langevin/brownian_move.h"
#include "plugins/langevin/register.h"

namespace perrin::langevin {
namespace {

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

  void steps(Simulation& simulation, int n) override {
    // Generators with states in memory are bound by that: the general functor is enough for them.
    if constexpr (follows_step<Stream> || std::is_same_v<Stream, NoNoise> ||
                  std::is_same_v<Stream, FusedLaggedFibonacciStream>)
      if (plain(simulation)) return steps<true>(simulation, n);
    steps<false>(simulation, n);
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
  template <bool Plain>
  void steps(Simulation& simulation, int n) {
    const auto displace = [&] {
      stream_->begin_step(simulation.device_step());
      return Displace<Noise, Plain>{bath_.mobile(),
                                    mobility_.view(),
                                    bath_.temperature(),
                                    bath_.law(),
                                    stream_->view(),
                                    push(simulation),
                                    previous_.size() > 0 ? previous_.data() : nullptr,
                                    bath_.heat(),
                                    displacement_.data()};
    };
    if (trap_ == nullptr && !simulation.forces.empty()) {
      if (bath_.heat() == nullptr)
        return run_particle_steps(simulation, n, displace, [] { return NoUpdate{}; });
      return run_particle_steps(simulation, n, displace, [&] {
        return SecondHalfOfWork{bath_.mobile(), displacement_.data(), bath_.heat()};
      });
    }
    // No forces in memory are needed, and no neighbours.
    move_particles(simulation, displace());
    for (int k = 1; k < n; ++k)
      update_and_move_particles(
          simulation, [] { return NoUpdate{}; }, displace);
    if (trap_ != nullptr && settings_.keep_forces) simulation.compute_forces();
  }

  bool plain(const Simulation& simulation) const {
    const Mobile mobile = bath_.mobile();
    const Box& box = simulation.particles.box;
    const auto& periodic = box.periodic;
    return mobile.types == nullptr && bath_.law().axes() == 3 &&
           mobility_.view().values == nullptr && bath_.temperature().inverse_ramp == 0 &&
           previous_.size() == 0 && !settings_.tally_heat && periodic[0] && periodic[1] &&
           periodic[2] && (trap_ == nullptr || (!trap_->settings().unwrapped && box.orthogonal()));
  }
  Push push(Simulation& simulation) const {
    const Box& box = simulation.particles.box;
    const HarmonicTrapSettings s = trap_ != nullptr ? trap_->settings() : HarmonicTrapSettings{};
    const auto kind = trap_ != nullptr            ? Push::Kind::trap
                      : simulation.forces.empty() ? Push::Kind::none
                                                  : Push::Kind::memory;
    return {kind,
            box.metric(),
            Anchor(box, s.center, s.unwrapped),
            box.fixed(s.center, 0),
            NearestImage(box),
            {Real(s.stiffness.x), Real(s.stiffness.y),
             box.dimension == 2 ? Real(0) : Real(s.stiffness.z)},
            s.unwrapped ? simulation.particles.image.data() : nullptr,
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
