#include "forces/charges/dipole_sum.h"

#include <cmath>
#include <span>

#include "engine/domain/reduction.h"
#include "engine/system/orientations.h"
#include "forces/anisotropic/deposit_torque.h"
#include "forces/anisotropic/interaction.h"
#include "forces/charges/wave_kernels.h"
#include "forces/deposit.h"

namespace perrin {

using namespace waves;

namespace {

struct Dipoles {
  Places places;
  Real* moment;  // [axis · room + particle]

  PERRIN_HD Real strength(std::int64_t i, const Real3& k) const {
    return moment[i] * k.x + moment[places.room + i] * k.y + moment[2 * places.room + i] * k.z;
  }
  PERRIN_HD Real3 of(std::int64_t i) const {
    return {moment[i], moment[places.room + i], moment[2 * places.room + i]};
  }
};

/// What the sums read of a particle, in arrays of their own.
struct PackDipoles {
  const Position* position;
  const Real4* orientation;
  const Real* moment_of;  // [type]
  Dipoles to;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = position[i];
    to.places.put(i, p);
    const Real3 m = moment_of[p.type()] * axis_of(orientation[i]);
    const std::int64_t room = to.places.room;
    to.moment[i] = m.x, to.moment[room + i] = m.y, to.moment[2 * room + i] = m.z;
  }
};

struct AddMoment {
  Dipoles dipoles;
  PERRIN_HD Vec3<double> operator()(std::int64_t i) const {
    const Real3 m = dipoles.of(i);
    return {double(m.x), double(m.y), double(m.z)};
  }
};

/// Force, torque and energy of all waves on a dipole. With E_a = -Σ A Re(S* e^(ik·r)) k_a and F_ab
/// = Σ A Im(S* e^(ik·r)) k_a k_b the force is F m, the torque m × E and the energy -m·E/2.
template <bool Energy>
struct DipoleForces {
  // E; xx yy zz xy xz yz of F; with energies the same of what the virial takes of -E.
  static constexpr int sums = Energy ? 27 : 9;
  Waves waves;
  Dipoles sources;
  Real quarter;  // 1/(4 α²)
  Real self;     // energy of a unit dipole with its own screening …
  Real beyond;   // … and virial of what it and k > k_max would add
  ForceOutput out;
  std::int64_t particles;
  const Vec3<double>* all;  // the moment of all; nullptr: what surrounds it conducts
  double surface;           // energy · V of its square
  const Box* box;

  PERRIN_HD void add(std::int64_t wave, std::uint32_t phase, Real (&sum)[sums]) const {
    const PointOnCircle at = unit_circle(phase);
    const Factor f = waves.factor[wave];
    const Real x = waves.k[wave], y = waves.k[waves.room + wave],
               z = waves.k[2 * waves.room + wave];
    const Real im = at.sine * f.re - at.cosine * f.im, re = at.cosine * f.re + at.sine * f.im;
    sum[0] -= re * x, sum[1] -= re * y, sum[2] -= re * z;
    sum[3] += im * x * x, sum[4] += im * y * y, sum[5] += im * z * z;
    sum[6] += im * x * y, sum[7] += im * x * z, sum[8] += im * y * z;
    if constexpr (Energy) {
      // Beyond the last wave there are some without k.
      const Real square = Real(1e-24) + x * x + y * y + z * z;
      const Real g = Real(2) * re * (reciprocal(square) + quarter);
      const Real of[6] = {g * x * x, g * y * y, g * z * z, g * x * y, g * x * z, g * y * z};
      for (int c = 0; c < 6; ++c) {
        sum[9 + 3 * c] += of[c] * x;
        sum[9 + 3 * c + 1] += of[c] * y;
        sum[9 + 3 * c + 2] += of[c] * z;
      }
    }
  }
  PERRIN_HD void finish(std::int64_t i, const Real (&sum)[sums]) const {
    const Real3 m = sources.of(i);
    Real3 e{sum[0], sum[1], sum[2]};
    const Real3 force{sum[3] * m.x + sum[6] * m.y + sum[7] * m.z,
                      sum[6] * m.x + sum[4] * m.y + sum[8] * m.z,
                      sum[7] * m.x + sum[8] * m.y + sum[5] * m.z};
    Real energy = 0;
    Virial virial;
    const Real of_waves = Real(-0.5) * dot(m, e);
    Real of_surface = 0;
    if (all != nullptr) {
      const double by = -2 * surface / box->volume();
      const Real3 around{Real(by * all->x), Real(by * all->y), Real(by * all->z)};
      of_surface = Real(-0.5) * dot(m, around);
      e += around;
    }
    if constexpr (Energy) {
      energy = of_waves + of_surface + self * dot(m, m);
      for (int c = 0; c < 6; ++c) {
        const Real* const g = sum + 9 + 3 * c;
        // The volume is in the denominator; k changes with the box, and m·k with k.
        virial.c[std::size_t(c)] = (c < 3 ? of_waves + of_surface + beyond * dot(m, m) : Real(0)) -
                                   Real(0.5) * (m.x * g[0] + m.y * g[1] + m.z * g[2]);
      }
      const Real3 w{sum[0], sum[1], sum[2]};
      virial.c[0] -= m.x * w.x, virial.c[1] -= m.y * w.y, virial.c[2] -= m.z * w.z;
      // A tilt of the box by xy moves x by y.
      virial.c[3] -= m.y * w.x, virial.c[4] -= m.z * w.x, virial.c[5] -= m.z * w.y;
    }
    deposit(out, particles, i, force, energy, virial, Real(1));
    deposit_torque(out, i, cross(m, e));
  }
};

}  // namespace

