// A density given at points, linear between them, and numbers drawn from it by inversion.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/real.h"
#include "rng/math.h"

namespace perrin {

/// What a drawing needs. Interval k reaches from x[k] to x[k + 1].
template <class T>
struct DensityView {
  const T* x = nullptr;                  // intervals + 1
  const T* slant = nullptr;              // p(x[k]) / (p(x[k]) + p(x[k+1]))
  const std::uint32_t* until = nullptr;  // distribution at the end of the interval, times 2^32
  int intervals = 0;

  /// The x at which the distribution reaches a uniform number: its first 32 bits choose the
  /// interval, the others the place within, where the distribution is a parabola. 2/3 words.
  template <class Generator>
  PERRIN_HD T draw(Generator& g) const {
    const std::uint32_t word = g.next();
    int k = 0, last = intervals - 1;
    while (k < last) {
      const int middle = (k + last) / 2;
      if (word < until[middle])
        last = middle;
      else
        k = middle + 1;
    }
    const T u = g.template uniform<T>(), s = slant[k];
    const T root = exact::sqrt(exact::fma(u, exact::fma(T(-2), s, T(1)), exact::multiply(s, s)));
    const T share = s + root > T(0) ? exact::divide(u, s + root) : T(0);
    return exact::fma(share < T(1) ? share : T(1), x[k + 1] - x[k], x[k]);
  }
};

/// On the host, made from points.
template <class T>
struct Density {
  std::vector<T> x, slant;
  std::vector<std::uint32_t> until;
  double integral = 0;  // of p as it was given

  /// x must increase, p must not be negative. Throws UserError.
  static Density of(const std::vector<double>& x, const std::vector<double>& p) {
    if (x.size() != p.size() || x.size() < 2)
      throw UserError("a density needs at least two points");
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (!std::isfinite(x[k]) || !std::isfinite(p[k]) || p[k] < 0)
        throw UserError("a density must be finite and not negative, got " + std::to_string(p[k]) +
                        " at " + std::to_string(x[k]));
      if (k > 0 && !(T(x[k]) > T(x[k - 1])))
        throw UserError("the points of a density must increase, got " + std::to_string(x[k - 1]) +
                        " before " + std::to_string(x[k]));
    }
    Density d;
    std::vector<double> sum;
    for (std::size_t k = 0; k + 1 < x.size(); ++k) {
      d.integral += (p[k] + p[k + 1]) / 2 * (x[k + 1] - x[k]);
      sum.push_back(d.integral);
    }
    if (!(d.integral > 0) || !std::isfinite(d.integral))
      throw UserError("a density must not be 0 everywhere, nor its integral infinite");
    // What comes after the last interval that has a probability is never drawn.
    while (sum.size() > 1 && sum[sum.size() - 2] == d.integral) sum.pop_back();
    d.x.push_back(T(x[0]));
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const double both = p[k] + p[k + 1];
      d.x.push_back(T(x[k + 1]));
      d.slant.push_back(T(both > 0 ? p[k] / both : 0.5));
      d.until.push_back(
          std::uint32_t(std::fmin(std::round(sum[k] / d.integral * 0x1p32), 0x1p32 - 1)));
    }
    return d;
  }

  DensityView<T> view() const { return {x.data(), slant.data(), until.data(), int(until.size())}; }
};

}  // namespace perrin
