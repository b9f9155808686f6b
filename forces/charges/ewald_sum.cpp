#include "forces/charges/ewald_sum.h"

#include <cmath>

#include "forces/charges/error_function.h"
#include "forces/charges/wave_kernels.h"
#include "forces/deposit.h"

namespace perrin {

using namespace waves;

namespace {

struct Charges {
  Places places;
  Real* charge;

  PERRIN_HD Real strength(std::int64_t i, const Real3&) const { return charge[i]; }
};

/// What the sums read of a particle, in arrays of their own.
struct PackCharges {
  const Position* position;
  AttributeView<1> charge_of;
  Charges to;

  PERRIN_HD void operator()(std::int64_t i) const {
    to.places.put(i, position[i]);
    to.charge[i] = charge_of(std::uint32_t(i));
  }
};

/// The force of all waves on a charge.
template <bool Energy, bool Flat>
struct WaveForces {
  static constexpr int sums = Energy ? 10 : 3;
  Waves waves;
  Charges sources;
  Real quarter;  // 1/(4 α²), or Flat: 1/(2 α)
  Real beyond;   // virial of what a unit charge and k > k_max would add
  ForceOutput out;
  std::int64_t particles;

  /// By which the logarithm of A V falls with k².
  PERRIN_HD Real slope(Real square) const {
    const Real inverse = reciprocal(square);
    if constexpr (!Flat) return inverse + quarter;
    const Real x = quarter * std::sqrt(square);
    constexpr Real two_over_root_pi = Real(1.1283791670955126);
    return Real(0.5) * inverse * (Real(1) + two_over_root_pi * x * reciprocal(scaled_erfc(x)));
  }

  PERRIN_HD void add(std::int64_t wave, std::uint32_t phase, Real (&sum)[sums]) const {
    const PointOnCircle at = unit_circle(phase);
    const Factor f = waves.factor[wave];
    const Real x = waves.k[wave], y = waves.k[waves.room + wave],
               z = waves.k[2 * waves.room + wave];
    const Real force = at.sine * f.re - at.cosine * f.im;
    sum[0] += force * x, sum[1] += force * y, sum[2] += force * z;
    if constexpr (Energy) {
      const Real energy = at.cosine * f.re + at.sine * f.im;
      // Beyond the last wave there are some without k.
      const Real square = Real(1e-24) + x * x + y * y + z * z;
      const Real g = Real(2) * energy * slope(square);
      sum[3] += energy;
      sum[4] += g * x * x, sum[5] += g * y * y, sum[6] += g * z * z;
      sum[7] += g * x * y, sum[8] += g * x * z, sum[9] += g * y * z;
    }
  }
  PERRIN_HD void finish(std::int64_t i, const Real (&sum)[sums]) const {
    const Real q = sources.charge[i];
    const Real weighted = out.slow * q;
    const Real3 force{weighted * sum[0], weighted * sum[1], weighted * sum[2]};
    Real energy = 0;
    Virial virial;
    if constexpr (Energy) {
      energy = Real(0.5) * q * sum[3];
      for (std::size_t c = 0; c < 6; ++c)
        virial.c[c] = (c < 3 ? energy + beyond * q * q : Real(0)) - Real(0.5) * q * sum[4 + c];
      if constexpr (Flat) virial.c[2] = 0;
    }
    deposit(out, particles, i, force, energy, virial, Real(1));
  }
};

}  // namespace

std::uint64_t EwaldSum::slab_ratio(const Box& box) const {
  if (!terms().slab) return 0;
  return std::uint64_t(std::llround((1 + 2 * box.padding.z) / *terms().slab * 2147483648.0));
}

Waves EwaldSum::structure_factors(StepContext& s, const AttributeView<1>& charge) {
  const Waves waves = waves_.update(s);
  const Device& device = s.device();
  const std::int64_t n = s.particles().size(), room = with_lanes(n);
  if (charge_.size() != room) place_ = {device, 3 * room}, charge_ = {device, room};
  const Charges charges{{room, n, place_.data(), slab_ratio(s.particles().box())}, charge_.data()};
  for_each(device, "charges", n, PackCharges{s.particles().position().data(), charge, charges});
  sum_waves(device, waves, charges);
  return waves;
}

void EwaldSum::compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output) {
  const Waves waves = structure_factors(s, charge);
  const std::int64_t n = s.particles().size();
  const Charges charges{{charge_.size(), n, place_.data(), slab_ratio(s.particles().box())},
                        charge_.data()};
  const auto [splitting, k_max] = terms().parameters;
  const double half = 1 / (2 * splitting), x = k_max * half;
  const double beyond = terms().flat ? -0.25 * terms().constant * k_max * std::erfc(x)
                                     : -terms().constant * k_max * std::exp(-x * x) / (3 * M_PI);
  ForceOutput added = output;
  added.add = true;
  const auto run = [&]<bool Energy, bool Flat>() {
    add_forces(s, WaveForces<Energy, Flat>{waves, charges, Real(Flat ? half : half * half),
                                           Real(beyond), added, n});
  };
  if (!output.energy) return run.operator()<false, false>();
  terms().flat ? run.operator()<true, true>() : run.operator()<true, false>();
}

}  // namespace perrin
