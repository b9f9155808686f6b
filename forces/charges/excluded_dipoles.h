// What an Ewald sum of point dipoles has of two that the sum over pairs leaves out, to be taken
// back: of the sum over all waves, with φ(r) = erf(αr)/r, less what the sum lacks beyond k_max,
// by its mean over all directions (as waves_beyond.h of charges). Both have the form
//
//     B m₁·m₂ − C (m₁·r)(m₂·r),  B = -φ'/r, C = -B'/r, D = -C'/r
//
// of all waves with F_n(z) = ∫ u^2n exp(-z u²) du, u from 0 to 1, and of one k with the spherical
// Bessel functions j_n(kr)/(kr)^n: finite where two dipoles are in one place. In double: at short
// distances terms in 1/r³ would cancel.
#pragma once

#include <cmath>

#include "engine/base/real.h"
#include "forces/anisotropic/interaction.h"
#include "forces/charges/ewald_terms.h"
#include "forces/deposit.h"

namespace perrin {

/// j_n(z)/z^n by z², n from 1 to 4.
struct BesselRatios {
  double b1, b2, b3, b4;

  PERRIN_HD static BesselRatios of(double y) {
    if (y > 4) {
      const double z = std::sqrt(y), b0 = std::sin(z) / z, b1 = (b0 - std::cos(z)) / y;
      const double b2 = (3 * b1 - b0) / y, b3 = (5 * b2 - b1) / y;
      return {b1, b2, b3, (7 * b3 - b2) / y};
    }
    // Σ (-y/2)^k/(k! (2n + 3) (2n + 5) … (2n + 2k + 1)) over 1·3·…·(2n + 1)
    double b3 = 0, b4 = 0, term3 = 1.0 / 105, term4 = 1.0 / 945;
    for (int k = 1; k <= 16; ++k) {
      b3 += term3, b4 += term4;
      term3 *= -0.5 * y / (k * (7 + 2 * k)), term4 *= -0.5 * y / (k * (9 + 2 * k));
    }
    const double b2 = 7 * b3 - y * b4;
    return {5 * b2 - y * b3, b2, b3, b4};
  }
};

/// The sum over waves beyond k_max; of unit moments.
struct DipolesBeyond {
  double at_0 = 0;     // 2/π ∫ k² exp(-k²/4α²) dk, k > k_max: 1/length³
  double mean = 0;     // of k there: 1/length
  double k_max = 0;    // 1/length
  double surface = 0;  // 2/π k_max³ exp(-k_max²/4α²): 1/length³

  static DipolesBeyond of(const EwaldParameters& p) {
    const double a = p.splitting, x = p.k_max / (2 * a), weight = std::exp(-x * x);
    const double all = x / 2 * weight + std::sqrt(M_PI) / 4 * std::erfc(x);  // ∫ t² exp(-t²) dt
    if (!(weight > 1e-16)) return {};
    return {16 / M_PI * a * a * a * all, a * (1 + x * x) * weight / all, p.k_max,
            2 / M_PI * p.k_max * p.k_max * p.k_max * weight};
  }
};

/// Of a particle with this orientation, along the x axis of its frame.
PERRIN_HD Vec3<double> moment_of(Real moment, const Real4& orientation) {
  const Real3 m = moment * axis_of(orientation);
  return {double(m.x), double(m.y), double(m.z)};
}

/// What the sum over pairs adds for two dipoles that do not act on each other.
struct ExcludedDipoles {
  using Vector = Vec3<double>;
  double constant = 1, alpha = 0;  // Coulomb's; 1/length
  DipolesBeyond beyond;

  static ExcludedDipoles of(const EwaldTerms& terms) {
    const EwaldParameters& p = terms.parameters;
    return {terms.constant, p.splitting, DipolesBeyond::of(p)};
  }

