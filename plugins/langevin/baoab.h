// Method "baoab" of langevin: kick, drift, Ornstein-Uhlenbeck, drift; forces; kick.
#pragma once

#include "bath_integrator.h"
#include "engine/components/constraints.h"
#include "engine/components/stage_context.h"
#include "integrators/particle_steps.h"
#include "kinetic_change.h"

namespace perrin::langevin {

struct Friction {  // of one particle
  Real decay;      // exp(-xi dt / m)
  Real spread;     // of the velocity drawn, at k_B T = 1
};

/// B: v += dt/2 f/m along the axes that count.
struct HalfKick {
  Mobile mobile;
  Real half_dt;

  PERRIN_HD void operator()(MovingParticle& p) const {
    if (!mobile.moves(p.type())) return;
    p.velocity = multiply_add(half_dt * p.velocity.w, mobile.along(p.force), p.velocity);
  }
};

/// B A O A
template <class Noise, class Law>
struct KickDriftNoiseDrift {
  HalfKick half_kick;
  Coefficients<Friction> friction;
  Temperature temperature;
  Law law;
  Noise noise;
  double* heat;

  static constexpr bool draws_ahead = is_keyed<Noise>;
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    return law.draw_from(noise, step, id);
  }
  PERRIN_HD Real4 operator()(MovingParticle& p, const Real4& r) const {
    if (!half_kick.mobile.moves(p.type())) return {};
    half_kick(p);
    const Real4 before = p.velocity;
    const Friction f = friction.of(p.type(), p.id);
    const Real spread = f.spread * temperature.root(p.step);
    p.velocity = with_w(multiply_add(spread, r, times(f.decay, before)), before);
    if constexpr (std::is_same_v<Law, NoiseLaw>) {
      if (!law.x) p.velocity.x = before.x;
      if (!law.y) p.velocity.y = before.y;
      if (!law.z) p.velocity.z = before.z;
    }
    if (heat != nullptr) heat[p.i] += kinetic_change(before, p.velocity, before.w);
    return times(half_kick.half_dt, plus(before, p.velocity));
  }
};

/// Law: NoiseLaw or FullGaussian.
template <class Stream, class Law>
class Baoab : public BathIntegrator<Stream> {
  using Base = BathIntegrator<Stream>;

 public:
  Baoab(const LangevinSettings& settings, Bath bath)
      : Base(settings, Purpose::langevin, std::move(bath)) {}

  void begin(StageContext& context) override {
    Base::begin_bath(context);
    this->bath_.rest(context);
    context.ensure_forces();
    this->bath_.tabulate(context, friction_, [&](double xi, double mass) {
      const double x = xi * this->dt_ / mass;
      return Friction{Real(std::exp(-x)), Real(std::sqrt(-std::expm1(-2 * x) / mass))};
    });
    Base::begin_barostat(context);
  }

  void steps(StepContext& context, int n) override {
    const HalfKick half_kick{this->bath_.mobile(), Real(0.5 * this->dt_)};
    const auto before = [&] {
      if (context.constraints()) context.constraints()->count_heat(this->bath_.heat());
      this->rotation_.kick_and_turn(context, this->bath_.temperature().kt, this->bath_.heat());
      return KickDriftNoiseDrift<typename Base::Noise, Law>{half_kick,
                                                            friction_.view(),
                                                            this->bath_.temperature(),
                                                            Law(this->bath_.law()),
                                                            Base::noise(context),
                                                            this->bath_.heat()};
    };
    run_particle_steps(context, n, before, [&] {
      this->rotation_.kick(context);
      return half_kick;
    });
  }

  Motion motion() const override { return this->bath_.motion(); }
  bool takes_impulses() const override { return true; }
  bool keeps_distances() const override { return true; }

 private:
  CoefficientTable<Friction> friction_;
};

}  // namespace perrin::langevin
