// What every generator can be asked for beyond its 32-bit words.
#pragma once

#include <cstdint>

#include "engine/base/real.h"
#include "rng/math.h"
#include "rng/normal_quantile.h"
#include "rng/ziggurat.h"

namespace perrin {

/// Two numbers of one drawing.
template <class T>
struct Pair {
  T first, second;
};

/// The common face of the generators: `class G : public Distributions<G>` with `uint32 next()`.
/// T is float or double. All results have the same bits on CPU and GPU (see rng/math.h); "words"
/// says how much of the stream a call consumes, as float/double.
template <class Generator>
class Distributions {
 public:
  /// [0, 1), in steps of 2^-24 (float) or 2^-53 (double). 1/2 words.
  template <class T = Real>
  PERRIN_HD T uniform() {
    if constexpr (sizeof(T) == 4)
      return exact::multiply(float(word() >> 8), 0x1p-24f);
    else
      return exact::multiply(double(wide() >> 11), 0x1p-53);
  }

  /// (0, 1], in the same steps. 1/2 words.
  template <class T = Real>
  PERRIN_HD T uniform_open() {
    if constexpr (sizeof(T) == 4)
      return exact::multiply(float((word() >> 8) + 1u), 0x1p-24f);
    else
      return exact::multiply(double((wide() >> 11) + 1u), 0x1p-53);
  }

  /// (-1, 1): odd multiples of 2^-24 (float) or 2^-53, so that a value and its negative are equally
  /// likely, the mean is exactly 0, and neither 0 nor ±1 occurs. Variance 1/3. 1/2 words.
  template <class T = Real>
  PERRIN_HD T symmetric() {
    if constexpr (sizeof(T) == 4)
      return exact::fma(float(std::int32_t(word()) >> 8), 0x1p-23f, 0x1p-24f);
    else
      return exact::fma(double(std::int64_t(wide()) >> 11), 0x1p-52, 0x1p-53);
  }

  /// 0 … n-1, every one equally likely (Lemire, ACM Trans. Model. Comput. Simul. 29 (2019) 3); n
  /// ≥ 1. One word, rarely more.
  PERRIN_HD std::uint32_t below(std::uint32_t n) {
    std::uint64_t product = std::uint64_t(word()) * n;
    if (std::uint32_t(product) < n) {
      const std::uint32_t reject = (0u - n) % n;
      while (std::uint32_t(product) < reject) product = std::uint64_t(word()) * n;
    }
    return std::uint32_t(product >> 32);
  }

  /// Two independent standard normals by Box and Muller. 2/3 words. The radius keeps all
  /// 32 (64) bits of its uniform: values reach 6.7 (9.4).
  template <class T = Real>
  PERRIN_HD Pair<T> normal_pair() {
    const T r = exact::sqrt(exact::multiply(T(-2), exact::log(log_argument<T>())));
    const auto angle = exact::sincos_turn<T>(word());
    return {exact::multiply(r, angle.cos), exact::multiply(r, angle.sin)};
  }
  /// One standard normal; the other of the pair is thrown away (no hidden state). 2/3 words.
  template <class T = Real>
  PERRIN_HD T normal() {
    return normal_pair<T>().first;
  }
  /// Three independent standard normals. 4/6 words.
  template <class T = Real>
  PERRIN_HD Vec3<T> normal3() {
    const auto a = normal_pair<T>(), b = normal_pair<T>();
    return {a.first, a.second, b.first};
  }

  /// Two standard normals by Marsaglia's polar method: no sine and cosine, but a loop (4/π attempts
  /// on average) of 2/4 words each.
  template <class T = Real>
  PERRIN_HD Pair<T> normal_pair_polar() {
    T u, v, q;
    do {
      u = symmetric<T>();
      v = symmetric<T>();
      q = exact::fma(u, u, exact::multiply(v, v));
    } while (q >= T(1));
    const T factor = exact::sqrt(exact::divide(exact::multiply(T(-2), exact::log(q)), q));
    return {exact::multiply(u, factor), exact::multiply(v, factor)};
  }

