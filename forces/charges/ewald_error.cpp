#include "forces/charges/ewald_error.h"

#include <cmath>

namespace perrin {
namespace {

/// Where a decreasing function falls to `value`; it is above at `low`.
template <class F>
double falls_to(double value, double low, const F& f) {
  double high = 2 * low;
  while (f(high) > value) high *= 2;
  for (int k = 0; k < 60; ++k) {
    const double middle = (low + high) / 2;
    (f(middle) > value ? low : high) = middle;
  }
  return high;
}

}  // namespace

double real_space_error(const ChargedSystem& s, double splitting, double cutoff) {
  const double x = splitting * cutoff;
  if (s.dipoles) {
    const double y = x * x;
    const double c = 3 + y * (6 + y * 4), d = 15 + y * (30 + y * (20 + y * 8));
    return s.constant * s.squares * std::exp(-y) *
           std::sqrt((13.0 / 6 * c * c + 2.0 / 15 * d * d - 13.0 / 15 * c * d) /
                     (s.volume * s.particles * std::pow(splitting, 4) * std::pow(cutoff, 9)));
  }
  double volume = s.flat ? 2 * cutoff * s.volume : s.volume;
  if (s.slab > 1) {  // so many of all pairs are within the cut-off along z
    const double reach = std::fmin(cutoff / s.layer, 1), near = reach * (2 - reach);
    volume = 2 * cutoff * s.volume / (s.slab * s.layer * near);
  }
  return 2 * s.constant * s.squares / std::sqrt(s.particles * cutoff * volume) * std::exp(-x * x);
}

double wave_error(const ChargedSystem& s, const EwaldParameters& p) {
  const double x = p.k_max / (2 * p.splitting);
  if (s.dipoles)
    return s.constant * s.squares * p.splitting * std::exp(-x * x) *
           std::sqrt(8 * p.k_max * p.k_max * p.k_max / (9 * s.volume * s.particles));
  if (s.flat)
    return std::sqrt(2.0) * s.constant * s.squares * p.splitting /
           (x * std::sqrt(s.particles * s.volume)) * std::exp(-x * x);
  // Those beyond k_max fall off along z as exp(-k_z (k_z' - k_z)/2α²), k_z from 0 to k_max alike.
  const double together = together_in_layer(s, [&](double k) {
    const double y = k * p.k_max / (2 * p.splitting * p.splitting);
    return -std::expm1(-y) / y;
  });
  return std::sqrt(8.0) * s.constant * s.squares * p.splitting /
         std::sqrt(s.particles * s.volume * p.k_max / together) * std::exp(-x * x);
}

EwaldParameters choose_ewald(const ChargedSystem& s, double cutoff, double error) {
  const double each = error / std::sqrt(2.0);
  EwaldParameters p;
  // A system of little charge may need no splitting by the estimate; the sums need one.
  p.splitting = 0.5 / cutoff;
  const auto real = [&](double splitting) { return real_space_error(s, splitting, cutoff); };
  if (real(p.splitting) > each) p.splitting = falls_to(each, p.splitting, real);
  p.k_max = 2 * p.splitting;
  const auto waves = [&](double k_max) { return wave_error(s, {p.splitting, k_max}); };
  if (waves(p.k_max) > each) p.k_max = falls_to(each, p.k_max, waves);
  return p;
}

}  // namespace perrin