DipoleSum::DipoleSum(const Device& device, const EwaldTerms& terms,
                     const std::vector<Real>& moments)
    : waves_(terms), moment_of_(device, std::span<const Real>(moments)) {}

Waves DipoleSum::structure_factors(StepContext& s) {
  const Waves waves = waves_.update(s);
  const Device& device = s.device();
  const std::int64_t n = s.particles().size(), room = with_lanes(n);
  if (place_.size() != 3 * room) place_ = {device, 3 * room}, moment_ = {device, 3 * room};
  const Dipoles dipoles{{room, n, place_.data(), 0}, moment_.data()};
  for_each(
      device, "dipoles", n,
      PackDipoles{s.particles().position().data(),
                  s.particles().orientations()->orientation().data(), moment_of_.data(), dipoles});
  sum_waves(device, waves, dipoles);
  return waves;
}

void DipoleSum::moment_of_all(StepContext& s, Vec3<double>* result) {
  if (scratch_.size() == 0) scratch_ = {s.device(), sum_chunks};
  const std::int64_t n = s.particles().size();
  const Dipoles dipoles{{with_lanes(n), n, place_.data(), 0}, moment_.data()};
  sum<Vec3<double>>(s.device(), "moment of dipoles", n, AddMoment{dipoles}, scratch_, result);
}

void DipoleSum::compute(StepContext& s, const ForceOutput& output) {
  const Waves waves = structure_factors(s);
  const std::int64_t n = s.particles().size();
  const Dipoles dipoles{{with_lanes(n), n, place_.data(), 0}, moment_.data()};
  const EwaldTerms& terms = waves_.terms();
  const double surface = of_surface();
  if (surface > 0) {
    if (all_.size() == 0) all_ = {s.device(), 1};
    moment_of_all(s, all_.data());
  }
  const auto [splitting, k_max] = terms.parameters;
  const double quarter = 1 / (4 * splitting * splitting);
  const double beyond =
      -terms.constant * k_max * k_max * k_max * std::exp(-k_max * k_max * quarter) / (9 * M_PI);
  ForceOutput added = output;
  added.add = added.add_torque = true;
  const auto run = [&]<bool Energy>() {
    add_forces(s, DipoleForces<Energy>{waves, dipoles, Real(quarter),
                                       Real(terms.constant * self_energy(terms.parameters)),
                                       Real(beyond), added, n, surface > 0 ? all_.data() : nullptr,
                                       surface, s.particles().box_state().data()});
  };
  output.energy ? run.operator()<true>() : run.operator()<false>();
}

}  // namespace perrin
