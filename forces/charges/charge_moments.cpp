#include "forces/charges/charge_moments.h"

#include <cmath>

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "forces/charges/waves.h"
#include "forces/deposit.h"
#include "forces/particle_loop.h"
#include "forces/unwrapped.h"

namespace perrin {
namespace {

using Moments = ChargeMoments::Moments;

struct AddMoments {
  ParticleView particles;
  AttributeView<1> charge;
  const Box* box;
  PERRIN_HD Moments operator()(std::int64_t i) const {
    const double q = double(charge(std::uint32_t(i)));
    const Vec3<double> r = unwrapped_point(*box, particles.position[i], particles.image[i]);
    Moments m;
    m.charge = q, m.x = q * r.x, m.y = q * r.y, m.z = q * r.z;
    return m;
  }
};

struct MomentTerms {
  ParticleView particles;
  AttributeView<1> charge;
  const Moments* moments;
  const Box* box;
  double stretch;
  double background;  // energy · V of the square of the net charge; 0: none
  double dipole;      // energy · V of the square of the moment; 0: none
  bool slab;          // of its z component
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Moments m = *moments;
    const double q = double(out.slow) * double(charge(std::uint32_t(i)));
    const double volume = box->volume() * stretch;
    double energy = background / volume * m.charge * q;
    const Vec3<double> r = unwrapped_point(*box, particles.position[i], particles.image[i]);
    const double a = dipole / volume;
    Vec3<double> f{-2 * a * q * m.x, -2 * a * q * m.y, -2 * a * q * m.z};
    if (slab) f.x = f.y = 0;
    energy += -0.5 * dot(f, r);
    // The volume is in the denominator.
    Virial virial;
    virial.c[0] = Real(energy + r.x * f.x), virial.c[1] = Real(energy + r.y * f.y);
    virial.c[2] = Real(energy + r.z * f.z);
    if (!slab)
      virial.c[3] = Real(r.x * f.y), virial.c[4] = Real(r.x * f.z), virial.c[5] = Real(r.y * f.z);
    deposit(out, particles.n, i, {Real(f.x), Real(f.y), Real(f.z)}, Real(energy), virial, Real(1));
  }
};

}  // namespace

void ChargeMoments::compute(StepContext& s, const AttributeView<1>& charge,
                            const ForceOutput& output) {
  if (!terms_.background && !terms_.surface_permittivity && !terms_.slab) return;
  if (moments_.size() == 0) moments_ = {s.device(), 1}, scratch_ = {s.device(), sum_chunks};
  const ParticleView particles = s.particles.view();
  const Box* const box = s.particles.box_state.data();
  sum(s.device(), "moments of charges", particles.n, AddMoments{particles, charge, box}, scratch_,
      moments_.data());
  const double alpha = terms_.parameters.splitting;
  const double around = 2 * terms_.surface_permittivity.value_or(1) + 1;
  const double dipole = 2 * M_PI * terms_.constant;
  ForceOutput added = output;
  added.add = true;
  for_each_particle(
      "net charge and dipole", s, added,
      MomentTerms{particles, charge, moments_.data(), box, terms_.slab.value_or(1),
                  terms_.background ? -M_PI * terms_.constant / (2 * alpha * alpha) : 0,
                  terms_.slab                   ? dipole
                  : terms_.surface_permittivity ? dipole / around
                                                : 0,
                  terms_.slab.has_value(), added});
}

}  // namespace perrin
