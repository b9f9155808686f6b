#include "integrators/bussi.h"

#include <cmath>

#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/system/orientations.h"
#include "integrators/bath_kernels.h"
#include "integrators/group_sum.h"
#include "integrators/rescaling_factor.h"
#include "integrators/verlet_halves.h"

namespace perrin {
namespace {

/// drift + s (v - drift), rounded once: a drift far below a velocity's last digit would be lost in
/// the difference and not in the sum, and the momentum would grow with every step.
struct Rescale {
  const RescalingBath* bath;
  Vec3<double> drift;
  PERRIN_HD void operator()(MovingParticle& p) const {
    const Real s = Real(bath->factor);
    const double rest = 1 - double(s);
    const Real4 add{Real(rest * drift.x), Real(rest * drift.y), Real(rest * drift.z), p.velocity.w};
    p.velocity = multiply_add(s, p.velocity, add);
  }
};

}  // namespace

Bussi::Bussi(const BussiSettings& settings, double k_boltzmann, std::unique_ptr<Barostat> barostat)
    : settings_(settings), barostat_(std::move(barostat)), k_boltzmann_(k_boltzmann) {}

void Bussi::begin(StageContext& context) {
  context.ensure_forces();
  scratch_ = Buffer<double>(context.device(), sum_chunks);
  if (bath_.size() == 0) bath_ = Buffer<RescalingBath>(context.device(), 1);
  if (ramp_start_ < 0) {
    ramp_start_ = std::int64_t(context.step());
    drift_ = context.degrees_of_freedom().drift(context.totals().momentum);
  }
  if (barostat_) barostat_->begin(context, settings_.timestep, ramp());
  rotation_.begin(context, settings_.timestep);
  if (!context.particles().orientations()) return;
  count_rotation(context);
  rotational_scratch_ = Buffer<double>(context.device(), sum_chunks);
  if (rotational_bath_.size() == 0) rotational_bath_ = Buffer<RescalingBath>(context.device(), 1);
}

void Bussi::count_rotation(const StepContext& context) {
  rotational_freedom_ = context.particles().orientations()->degrees_of_freedom(
      context.particles().id(), context.group());
}

/// Steps have recorded the degrees of freedom.
bool Bussi::follow_group(StageContext& context) {
  if (context.particles().orientations()) count_rotation(context);
  return true;
}

void Bussi::steps(StepContext& context, int n) {
  const Real dt = Real(settings_.timestep);
  const auto before = [&] {
    rotation_.kick_and_turn(context);
    return KickAndDrift{dt};
  };
  const auto after = [&] {
    rotation_.kick(context);
    return Kick{dt};
  };
  run_particle_steps(
      context, n, before, after,
      [&] {
        draw_factor(context);
        rescale_rotation(context);
      },
      [&] {
        return Rescale{bath_.data(), drift_};
      });
}

void Bussi::draw_factor(StepContext& context) {
  const double decay = settings_.tau > 0 ? std::exp(-settings_.timestep / settings_.tau) : 0.0;
  sum_of_group(
      context, "kinetic energy",
      detail::KineticEnergy{context.particles().velocity().data(), drift_}, scratch_,
      &bath_.data()->kinetic,
      detail::DrawFactor{bath_.data(), context.device_step(),
                         RunKey(Purpose::thermostat, instance_seed(context.seed(), instance_)),
                         ramp(), context.degrees_of_freedom().number(), decay});
}

/// The factor of the rotation is drawn by itself: translation and rotation each have the canonical
/// distribution.
void Bussi::rescale_rotation(StepContext& context) {
  Orientations* const turning = context.particles().orientations();
  if (!turning || rotational_freedom_ == 0) return;
  const double decay = settings_.tau > 0 ? std::exp(-settings_.timestep / settings_.tau) : 0.0;
  sum_of_group(context, "rotational energy",
               RotationalEnergy{turning->angular_momentum().data(), turning->moment().data()},
               rotational_scratch_, &rotational_bath_.data()->kinetic,
               detail::DrawFactor{
                   rotational_bath_.data(), context.device_step(),
                   RunKey(Purpose::rotational_thermostat, instance_seed(context.seed(), instance_)),
                   ramp(), double(rotational_freedom_), decay});
  scale_rotation(context, &rotational_bath_.data()->factor);
}

void Bussi::measure_heat(StepContext& context, double* heat) {
  if (bath_.size() == 0) return Integrator::measure_heat(context, heat);
  context.device().memory().copy(heat, &bath_.data()->heat, sizeof *heat);
  if (rotational_bath_.size() > 0)
    add_heat_of(context.device(), "heat of rotation", rotational_bath_.data(), heat);
  if (barostat_) barostat_->add_heat(context, heat);
}

void Bussi::state(Archive& archive) {
  const std::int64_t now = ramp_start_;  // as begin() has set it
  archive("ramp_start", ramp_start_);
  archive.require(now < 0 || (ramp_start_ >= 0 && ramp_start_ <= now), "ramp_start",
                  "a step that the run has made");
  archive("drift", drift_);
  archive.require(std::isfinite(dot(drift_, drift_)), "drift", "a finite velocity");
  archive("bath", bath_);
  const RescalingBath bath = archive.is_saving() ? RescalingBath{} : bath_.to_host(0);
  archive.require(bath.kinetic >= 0 && std::isfinite(bath.kinetic) && std::isfinite(bath.factor) &&
                      std::isfinite(bath.heat),
                  "bath", "finite numbers, and a kinetic energy");
  if (barostat_) barostat_->state(archive);
  if (rotational_bath_.size() == 0) return;
  archive("rotational_bath", rotational_bath_);
  const RescalingBath turning = archive.is_saving() ? RescalingBath{} : rotational_bath_.to_host(0);
  archive.require(turning.kinetic >= 0 && std::isfinite(turning.kinetic) &&
                      std::isfinite(turning.factor) && std::isfinite(turning.heat),
                  "rotational_bath", "finite numbers, and a kinetic energy");
}

void register_bussi(Registry& registry) {
  registry.add<Integrator, BussiSettings>(
      "bussi", "velocity Verlet with stochastic velocity rescaling (NVT), Bussi et al. 2007",
      [](const BussiSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        check_ramp(s.ramp, "temperature", setup);
        auto bussi = std::make_unique<Bussi>(
            s, setup.k_boltzmann(),
            Barostat::make(s.barostat, false, s.timestep, s.temperature, setup));
        bussi->set_instance(setup.instance(Purpose::thermostat));
        return bussi;
      });
}

}  // namespace perrin
