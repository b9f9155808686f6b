// Method "velocity_verlet" of langevin: the force of the bath is added to the others.
#pragma once

#include "bath_integrator.h"
#include "engine/components/stage_context.h"
#include "integrators/particle_steps.h"

namespace perrin::langevin {

struct Drag {   // of one particle
  Real drag;    // xi
  Real spread;  // of the random force, at k_B T = 1: sqrt(2 xi / dt)
};

/// The half kick by a force of the particles and one of the bath, whose part is counted as heat.
PERRIN_HD void kick_with_bath(MovingParticle& p, const Mobile& mobile, const Real3& bath,
                              Real half_dt, double* heat) {
  const Real4 v = p.velocity,
              total = plus(mobile.along(p.force), {bath.x, bath.y, bath.z, Real(0)});
  const Real s = half_dt * v.w;
  if (heat != nullptr)
    heat[p.i] += double(half_dt) * double(dot(v.xyz() + Real(0.5) * (s * total.xyz()), bath));
  p.velocity = multiply_add(s, total, v);
}

struct FirstHalf {
  Mobile mobile;
  const Real3* bath;  // by id
  double* heat;
  Real dt;

  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    if (!mobile.moves(p.type())) return {};
    kick_with_bath(p, mobile, bath[p.id], Real(0.5) * dt, heat);
    return times(dt, p.velocity);
  }
};

template <class Noise>
struct SecondHalf {
  Mobile mobile;
  Coefficients<Drag> drag;
  Temperature temperature;
  NoiseLaw law;
  Noise noise;
  Real3* bath;  // by id
  double* heat;
  Real half_dt;

  static constexpr bool draws_ahead = is_keyed<Noise>;
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    return law.draw_from(noise, step, id);
  }
  PERRIN_HD void operator()(MovingParticle& p, const Real4& r) const {
    if (!mobile.moves(p.type())) return;
    const Drag d = drag.of(p.type(), p.id);
    const Real spread = d.spread * temperature.root(p.step);
    const Real4 v = p.velocity;
    const Real3 b{law.x ? multiply_add(spread, r.x, -(d.drag * v.x)) : Real(0),
                  law.y ? multiply_add(spread, r.y, -(d.drag * v.y)) : Real(0),
                  law.z ? multiply_add(spread, r.z, -(d.drag * v.z)) : Real(0)};
    bath[p.id] = b;
    kick_with_bath(p, mobile, b, half_dt, heat);
  }
};

template <class Stream>
class VerletWithBath : public BathIntegrator<Stream> {
  using Base = BathIntegrator<Stream>;

 public:
  VerletWithBath(const LangevinSettings& settings, Bath bath)
      : Base(settings, Purpose::langevin, std::move(bath)) {}

  void begin(StageContext& context) override {
    Base::begin_bath(context);
    this->bath_.rest(context);
    context.ensure_forces();
    this->bath_.tabulate(context, drag_, [&](double xi, double) {
      return Drag{Real(xi), Real(std::sqrt(2 * xi / this->dt_))};
    });
    force_ = {context.particles(), IndexedBy::id};
    Base::begin_barostat(context);
  }

  void end() override {
    Base::end();
    force_ = {};
  }

  void steps(StepContext& context, int n) override {
    const Real dt = Real(this->dt_), half_dt = Real(0.5 * this->dt_);
    const Mobile mobile = this->bath_.mobile();
    const auto before = [&] {
      this->rotation_.kick_and_turn(context, this->bath_.temperature().kt, this->bath_.heat());
      return FirstHalf{mobile, force_.data(), this->bath_.heat(), dt};
    };
    const auto after = [&] {
      this->rotation_.kick(context);
      return SecondHalf<typename Base::Noise>{mobile,
                                              drag_.view(),
                                              this->bath_.temperature(),
                                              this->bath_.law(),
                                              Base::noise(context),
                                              force_.data(),
                                              this->bath_.heat(),
                                              half_dt};
    };
    run_particle_steps(context, n, before, after);
  }

  Motion motion() const override { return this->bath_.motion(); }
  bool takes_impulses() const override { return true; }
  std::string needs_fixed_group() const override {
    return "with the method velocity_verlet keeps the bath's force on a particle from one step to "
           "the next (method baoab does not)";
  }

 private:
  void own_state(Archive& archive) override {
    force_.state(archive, "bath_force");
    require_finite(archive, "bath_force", force_);
  }

  CoefficientTable<Drag> drag_;
  ParticleArray<Real3> force_;  // of the bath; 0 in the first half kick of a stage
};

}  // namespace perrin::langevin
