// Integrators "active_brownian" and "run_and_tumble": overdamped particles that swim along their
// axis u,
//
//     dr = F dt / xi + v0 u dt + sqrt(2 k_B T / xi) dW.
//
// active_brownian: u diffuses on the circle or the sphere with the coefficient D_r. P. Romanczuk,
// M. Bär, W. Ebeling, B. Lindner, L. Schimansky-Geier, Eur. Phys. J. Special Topics 202, 1 (2012);
// Y. Fily, M. C. Marchetti, Phys. Rev. Lett. 108, 235702 (2012).
//
// run_and_tumble: orientations are drawn anew at a rate. J. Tailleur, M. E. Cates, Phys. Rev. Lett.
// 100, 218103 (2008).
//
// In both torques turn particles with the mobility 1/xi_r, and a constant angular velocity about
// their own z axis may be added. A step is Euler's: it turns the particle, then moves it along the
// new axis, with the forces and torques of its beginning. Weakly of first order in the time step.
#include <fmt/format.h>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "overdamped.h"
#include "register.h"
#include "swimmers.h"

namespace perrin::active {
namespace {

class Swimmers final : public Overdamped {
 public:
  /// `tumbles`: of a type per time. `turns_by_itself`: rotation must be given.
  Swimmers(const SwimmerSettings& s, std::vector<double> tumbles, bool turns_by_itself,
           Setup& setup)
      : Overdamped(s, setup),
        instance_(setup.instance(Purpose::active_brownian)),
        tumbles_(std::move(tumbles)),
        spin_(numbers_by_type(setup, "angular_speed", s.angular_speed, s.angular_speeds, 0.0)) {
    find_rotation(s, turns_by_itself, setup);
  }

  void begin(StageContext& s) override {
    tabulate(s, [dt = dt_](double speed) { return speed * dt; });
    std::vector<Turning> of_type;
    torques_ = s.bodies() ||
               std::ranges::any_of(s.forces(), [](const auto& f) { return f->traits().torques; });
    turns_ = torques_;
    for (std::size_t t = 0; t < spin_.size(); ++t) {
      of_type.push_back({-std::expm1(-tumbles_[t] * dt_), Real(dt_ * mobility_of_rotation_[t]),
                         Real(std::sqrt(2 * diffusion_[t] * dt_)), Real(spin_[t] * dt_)});
      turns_ = turns_ || tumbles_[t] > 0 || diffusion_[t] > 0 || spin_[t] != 0;
    }
    turning_ = {s.device(), std::span<const Turning>(of_type)};
    const auto key = [&](Purpose purpose) {
      return RunKey(purpose, instance_seed(s.seed(), instance_));
    };
    noise_ = {key(Purpose::active_brownian), planar_};
    rotation_ = key(Purpose::active_rotation), tumbling_ = key(Purpose::run_and_tumble);
    s.ensure_forces();
  }

  void steps(StepContext& s, int n) override {
    run_steps(s, n, [&] {
      turn(s);
      return Swim{mobilities(s), s.particles().orientations()->orientation().data(), noise_,
                  kt_ == 0, !s.forces().empty()};
    });
  }

  bool turns_particles() const override { return true; }
  /// Axes are the particles' own.
  std::string needs_fixed_group() const override { return {}; }
  std::string objection(const Force& force) const override {
    return force.traits().torques ? unknown_ : "";
  }

 private:
  void find_rotation(const SwimmerSettings& s, bool turns_by_itself, Setup& setup) {
    const auto& types = setup.configuration().types;
    const auto friction = optional_by_type(setup, "rotational_friction", s.rotational_friction,
                                           s.rotational_frictions);
    const auto diffusion = optional_by_type(setup, "rotational_diffusion", s.rotational_diffusion,
                                            s.rotational_diffusions);
    diffusion_.assign(types.size(), 0), mobility_of_rotation_.assign(types.size(), 0);
    const auto moved = moved_types(setup.configuration());
    bool reported = false;
    for (std::size_t t = 0; t < types.size(); ++t) {
      if (!moved[t]) continue;
      if (turns_by_itself && !friction[t] && !diffusion[t] && speed_[t] > 0 && !reported) {
        setup.error("rotational_diffusion",
                    fmt::format("is missing for type \"{}\": give rotational_diffusion (0: none), "
                                "or rotational_friction",
                                types[t]));
        reported = true;
      }
      diffusion_[t] = diffusion[t] ? *diffusion[t] : friction[t] ? kt_ / *friction[t] : 0;
      if (friction[t])
        mobility_of_rotation_[t] = 1 / *friction[t];
      else if (diffusion[t] && kt_ > 0)
        mobility_of_rotation_[t] = *diffusion[t] / kt_;
      else if (unknown_.empty())
        unknown_ = fmt::format(
            "torques turn particles, and nothing says how easily those of type "
            "\"{}\": give rotational_friction",
            types[t]);
    }
    if (!setup.configuration().topology.body.empty() && !unknown_.empty())
      setup.error("rotational_friction", "is needed for rigid bodies: " + unknown_);
  }

  void turn(StepContext& s) {
    if (!turns_ && s.flow() == nullptr) return;
    Orientations& of = *s.particles().orientations();
    for_each(s.device(), "swimmers turn", s.particles().share(),
             Turn{s.particles().position().data(), s.particles().id().data(),
                  of.orientation().data(), torques_ ? of.torque().data() : nullptr, s.group(),
                  turning_.data(), rotation_, tumbling_, s.device_step(),
                  FlowRotation{s.flow(), s.device_step()}, Real(dt_), planar_});
  }

  std::uint32_t instance_;
  std::vector<double> tumbles_, spin_, diffusion_, mobility_of_rotation_;  // [type]
  std::string unknown_;  // why it cannot have torques; empty: it can
  bool torques_ = false, turns_ = false;
  Buffer<Turning> turning_;  // [type]
  AxisNoise noise_{};
  RunKey rotation_, tumbling_;
};

bool has_orientations(Setup& setup) {
  if (!setup.configuration().orientation.empty()) return true;
  setup.error("type",
              "particles swim along their axes, and have none: add \"orientations\" to the job");
  return false;
}

}  // namespace

void register_swimmers(Registry& registry) {
  registry.add<Integrator, ActiveBrownianSettings>(
      "active_brownian",
      "active Brownian particles: overdamped, they swim along their axis, which diffuses",
      [](const ActiveBrownianSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        if (!has_orientations(setup)) return nullptr;
        std::vector<double> none(setup.configuration().types.size(), 0);
        return std::make_unique<Swimmers>(s, std::move(none), true, setup);
      });
  registry.add<Integrator, RunAndTumbleSettings>(
      "run_and_tumble",
      "run-and-tumble particles: overdamped, they swim along their axis, which is drawn anew at a "
      "rate",
      [](const RunAndTumbleSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        if (!has_orientations(setup)) return nullptr;
        auto rates = numbers_by_type(setup, "tumble_rate", s.tumble_rate, s.tumble_rates);
        return std::make_unique<Swimmers>(s, std::move(rates), false, setup);
      });
}

}  // namespace perrin::active
