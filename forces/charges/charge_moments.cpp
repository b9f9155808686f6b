#include "forces/charges/charge_moments.h"

#include <cmath>

#include "engine/components/coupled_trials.h"
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
    virial.c[2] = box->dimension == 2 ? Real(0) : Real(energy + r.z * f.z);
    if (!slab)
      virial.c[3] = Real(r.x * f.y), virial.c[4] = Real(r.x * f.z), virial.c[5] = Real(r.y * f.z);
    deposit(out, particles.n, i, {Real(f.x), Real(f.y), Real(f.z)}, Real(energy), virial, Real(1));
  }
};

/// Charges keep their sizes, so that the background does not change.
struct ChangeOfMoments {
  const TrialMove* move;
  std::int64_t moves;
  AttributeView<1> charge;
  const Box* box;
  double stretch, dipole;
  bool slab;
  Moments* moments;  // of all, and the change
  double* change;

  PERRIN_HD double charge_of(std::uint32_t place) const {
    return place == TrialMove::none ? 0.0 : double(charge(place));
  }
  /// Of the box, by a step of less than half of it.
  PERRIN_HD static std::int32_t turn(std::uint32_t from, std::uint32_t to) {
    return std::int32_t((std::int64_t(from) + std::int32_t(to - from) - std::int64_t(to)) >> 32);
  }
  PERRIN_HD static void add(Moments& to, double q, const Vec3<double>& r) {
    to.x += q * r.x, to.y += q * r.y, to.z += q * r.z;
  }

  PERRIN_HD void operator()(std::int64_t) const {
    Moments by;
    for (std::int64_t m = 0; m < moves && move[m].is_tried(); ++m) {
      const Position &from = move[m].before, &to = move[m].after;
      add(by, -charge_of(move[m].before_as), unwrapped_point(*box, from, Image{}));
      const Image turns{turn(from.x, to.x), turn(from.y, to.y), turn(from.z, to.z)};
      add(by, charge_of(move[m].after_as), unwrapped_point(*box, to, turns));
    }
    moments[1] = by;
    const Moments& all = moments[0];
    double squares = (2 * all.z + by.z) * by.z;
    if (!slab) squares += (2 * all.x + by.x) * by.x + (2 * all.y + by.y) * by.y;
    change[0] += dipole / (box->volume() * stretch) * squares;
  }
};

struct FollowMoments {
  TrialMoves trials;
  const Position* position;
  Moments* moments;
  PERRIN_HD void operator()(std::int64_t) const {
    if (was_made(trials, position)) moments[0] += moments[1];
  }
};

}  // namespace

void ChargeMoments::compute(StepContext& s, const AttributeView<1>& charge,
                            const ForceOutput& output) {
  if (!terms_.background && !depends_on_dipole()) return;
  sum_up(s, charge);
  const double alpha = terms_.parameters.splitting;
  const double of_background =
      -terms_.constant * (terms_.flat ? std::sqrt(M_PI) / alpha : M_PI / (2 * alpha * alpha));
  ForceOutput added = output;
  added.add = true;
  for_each_particle(
      "net charge and dipole", s, added,
      MomentTerms{s.particles().view(), charge, moments_.data(), s.particles().box_state().data(),
                  terms_.slab.value_or(1), terms_.background ? of_background : 0, of_dipole(),
                  terms_.slab.has_value(), added});
}

double ChargeMoments::of_dipole() const {
  if (!depends_on_dipole()) return 0;
  const double dipole = 2 * M_PI * terms_.constant;
  return terms_.slab ? dipole : dipole / (2 * *terms_.surface_permittivity + 1);
}

void ChargeMoments::sum_up(StepContext& s, const AttributeView<1>& charge) {
  if (moments_.size() == 0) moments_ = {s.device(), 2}, scratch_ = {s.device(), sum_chunks};
  const ParticleView particles = s.particles().view();
  sum(s.device(), "moments of charges", particles.n,
      AddMoments{particles, charge, s.particles().box_state().data()}, scratch_, moments_.data());
}

void ChargeMoments::begin_trials(StepContext& s, const AttributeView<1>& charge) {
  if (depends_on_dipole()) sum_up(s, charge);
}

void ChargeMoments::add_change(StepContext& s, const AttributeView<1>& charge,
                               const TrialMoves& trials) {
  if (!depends_on_dipole()) return;
  for_each(s.device(), "dipole of a trial move", 1,
           ChangeOfMoments{trials.move, trials.count, charge, s.particles().box_state().data(),
                           terms_.slab.value_or(1), of_dipole(), terms_.slab.has_value(),
                           moments_.data(), trials.change});
}

void ChargeMoments::follow_trial(StepContext& s, const TrialMoves& trials) {
  if (!depends_on_dipole()) return;
  for_each(s.device(), "dipole follows a trial move", 1,
           FollowMoments{trials, s.particles().position().data(), moments_.data()});
}

}  // namespace perrin
