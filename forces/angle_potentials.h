// Harmonic, cosine and cosine-squared angles.
#pragma once

#include <numbers>

#include "engine/settings/settings.h"
#include "forces/angle_force.h"

namespace perrin {

/// E = k/2 (theta - theta0)².
struct AngleHarmonic {
  struct Settings {
    double stiffness = 1, angle = 180;
  };
  struct Coefficients {
    Real stiffness, angle;  // radians
  };
  static constexpr const char* type = "angle_harmonic";
  static constexpr const char* help =
      "harmonic angles: stiffness/2 (theta - angle)^2 (note the factor 1/2)";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.stiffness), Real(s.angle * std::numbers::pi / 180)};
  }

  template <class T>
  PERRIN_HD static AngleSlope<T> evaluate(T cosine, T sine, const Coefficients& c) {
    // The arc tangent of both is exact near 0 and pi, where the arc cosine loses half of the
    // digits. The bound on the sine keeps 0/0 away where the rest angle is 0 or pi and the angle is
    // at rest.
    const T bounded = sine > T(1e-6) ? sine : T(1e-6);
    const T bend = std::atan2(sine, cosine) - T(c.angle);
    const T torque = T(c.stiffness) * bend;
    return {-torque / bounded, T(0.5) * torque * bend};
  }
};

template <class D>
void describe(D& d, AngleHarmonic::Settings& s) {
  d.required("stiffness", s.stiffness, NonNegative{},
             "energy/radian²; E = stiffness/2 (theta - angle)²");
  d.required("angle", s.angle, Between{0, 180}, "equilibrium angle in degrees; 180: straight");
}

/// E = k (1 + cos theta): zero where stretched; the bending energy of a worm-like chain.
struct AngleCosine {
  struct Settings {
    double stiffness = 1;
  };
  struct Coefficients {
    Real stiffness;
  };
  static constexpr const char* type = "angle_cosine";
  static constexpr const char* help =
      "cosine angles: stiffness (1 + cos theta), zero for a straight angle (180 degrees)";

  static Coefficients coefficients(const Settings& s) { return {Real(s.stiffness)}; }

  template <class T>
  PERRIN_HD static AngleSlope<T> evaluate(T cosine, T, const Coefficients& c) {
    return {T(c.stiffness), T(c.stiffness) * (T(1) + cosine)};
  }
};

template <class D>
void describe(D& d, AngleCosine::Settings& s) {
  d.required("stiffness", s.stiffness, Any{}, "in energy units");
}

/// E = k/2 (cos theta - cos theta0)²: smooth where stretched, and nowhere divided by the sine.
struct AngleCosineSquared {
  struct Settings {
    double stiffness = 1, angle = 180;
  };
  struct Coefficients {
    Real stiffness, cosine;
  };
  static constexpr const char* type = "angle_cosine_squared";
  static constexpr const char* help =
      "cosine-squared angles: stiffness/2 (cos theta - cos angle)^2 (note the factor 1/2)";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.stiffness), Real(std::cos(s.angle * std::numbers::pi / 180))};
  }

  template <class T>
  PERRIN_HD static AngleSlope<T> evaluate(T cosine, T, const Coefficients& c) {
    const T away = cosine - T(c.cosine), slope = T(c.stiffness) * away;
    return {slope, T(0.5) * slope * away};
  }
};

template <class D>
void describe(D& d, AngleCosineSquared::Settings& s) {
  d.required("stiffness", s.stiffness, NonNegative{},
             "in energy units; E = stiffness/2 (cos theta - cos angle)²");
  d.required("angle", s.angle, Between{0, 180}, "equilibrium angle in degrees; 180: straight");
}

}  // namespace perrin
