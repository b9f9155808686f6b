// Fourier transforms of lines of a mesh on the CPU, a vector of lines at a time: every operation is
// one on `lanes` numbers. The factors 4, 2, 3 and 5 of the length are taken in turn, each pass
// from one array to another, which leaves the result in order (T. G. Stockham, AFIPS Proc. 28, 229
// (1966); C. Van Loan, Computational Frameworks for the Fast Fourier Transform (1992),
// section 1.7).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/base/real.h"
#include "forces/charges/fft.h"

namespace perrin::line_fft {

/// A number of each line: what AVX2 has in a register.
using Vector = Real __attribute__((vector_size(32)));
constexpr int lanes = 32 / sizeof(Real);
struct alignas(32) Pack {
  Vector re, im;
};

/// Lengths that are products of 2, 3 and 5.
class Plan {
 public:
  Plan() = default;
  explicit Plan(std::int64_t n) : n_(n) {
    for (std::int64_t k = 0; k < n; ++k) {
      const double angle = 2 * M_PI * double(k) / double(n);
      roots_.push_back({Real(std::cos(angle)), Real(-std::sin(angle))});
    }
    std::int64_t left = n;
    for (const int p : {4, 2, 3, 5})
      for (; left % p == 0; left /= p) factors_.push_back(p);
  }
  std::int64_t length() const { return n_; }
  const std::vector<int>& factors() const { return factors_; }
  const Complex* roots() const { return roots_.data(); }  // exp(-2πi k/n)

 private:
  std::int64_t n_ = 0;
  std::vector<int> factors_;
  std::vector<Complex> roots_;
};

inline Pack operator+(const Pack& a, const Pack& b) { return {a.re + b.re, a.im + b.im}; }
inline Pack operator-(const Pack& a, const Pack& b) { return {a.re - b.re, a.im - b.im}; }
inline Pack operator*(Real a, const Pack& b) { return {a * b.re, a * b.im}; }
inline Pack operator*(const Complex& a, const Pack& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// -i times it; Inverse: i times it.
template <bool Inverse>
inline Pack turned(const Pack& a) {
  return Inverse ? Pack{-a.im, a.re} : Pack{a.im, -a.re};
}

/// Transforms of P numbers, in place.
template <bool Inverse>
inline void transform(Pack (&a)[2]) {
  const Pack b = a[0] - a[1];
  a[0] = a[0] + a[1], a[1] = b;
}
template <bool Inverse>
inline void transform(Pack (&a)[3]) {
  const Pack sum = a[1] + a[2], b = a[0] - Real(0.5) * sum;
  const Pack c = turned<Inverse>(Real(0.8660254037844386) * (a[1] - a[2]));
  a[0] = a[0] + sum, a[1] = b + c, a[2] = b - c;
}
template <bool Inverse>
inline void transform(Pack (&a)[4]) {
  const Pack b = a[0] + a[2], c = a[0] - a[2], d = a[1] + a[3], e = turned<Inverse>(a[1] - a[3]);
  a[0] = b + d, a[1] = c + e, a[2] = b - d, a[3] = c - e;
}
template <bool Inverse>
inline void transform(Pack (&a)[5]) {
  constexpr Real c1 = Real(0.30901699437494745), c2 = Real(-0.8090169943749475);
  constexpr Real s1 = Real(0.9510565162951535), s2 = Real(0.5877852522924731);
  const Pack b = a[1] + a[4], c = a[2] + a[3], d = a[1] - a[4], e = a[2] - a[3];
  const Pack f = a[0] + c1 * b + c2 * c, g = a[0] + c2 * b + c1 * c;
  const Pack h = turned<Inverse>(s1 * d + s2 * e), i = turned<Inverse>(s2 * d - s1 * e);
  a[0] = a[0] + b + c, a[1] = f + h, a[2] = g + i, a[3] = g - i, a[4] = f - h;
}

/// One pass, of the factor P: from x, in `stride` sequences, to y, in P times as many.
template <int P, bool Inverse>
inline void pass(const Pack* x, Pack* y, std::int64_t n, std::int64_t stride,
                 const Complex* roots) {
  const std::int64_t m = n / (P * stride);
  for (std::int64_t k = 0; k < m; ++k) {
    Complex w[P];
    for (int j = 1; j < P; ++j) {
      const Complex root = roots[j * k * stride];
      w[j] = {root.re, Inverse ? -root.im : root.im};
    }
    for (std::int64_t q = 0; q < stride; ++q) {
      const Pack* const from = x + k * stride + q;
      Pack* const to = y + P * k * stride + q;
      Pack a[P];
      for (int j = 0; j < P; ++j) a[j] = from[m * stride * j];
      transform<Inverse>(a);
      to[0] = a[0];
      for (int j = 1; j < P; ++j) to[stride * j] = w[j] * a[j];
    }
  }
}

/// Lines of a mesh: numbers `step` apart; line k begins at (k / inner) · outer + (k % inner) ·
/// next. A body for run_range(): groups of `lanes` lines, which are transformed in place.
template <bool Inverse>
struct Lines {
  Complex* data;
  std::int64_t count, inner, outer, next, step;
  std::int64_t n;
  const int* factors;
  int factor_count;
  const Complex* roots;
  Pack* work;  // 2 n of them

  void operator()(std::int64_t group) const {
    Complex* at[lanes];
    const std::int64_t first = group * lanes;
    const std::int64_t some = count - first < lanes ? count - first : lanes;
    for (std::int64_t l = 0; l < lanes; ++l) {
      const std::int64_t k = first + (l < some ? l : 0);
      at[l] = data + k / inner * outer + k % inner * next;
    }
    // Neighbours in memory, as all but those along the fastest axis mostly are.
    const bool dense = next == 1 && some == lanes && at[lanes - 1] - at[0] == lanes - 1;
    Pack *x = work, *y = work + n;
    for (std::int64_t k = 0; k < n; ++k)
      if (dense)
        load(at[0] + k * step, x[k]);
      else
        for (int l = 0; l < lanes; ++l)
          x[k].re[l] = at[l][k * step].re, x[k].im[l] = at[l][k * step].im;
    std::int64_t stride = 1;
    for (int f = 0; f < factor_count; ++f) {
      switch (factors[f]) {
        case 2:
          pass<2, Inverse>(x, y, n, stride, roots);
          break;
        case 3:
          pass<3, Inverse>(x, y, n, stride, roots);
          break;
        case 4:
          pass<4, Inverse>(x, y, n, stride, roots);
          break;
        default:
          pass<5, Inverse>(x, y, n, stride, roots);
      }
      stride *= factors[f];
      Pack* const swapped = x;
      x = y, y = swapped;
    }
    for (std::int64_t k = 0; k < n; ++k)
      if (dense)
        store(x[k], at[0] + k * step);
      else
        for (int l = 0; l < some; ++l) at[l][k * step] = {x[k].re[l], x[k].im[l]};
  }
  static void load(const Complex* from, Pack& to) {
#pragma omp simd simdlen(lanes)
    for (int l = 0; l < lanes; ++l) to.re[l] = from[l].re, to.im[l] = from[l].im;
  }
  static void store(const Pack& from, Complex* to) {
#pragma omp simd simdlen(lanes)
    for (int l = 0; l < lanes; ++l) to[l].re = from.re[l], to[l].im = from.im[l];
  }
};

}  // namespace perrin::line_fft
