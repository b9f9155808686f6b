// Integrator "active_ornstein_uhlenbeck": overdamped particles that are driven by velocities v, an
// Ornstein-Uhlenbeck process for each particle and axis,
//
//     dr = F dt / xi + v dt + sqrt(2 k_B T / xi) dW,
//     dv = -v dt / tau + sqrt(2 speed² / (d tau)) dW'.
//
// D. Martin, J. O'Byrne, M. E. Cates, É. Fodor, C. Nardini, J. Tailleur, F. van Wijland, Phys. Rev.
// E 103, 032607 (2021). v is exact, from its stationary distribution on: v' = exp(-dt/tau) v +
// (speed² (1 - exp(-2 dt/tau)) / d)^(1/2) R; a step moves the particle by the v of its beginning.
#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/system/particle_array.h"
#include "overdamped.h"
#include "persist.h"
#include "register.h"

namespace perrin::active {
namespace {

class ActiveOrnsteinUhlenbeck final : public Overdamped {
 public:
  ActiveOrnsteinUhlenbeck(const ActiveOrnsteinUhlenbeckSettings& s, Setup& setup)
      : Overdamped(s, setup),
        tau_(s.persistence_time),
        instance_(setup.instance(Purpose::active_ornstein_uhlenbeck)) {}

  void begin(StageContext& s) override {
    tabulate(s, [d = dimension(), dt = dt_](double speed) { return speed / std::sqrt(d) * dt; });
    const std::uint64_t seed = instance_seed(s.seed(), instance_);
    noise_ = {RunKey(Purpose::active_ornstein_uhlenbeck, seed), planar_};
    drive_ = {s.particles(), IndexedBy::id};
    for_each(s.device(), "first active velocities", s.particles().size(),
             FirstDrive{noise_, s.step(), drive_.data()});
    s.ensure_forces();
  }
  void end() override { drive_ = {}; }
  std::string needs_fixed_group() const override {
    return "keeps the velocities that drive its particles, which others would not have when they "
           "come";
  }

  void steps(StepContext& s, int n) override {
    run_steps(s, n, [&] {
      return Persist{mobilities(s),
                     drive_.data(),
                     Real(std::exp(-dt_ / tau_)),
                     Real(std::sqrt(-std::expm1(-2 * dt_ / tau_))),
                     noise_,
                     kt_ == 0,
                     !s.forces().empty()};
    });
  }

  void state(Archive& archive) override {
    drive_.state(archive, "active_velocities");
    if (archive.is_saving()) return;
    for (const Real4& v : drive_.to_host())
      archive.require(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z),
                      "active_velocities", "finite numbers");
  }

 private:
  double tau_;
  std::uint32_t instance_;
  AxisNoise noise_{};
  ParticleArray<Real4> drive_;
};

}  // namespace

void register_active_ornstein_uhlenbeck(Registry& registry) {
  registry.add<Integrator, ActiveOrnsteinUhlenbeckSettings>(
      "active_ornstein_uhlenbeck",
      "active Ornstein-Uhlenbeck particles: overdamped, driven by velocities that persist",
      [](const ActiveOrnsteinUhlenbeckSettings& s, Setup& setup) {
        return std::make_unique<ActiveOrnsteinUhlenbeck>(s, setup);
      });
}

}  // namespace perrin::active
