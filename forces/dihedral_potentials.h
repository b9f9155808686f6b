// Potentials of a dihedral angle phi: 0 is cis, 180 degrees trans (forces/dihedral_force.h).
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/settings/settings.h"
#include "forces/dihedral_force.h"

namespace perrin {

inline constexpr double radians_per_degree = std::numbers::pi / 180;

/// E = constant + sum over n of cosine[n - 1] cos(n phi) + sine[n - 1] sin(n phi).
struct FourierSeries {
  static constexpr int most = 6;
  Real constant{};
  Real cosine[most]{}, sine[most]{};
  int order = 0;  // terms beyond are zero

  /// Adds k [1 + cos(n phi - phase)]; phase in radians.
  void add(double k, int n, double phase) {
    constant += Real(n == 0 ? k * (1 + std::cos(phase)) : k);
    if (n == 0) return;
    cosine[n - 1] += Real(k * std::cos(phase));
    sine[n - 1] += Real(k * std::sin(phase));
    order = n > order ? n : order;
  }

  template <class T>
  PERRIN_HD TorsionSlope<T> evaluate(T c, T s) const {
    TorsionSlope<T> f{T(0), T(constant)};
    T cn = 1, sn = 0;
    for (int n = 1; n <= order; ++n) {
      const T next = cn * c - sn * s;
      sn = sn * c + cn * s;
      cn = next;
      const T a = T(cosine[n - 1]), b = T(sine[n - 1]);
      f.energy += a * cn + b * sn;
      f.slope += T(n) * (b * cn - a * sn);
    }
    return f;
  }
};

/// E = sum over terms of k [1 + d cos(n phi - phi0)].
struct DihedralPeriodic {
  struct Term {
    double stiffness = 1;
    std::int32_t multiplicity = 1, sign = 1;
    double phase = 0;

    template <class D>
    friend void describe(D& d, Term& s) {
      d.required("stiffness", s.stiffness, Any{}, "k, in energy units (no factor 1/2)");
      d.required("multiplicity", s.multiplicity, Between{0, FourierSeries::most}, "n");
      d.optional("phase", s.phase, Any{}, "phi0 in degrees");
      d.optional("sign", s.sign, Between{-1, 1}, "d: 1 or -1");
    }
  };
  struct Settings {
    std::vector<Term> terms;

    template <class D>
    friend void describe(D& d, Settings& s) {
      d.required("terms", s.terms, Any{}, "terms of the sum");
    }
  };
  using Coefficients = FourierSeries;
  static constexpr Torsion kind = Torsion::dihedral;
  static constexpr const char* type = "dihedral_periodic";
  static constexpr const char* help =
      "periodic dihedrals: sum of k [1 + d cos(n phi - phi0)], phi = 180 degrees is trans";

  static void check(const Settings& s, const Refuse& refuse) {
    if (s.terms.empty()) refuse("terms", "must have at least one term");
    for (std::size_t k = 0; k < s.terms.size(); ++k)
      if (s.terms[k].sign == 0) refuse(fmt::format("terms[{}].sign", k), "must be 1 or -1, got 0");
  }
  static Coefficients coefficients(const Settings& s) {
    FourierSeries series;
    for (const Term& t : s.terms) {
      if (t.sign < 0) series.constant += Real(2 * t.stiffness);  // k (1 - x) = 2 k - k (1 + x)
      series.add(t.sign * t.stiffness, t.multiplicity, t.phase * radians_per_degree);
    }
    return series;
  }
  template <class T>
  PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine, const Coefficients& c) {
    return c.evaluate(cosine, sine);
  }
};

/// E = k/2 (phi - phi0)², the difference taken the shorter way around: it has a kink opposite of
/// phi0.
struct DihedralHarmonic {
  struct Settings {
    double stiffness = 1, angle = 180;

    template <class D>
    friend void describe(D& d, Settings& s) {
      d.required("stiffness", s.stiffness, NonNegative{},
                 "energy/radian²; E = stiffness/2 (phi - angle)²");
      d.required("angle", s.angle, Between{-180, 180},
                 "equilibrium angle in degrees, signed; 180: trans, 0: cis and planar");
    }
  };
  struct Coefficients {
    Real stiffness, cosine, sine;  // of the angle at rest
  };
  static constexpr Torsion kind = Torsion::dihedral;
  static constexpr const char* type = "dihedral_harmonic";
  static constexpr const char* help =
      "harmonic dihedrals: stiffness/2 (phi - angle)^2 (note the factor 1/2), phi = 180 degrees is "
      "trans";