  /// One standard normal by the ziggurat of 256 layers (Marsaglia, Tsang, J. Stat. Softw. 5 (2000)
  /// 8), the layer and the position taken from different bits (Doornik, 2005). 1/2 words in 99 % of
  /// the calls.
  template <class T = Real>
  PERRIN_HD T normal_ziggurat() {
    for (;;) {
      std::uint32_t layer;
      T u;
      if constexpr (sizeof(T) == 4) {
        const std::uint32_t x = word();
        layer = x & 255u;
        u = exact::fma(float(std::int32_t(x) >> 8), 0x1p-23f, 0x1p-24f);
      } else {
        const std::uint64_t x = wide();
        layer = std::uint32_t(x) & 255u;
        u = exact::fma(double(std::int64_t(x) >> 11), 0x1p-52, 0x1p-53);
      }
      const T outer = ziggurat::edge<T>(layer), inner = ziggurat::edge<T>(layer + 1);
      const T x = exact::multiply(u, outer);
      const T size = x < T(0) ? -x : x;
      if (size < inner) return x;
      if (layer == 0) {
        // The tail beyond r: Marsaglia's method with two exponentials.
        const T r = ziggurat::edge<T>(1);
        T a, b;
        do {
          a = exact::divide(exponential<T>(), r);
          b = exponential<T>();
        } while (b + b <= exact::multiply(a, a));
        return x < T(0) ? -(r + a) : r + a;
      }
      // The wedge between the rectangle and the curve; heights are interpolated between the edges.
      const T low = ziggurat::height<T>(layer), high = ziggurat::height<T>(layer + 1);
      const T y = exact::fma(uniform_open<T>(), high - low, low);
      if (exact::log(y) < exact::multiply(T(-0.5), exact::multiply(x, x))) return x;
    }
  }

  /// One standard normal by inversion: the quantile of a uniform number, from a table of cubics.
  /// One word; a third of the instructions of Box and Muller, and no other number is thrown away.
  /// The highest bit is the sign, the rest, w, stands for the tail probability (w + 1/2)/2^32.
  /// Errors are below 6·10^-7 everywhere (rounding included); values reach 6.34.
  PERRIN_HD float normal_quantile() {
    const std::uint32_t x = word();
    const auto bits = exact::bits_of<std::uint32_t>(float(x << 1 | 1u));
    const auto p = quantiles::piece((bits >> 20) - (127u << 3));
    const float d = exact::bits_of<float>((bits & 0x000fffffu) | 0x3f800000u) - 1.0625f;
    const float size = exact::fma(exact::fma(exact::fma(p.c3, d, p.c2), d, p.c1), d, p.c0);
    return exact::bits_of<float>(exact::bits_of<std::uint32_t>(size) ^ (x & 0x80000000u));
  }

  /// Exponential with mean 1. 1/2 words; values reach 22.8 (45).
  template <class T = Real>
  PERRIN_HD T exponential() {
    return -exact::log(log_argument<T>());
  }

  /// A point on the unit sphere. 2/3 words.
  template <class T = Real>
  PERRIN_HD Vec3<T> unit_vector() {
    const T z = symmetric<T>();
    const T r = exact::sqrt(exact::fma(-z, z, T(1)));
    const auto angle = exact::sincos_turn<T>(word());
    return {exact::multiply(r, angle.cos), exact::multiply(r, angle.sin), z};
  }

 private:
  PERRIN_HD std::uint32_t word() { return static_cast<Generator&>(*this).next(); }
  /// Two words, the first being the higher.
  PERRIN_HD std::uint64_t wide() {
    const std::uint64_t high = word();
    return (high << 32) | word();
  }
  /// (0, 1] with small values as fine as the bits allow: for logarithms.
  template <class T>
  PERRIN_HD T log_argument() {
    if constexpr (sizeof(T) == 4)
      return exact::fma(float(word()), 0x1p-32f, 0x1p-33f);
    else
      return exact::fma(double(wide()), 0x1p-64, 0x1p-65);
  }
};

}  // namespace perrin
