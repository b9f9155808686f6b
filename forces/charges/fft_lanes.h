// kissfft (https://github.com/mborgerding/kissfft) for several lines at a time: its numbers are
// vectors of the processor, one line in each lane. A line has the same bits whichever lane it is
// in, and whatever the others are.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <kissfft/kissfft.hh>

#include "engine/base/real.h"

namespace perrin {

struct Lanes {
  static constexpr int count = 8;
  using Vector [[gnu::vector_size(count * sizeof(Real))]] = Real;

  Lanes(Real x = 0) : v{x, x, x, x, x, x, x, x} {}  // NOLINT(google-explicit-constructor)

  Real operator[](std::int64_t lane) const { return v[lane]; }
  auto& operator[](std::int64_t lane) { return reinterpret_cast<Real*>(&v)[lane]; }

  Lanes operator-() const {
    Lanes negative;
    negative.v = -v;
    return negative;
  }
  Lanes& operator+=(const Lanes& b) { return v += b.v, *this; }
  Lanes& operator-=(const Lanes& b) { return v -= b.v, *this; }
  Lanes& operator*=(const Lanes& b) { return v *= b.v, *this; }
  friend Lanes operator+(Lanes a, const Lanes& b) { return a += b; }
  friend Lanes operator-(Lanes a, const Lanes& b) { return a -= b; }
  friend Lanes operator*(Lanes a, const Lanes& b) { return a *= b; }

 private:
  Vector v;
};

}  // namespace perrin

/// Of a product of 2, 3 and 5. The library's own asks std::acos for a scalar.
template <>
inline kissfft<perrin::Lanes>::kissfft(const std::size_t n, const bool inverse)
    : _nfft(n), _inverse(inverse) {
  const double turn = (inverse ? 2 : -2) * M_PI / double(n);
  for (std::size_t k = 0; k < n; ++k)
    _twiddles.emplace_back(perrin::Real(std::cos(turn * double(k))),
                           perrin::Real(std::sin(turn * double(k))));
  std::size_t left = n;
  for (const std::size_t radix : {4, 2, 3, 5})
    for (; left % radix == 0 && left > 1; _stageRemainder.push_back(left)) {
      left /= radix;
      _stageRadix.push_back(radix);
    }
}
