// Cosine and sine of a phase that is a fixed-point fraction of a turn: k · r of a wave vector of
// the box and a position (engine/system/box.h), exact and wrapped by integer arithmetic.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "forces/charges/error_function.h"

namespace perrin {

struct PointOnCircle {
  Real cosine, sine;
};

/// Of phase · 2π/2³². Within 1.2e-7 in single precision and 3e-16 in double. Without branches.
PERRIN_HD PointOnCircle unit_circle(std::uint32_t phase) {
  const std::uint32_t quarter = (phase + (1u << 29)) >> 30;
  // -1 … 1 for -π/4 … π/4: what is left of the nearest quarter of a turn.
  const Real y = Real(std::int32_t(phase - (quarter << 30))) * Real(1.0 / (1u << 29));
  const Real z = y * y;
  Real c, s;
  if constexpr (sizeof(Real) == 4) {
    constexpr Real of_sine[] = {Real(0.785398161), Real(-0.0807454347), Real(0.0024900068),
                                Real(-3.59542907e-5)};
    constexpr Real of_cosine[] = {Real(1.0), Real(-0.308425135), Real(0.0158543252),
                                  Real(-0.000325938586), Real(3.52979713e-6)};
    s = y * detail::polynomial(of_sine, z), c = detail::polynomial(of_cosine, z);
  } else {
    constexpr Real of_sine[] = {Real(0.78539816339744831),     Real(-0.0807455121882807815),
                                Real(0.00249039457019271639),  Real(-0.0000365762041821470865),
                                Real(3.13361688919281836e-7),  Real(-1.7572474204808876e-9),
                                Real(6.94815411436722829e-12), Real(-2.02259061858901134e-14)};
    constexpr Real of_cosine[] = {Real(1.0),
                                  Real(-0.308425137534042453),
                                  Real(0.0158543442438154193),
                                  Real(-0.000325991886926737642),
                                  Real(3.59086044602795203e-6),
                                  Real(-2.46113640336525961e-8),
                                  Real(1.15005120282173413e-10),
                                  Real(-3.85818900734166773e-13)};
    s = y * detail::polynomial(of_sine, z), c = detail::polynomial(of_cosine, z);
  }
  const bool odd = (quarter & 1u) != 0;
  const Real a = odd ? s : c, b = odd ? c : s;
  return {((quarter + 1u) & 2u) != 0 ? -a : a, (quarter & 2u) != 0 ? -b : b};
}

}  // namespace perrin
