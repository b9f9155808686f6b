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
  return 2 * s.constant * s.squares / std::sqrt(s.particles * cutoff * s.volume) * std::exp(-x * x);
}

double wave_error(const ChargedSystem& s, const EwaldParameters& p) {
  const double x = p.k_max / (2 * p.splitting);
  return std::sqrt(8.0) * s.constant * s.squares * p.splitting /
         std::sqrt(s.particles * s.volume * p.k_max) * std::exp(-x * x);
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