  struct Radial {
    double b, c, d;
  };
  PERRIN_HD Radial radial(double r2) const {
    const double z = alpha * alpha * r2, e = std::exp(-z);
    double f1 = 0, f2 = 0, f3 = 0;
    if (z < 1) {
      double term = 1.0 / 7;  // F₃ = exp(-z) Σ (2z)^k/(7·9·…·(7 + 2k))
      for (int k = 1; k <= 18; ++k) f3 += term, term *= 2 * z / (7 + 2 * k);
      f3 *= e;
      f2 = (2 * z * f3 + e) / 5, f1 = (2 * z * f2 + e) / 3;
    } else {
      const double x = alpha * std::sqrt(r2);
      f1 = (0.8862269254527580 * std::erf(x) / x - e) / (2 * z);
      f2 = (3 * f1 - e) / (2 * z), f3 = (5 * f2 - e) / (2 * z);
    }
    const double a2 = alpha * alpha, by = -2.2567583341910251 * a2 * alpha;  // 4/√π
    Radial all{by * f1, 2 * by * a2 * f2, 4 * by * a2 * a2 * f3};
    if (beyond.at_0 != 0) {
      const double k2 = beyond.mean * beyond.mean;
      const BesselRatios j = BesselRatios::of(k2 * r2);
      all.b += beyond.at_0 * j.b1, all.c += beyond.at_0 * k2 * j.b2;
      all.d += beyond.at_0 * k2 * k2 * j.b3;
    }
    return all;
  }

  PERRIN_HD double energy(const Vector& r, const Vector& u, const Vector& v) const {
    const Radial f = radial(dot(r, r));
    return constant * (f.b * dot(u, v) - f.c * dot(u, r) * dot(v, r));
  }

  /// Of the first one, r from the second to it.
  struct Effect {
    double energy = 0;
    Vector force, torque;
  };
  PERRIN_HD Effect of(const Vector& r, const Vector& u, const Vector& v) const {
    const Radial f = radial(dot(r, r));
    const double ur = dot(u, r), vr = dot(v, r), uv = dot(u, v);
    Effect effect;
    effect.energy = constant * (f.b * uv - f.c * ur * vr);
    effect.force = constant * ((f.c * uv - f.d * ur * vr) * r + f.c * (vr * u + ur * v));
    effect.torque = constant * cross(u, f.c * vr * r - f.b * v);
    return effect;
  }

  /// Of the waves that enter and leave the sphere of k_max with a change of the box: their weight
  /// there, times the mean of cos(k·r) (u·k)(v·k) k_a k_b/k⁴ over its surface.
  PERRIN_HD void add_surface(Virial& virial, const Vector& r, const Vector& u,
                             const Vector& v) const {
    if (beyond.at_0 == 0) return;
    const double k2 = beyond.k_max * beyond.k_max, by = -constant * beyond.surface;
    const BesselRatios j = BesselRatios::of(k2 * dot(r, r));
    const double ur = dot(u, r), vr = dot(v, r), uv = dot(u, v);
    const double same = j.b2 * uv - k2 * j.b3 * ur * vr;
    const double along = k2 * (k2 * j.b4 * ur * vr - j.b3 * uv);
    const auto part = [&](int a, int b) {
      return j.b2 * (u[a] * v[b] + u[b] * v[a]) + along * r[a] * r[b] -
             k2 * j.b3 * (vr * (r[a] * u[b] + r[b] * u[a]) + ur * (r[a] * v[b] + r[b] * v[a]));
    };
    for (int a = 0; a < 3; ++a) virial.c[std::size_t(a)] += Real(by * (same + part(a, a)));
    virial.c[3] += Real(by * part(0, 1)), virial.c[4] += Real(by * part(0, 2));
    virial.c[5] += Real(by * part(1, 2));
  }
  /// The same of a dipole and itself, twice, less its mean over all directions of the dipole.
  PERRIN_HD void add_direction(Virial& virial, const Vector& u) const {
    add_surface(virial, {0, 0, 0}, u, u);
    for (std::size_t c = 0; c < 3; ++c)
      virial.c[c] += Real(constant * beyond.surface * dot(u, u) / 9);
  }
};

}  // namespace perrin