  static Coefficients coefficients(const Settings& s) {
    const double angle = s.angle * radians_per_degree;
    return {Real(s.stiffness), Real(std::cos(angle)), Real(std::sin(angle))};
  }
  template <class T>
  PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine, const Coefficients& c) {
    const T away = std::atan2(sine * T(c.cosine) - cosine * T(c.sine),
                              cosine * T(c.cosine) + sine * T(c.sine));
    const T torque = T(c.stiffness) * away;
    return {torque, T(0.5) * torque * away};
  }
};

/// E = k1/2 (1 + cos phi) + k2/2 (1 - cos 2 phi) + k3/2 (1 + cos 3 phi) + k4/2 (1 - cos 4 phi).
/// Jorgensen, Maxwell, Tirado-Rives, J. Am. Chem. Soc. 118, 11225 (1996).
struct DihedralOpls {
  struct Settings {
    std::array<double, 4> k{};

    template <class D>
    friend void describe(D& d, Settings& s) {
      d.required("k", s.k, Any{}, "k1, k2, k3, k4, in energy units");
    }
  };
  using Coefficients = FourierSeries;
  static constexpr Torsion kind = Torsion::dihedral;
  static constexpr const char* type = "dihedral_opls";
  static constexpr const char* help =
      "OPLS dihedrals: k1/2 (1 + cos phi) + k2/2 (1 - cos 2 phi) + k3/2 (1 + cos 3 phi) + "
      "k4/2 (1 - cos 4 phi), phi = 180 degrees is trans";

  static Coefficients coefficients(const Settings& s) {
    FourierSeries series;
    for (int n = 1; n <= 4; ++n)
      series.add(s.k[std::size_t(n - 1)] / 2, n, n % 2 == 1 ? 0 : std::numbers::pi);
    return series;
  }
  template <class T>
  PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine, const Coefficients& c) {
    return c.evaluate(cosine, sine);
  }
};

/// E = sum over n of C_n cos^n psi, n = 0 … 5, psi = phi - 180 degrees: psi = 0 is trans, as in
/// GROMACS. Ryckaert, Bellemans, Faraday Discuss. Chem. Soc. 66, 95 (1978).
struct DihedralRyckaertBellemans {
  struct Settings {
    std::array<double, 6> c{};

    template <class D>
    friend void describe(D& d, Settings& s) {
      d.required("c", s.c, Any{}, "C0 … C5, in energy units");
    }
  };
  struct Coefficients {
    Real power[6];  // of cos phi
  };
  static constexpr Torsion kind = Torsion::dihedral;
  static constexpr const char* type = "dihedral_ryckaert_bellemans";
  static constexpr const char* help =
      "Ryckaert-Bellemans dihedrals: sum of c[n] cos(psi)^n, psi = phi - 180 degrees: psi = 0 is "
      "trans (as in GROMACS)";

  static Coefficients coefficients(const Settings& s) {
    Coefficients c{};
    for (std::size_t n = 0; n < 6; ++n) c.power[n] = Real(n % 2 == 1 ? -s.c[n] : s.c[n]);
    return c;
  }
  template <class T>
  PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine, const Coefficients& c) {
    T energy = T(c.power[5]), derivative = 0;
    for (int n = 4; n >= 0; --n) {
      derivative = derivative * cosine + energy;
      energy = energy * cosine + T(c.power[n]);
    }
    return {-sine * derivative, energy};
  }
};

/// Impropers: the same of four particles, mostly a central one and its three neighbours.
struct ImproperHarmonic : DihedralHarmonic {
  static constexpr Torsion kind = Torsion::improper;
  static constexpr const char* type = "improper_harmonic";
  static constexpr const char* help =
      "harmonic impropers: stiffness/2 (chi - angle)^2 (note the factor 1/2), chi the angle "
      "between the planes (a, b, c) and (b, c, d), signed; 0: planar with a and d on the same side";
};

struct ImproperPeriodic : DihedralPeriodic {
  static constexpr Torsion kind = Torsion::improper;
  static constexpr const char* type = "improper_periodic";
  static constexpr const char* help =
      "cosine impropers: sum of k [1 + d cos(n chi - chi0)], chi the angle between the planes "
      "(a, b, c) and (b, c, d)";
};

}  // namespace perrin
