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

#include "engine/run/registry.h"
#include "plugins/langevin/baoab.h"
#include "plugins/langevin/register.h"
#include "plugins/langevin/verlet_bath.h"

namespace perrin::langevin {
namespace {

/// Law: NoiseLaw or FullGaussian.
template <class Stream, class Law>
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

  void steps(Simulation& simulation, int n) override {
    const Real dt = Real(dt_), half_dt = Real(0.5 * dt_);
    const Mobile mobile = bath_.mobile();
    double* const heat = bath_.heat();
    const auto noise = [&]() -> Noise {
      stream_->begin_step(simulation.device_step());
      return stream_->view();
    };
    const HalfKick half_kick{mobile, half_dt};
    if (baoab_)
      return run_particle_steps(
          simulation, n,
          [&] {
            return KickDriftNoiseDrift<Noise, Law>{
                half_kick, friction_.view(), bath_.temperature(), Law(bath_.law()), noise(), heat};
          },
          [&] { return half_kick; });
    run_particle_steps(
        simulation, n,
        [&] {
          return FirstHalf{mobile, force_.data(), heat, dt};
        },
        [&] {
          return SecondHalf<Noise>{mobile,      drag_.view(), bath_.temperature(),
                                   bath_.law(), noise(),      force_.data(),
                                   heat,        half_dt};
        });
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
          if constexpr (std::is_same_v<Stream, KeyedStream<Saru>>)
            if (FullGaussian::is(bath.law()))
              return std::make_unique<Langevin<Stream, FullGaussian>>(s, std::move(bath));
          return std::make_unique<Langevin<Stream, NoiseLaw>>(s, std::move(bath));
        });
      });
}

}  // namespace perrin::langevin
