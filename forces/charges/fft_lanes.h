// Fourier transforms of eight lines of numbers at a time, on the CPU: one in each lane of a vector.
// A line has the same bits whichever lane it is in, and whatever the others are.
//
// The transform of n numbers, n a product of 2, 3, 4 and 5, is that of J. W. Cooley and J. W. Tukey
// in the order of T. G. Stockham, which sorts as it goes: after the stages of the radices p, q, …
// there are n/(p q …) transforms of p q … numbers each, and the next one puts so many of them
// together.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/base/real.h"
#include "forces/charges/fft.h"
#include "neighbor/inline.h"

namespace perrin::fft {

constexpr std::int64_t lanes = 8;
// Aligned also where the compiler knows no such vectors.
using Lanes [[gnu::vector_size(lanes * sizeof(Real)), gnu::aligned(lanes * sizeof(Real))]] = Real;
// Anywhere in memory.
using LanesThere
    [[gnu::vector_size(lanes * sizeof(Real)), gnu::aligned(sizeof(Real)), gnu::may_alias]] = Real;

/// A number of each line.
struct alignas(lanes * sizeof(Real)) Numbers {
  Lanes re, im;

  PERRIN_INLINE friend Numbers operator+(const Numbers& a, const Numbers& b) {
    return {a.re + b.re, a.im + b.im};
  }
  PERRIN_INLINE friend Numbers operator-(const Numbers& a, const Numbers& b) {
    return {a.re - b.re, a.im - b.im};
  }
  PERRIN_INLINE friend Numbers operator*(Real a, const Numbers& b) { return {a * b.re, a * b.im}; }
  PERRIN_INLINE friend Numbers operator*(const Complex& a, const Numbers& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
PERRIN_INLINE Numbers conjugate(const Numbers& a) { return {a.re, -a.im}; }
PERRIN_INLINE Numbers times_i(const Numbers& a) { return {-a.im, a.re}; }
PERRIN_INLINE Numbers swapped(const Numbers& a) { return {a.im, a.re}; }

/// Σ_q x_q exp(-2πi q c/p) for all c, in place.
PERRIN_INLINE void transform_few(Numbers (&x)[2]) {
  const Numbers a = x[0];
  x[0] = a + x[1], x[1] = a - x[1];
}
PERRIN_INLINE void transform_few(Numbers (&x)[3]) {
  constexpr Real sine = Real(0.86602540378443864676);
  const Numbers sum = x[1] + x[2], turned = times_i(sine * (x[1] - x[2]));
  const Numbers rest = x[0] - Real(0.5) * sum;
  x[0] = x[0] + sum, x[1] = rest - turned, x[2] = rest + turned;
}
PERRIN_INLINE void transform_few(Numbers (&x)[4]) {
  const Numbers a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = times_i(x[1] - x[3]);
  x[0] = a + c, x[1] = b - d, x[2] = a - c, x[3] = b + d;
}
PERRIN_INLINE void transform_few(Numbers (&x)[5]) {
  constexpr Real c1 = Real(0.30901699437494742410), c2 = Real(-0.80901699437494742410);
  constexpr Real s1 = Real(0.95105651629515357212), s2 = Real(0.58778525229247312917);
  const Numbers a = x[1] + x[4], b = x[2] + x[3], c = x[1] - x[4], d = x[2] - x[3];
  const Numbers m1 = x[0] + (c1 * a + c2 * b), m2 = x[0] + (c2 * a + c1 * b);
  const Numbers t1 = times_i(s1 * c + s2 * d), t2 = times_i(s2 * c - s1 * d);
  x[0] = x[0] + (a + b);
  x[1] = m1 - t1, x[2] = m2 - t2, x[3] = m2 + t2, x[4] = m1 + t1;
}

/// Transforms of `before` numbers are put together, `radix` at a time, `after` times.
struct Stage {
  std::int64_t radix, before, after;
  const Complex* factors;  // [j · (radix - 1) + q - 1]: exp(-2πi q j/(before · radix))
};

template <int p>
PERRIN_INLINE void put_together(const Stage& stage, const Numbers* from, Numbers* to) {
  const std::int64_t l = stage.before, s = stage.after;
  for (std::int64_t j = 0; j < l; ++j) {
    const Complex* const factor = stage.factors + j * (p - 1);
    for (std::int64_t r = 0; r < s; ++r) {
      Numbers x[p];
      for (int q = 0; q < p; ++q) x[q] = from[(j * p + q) * s + r];
      if (j > 0)
        for (int q = 1; q < p; ++q) x[q] = factor[q - 1] * x[q];
      transform_few(x);
      for (int c = 0; c < p; ++c) to[(j + l * c) * s + r] = x[c];
    }
  }
}

/// What a loop needs of a plan.
struct PlanView {
  std::int64_t n;
  const Stage* stages;
  std::int64_t count;
  const Complex* turns;  // [k]: exp(-2πi k/(2 n)), k ≤ n

  /// The transform of n numbers, in one of the two places.
  PERRIN_INLINE Numbers* transform(Numbers* from, Numbers* to) const {
    for (std::int64_t k = 0; k < count; ++k) {
      const Stage& stage = stages[k];
      if (stage.radix == 4)
        put_together<4>(stage, from, to);
      else if (stage.radix == 2)
        put_together<2>(stage, from, to);
      else if (stage.radix == 3)
        put_together<3>(stage, from, to);
      else
        put_together<5>(stage, from, to);
      Numbers* const result = to;
      to = from, from = result;
    }
    return from;
  }
};

class Plan {
 public:
  explicit Plan(std::int64_t n) : n_(n) {
    std::int64_t before = 1, left = n;
    for (const std::int64_t radix : {4, 2, 3, 5})
      for (; left % radix == 0; before *= radix) {
        left /= radix;
        stages_.push_back({radix, before, left, nullptr});
        for (std::int64_t j = 0; j < before; ++j)
          for (std::int64_t q = 1; q < radix; ++q)
            factors_.push_back(turn(double(q * j) / double(before * radix)));
      }
    for (std::int64_t k = 0; k <= n; ++k) turns_.push_back(turn(double(k) / double(2 * n)));
    const Complex* at = factors_.data();
    for (Stage& stage : stages_) stage.factors = at, at += stage.before * (stage.radix - 1);
  }
  Plan(Plan&&) = default;  // of vectors: what stages point to stays
  PlanView view() const {
    return {n_, stages_.data(), std::int64_t(stages_.size()), turns_.data()};
  }

 private:
  static Complex turn(double part) {
    return {Real(std::cos(2 * M_PI * part)), Real(-std::sin(2 * M_PI * part))};
  }
  std::int64_t n_;
  std::vector<Stage> stages_;
  std::vector<Complex> factors_, turns_;
};

/// Eight rows of eight numbers, as columns.
PERRIN_INLINE void transpose(Lanes (&r)[lanes]) {
  Lanes a[lanes], b[lanes];
  for (int k = 0; k < 8; k += 2) {
    a[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    a[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int k = 0; k < 8; k += 4)
    for (int m = 0; m < 2; ++m) {
      b[k + 2 * m] = __builtin_shufflevector(a[k + m], a[k + m + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[k + 2 * m + 1] =
          __builtin_shufflevector(a[k + m], a[k + m + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int k = 0; k < 4; ++k) {
    r[k] = __builtin_shufflevector(b[k], b[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[k + 4] = __builtin_shufflevector(b[k], b[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Lines whose numbers are one after another, of `some` ≤ 8 lines `stride` apart.
struct LinesAlong {
  std::int64_t stride, some;

  PERRIN_INLINE void load(const Complex* line, std::int64_t n, Numbers* to) const {
    const Complex* at[lanes];
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      at[lane] = line + (lane < some ? lane : 0) * stride;
    std::int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
      Lanes r[lanes];
      for (int lane = 0; lane < lanes; ++lane)
        r[lane] = *reinterpret_cast<const LanesThere*>(at[lane] + k);
      transpose(r);
      for (int m = 0; m < 4; ++m) to[k + m] = {r[2 * m], r[2 * m + 1]};
    }
    for (; k < n; ++k)
      for (int lane = 0; lane < lanes; ++lane)
        to[k].re[lane] = at[lane][k].re, to[k].im[lane] = at[lane][k].im;
  }
  PERRIN_INLINE void store(const Numbers* from, std::int64_t n, Complex* line) const {
    std::int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
      Lanes r[lanes];
      for (int m = 0; m < 4; ++m) r[2 * m] = from[k + m].re, r[2 * m + 1] = from[k + m].im;
      transpose(r);
      for (std::int64_t lane = 0; lane < some; ++lane)
        *reinterpret_cast<LanesThere*>(line + lane * stride + k) = r[lane];
    }
    for (; k < n; ++k)
      for (std::int64_t lane = 0; lane < some; ++lane)
        line[lane * stride + k] = {from[k].re[lane], from[k].im[lane]};
  }
};

/// Lines that lie side by side, `some` ≤ 8 of them, their numbers `stride` apart.
struct LinesAbreast {
  std::int64_t stride, some;

  /// `back`: real and imaginary parts change places, which makes of a transform its inverse.
  template <bool back>
  PERRIN_INLINE void load(const Complex* line, std::int64_t n, Numbers* to) const {
    for (std::int64_t k = 0; k < n; ++k, line += stride) {
      Complex room[lanes] = {};
      const Complex* from = line;
      if (some < lanes) {
        for (std::int64_t lane = 0; lane < some; ++lane) room[lane] = line[lane];
        from = room;
      }
      const Lanes a = *reinterpret_cast<const LanesThere*>(from);
      const Lanes b = *reinterpret_cast<const LanesThere*>(from + lanes / 2);
      const Numbers x{__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
                      __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)};
      to[k] = back ? swapped(x) : x;
    }
  }
  template <bool back>
  PERRIN_INLINE void store(const Numbers* from, std::int64_t n, Complex* line) const {
    for (std::int64_t k = 0; k < n; ++k, line += stride) {
      const Numbers x = back ? swapped(from[k]) : from[k];
      const Lanes a = __builtin_shufflevector(x.re, x.im, 0, 8, 1, 9, 2, 10, 3, 11);
      const Lanes b = __builtin_shufflevector(x.re, x.im, 4, 12, 5, 13, 6, 14, 7, 15);
      Complex room[lanes];
      Complex* const to = some < lanes ? room : line;
      *reinterpret_cast<LanesThere*>(to) = a;
      *reinterpret_cast<LanesThere*>(to + lanes / 2) = b;
      if (some < lanes)
        for (std::int64_t lane = 0; lane < some; ++lane) line[lane] = room[lane];
    }
  }
};

/// In place, of the first n numbers of lines that lie side by side.
template <bool back>
PERRIN_INLINE void transform_abreast(const PlanView& plan, Complex* data, const LinesAbreast& lines,
                                     Numbers* room) {
  lines.load<back>(data, plan.n, room);
  lines.store<back>(plan.transform(room, room + plan.n), plan.n, data);
}

/// Lines of 2 n real numbers, by the plan of n: those with even and with odd places are the real
/// and imaginary parts of n numbers.
PERRIN_INLINE void transform_real(const PlanView& plan, const Real* space, Complex* waves,
                                  std::int64_t some, Numbers* room) {
  const std::int64_t n = plan.n;
  LinesAlong{n, some}.load(reinterpret_cast<const Complex*>(space), n, room);
  const Numbers* const z = plan.transform(room, room + n);
  Numbers* const x = z == room ? room + n : room;
  Numbers last;
  for (std::int64_t k = 0; k <= n; ++k) {
    const Numbers a = z[k < n ? k : 0], b = conjugate(z[k > 0 ? n - k : 0]);
    const Numbers found = Real(0.5) * ((a + b) - times_i(plan.turns[k] * (a - b)));
    (k < n ? x[k] : last) = found;
  }
  const LinesAlong lines{n + 1, some};
  lines.store(x, n, waves);
  for (std::int64_t lane = 0; lane < some; ++lane)
    waves[lane * lines.stride + n] = {last.re[lane], last.im[lane]};
}

/// Back from the numbers 0 to n of the transforms.
PERRIN_INLINE void transform_back(const PlanView& plan, const Complex* waves, Real* space,
                                  std::int64_t some, Numbers* room) {
  const std::int64_t n = plan.n;
  Numbers* const x = room + n;  // n + 1 of them
  LinesAlong{n + 1, some}.load(waves, n + 1, x);
  for (std::int64_t k = 0; k < n; ++k) {
    const Numbers a = x[k], b = conjugate(x[n - k]);
    const Complex turn{plan.turns[k].re, -plan.turns[k].im};
    room[k] = swapped((a + b) + times_i(turn * (a - b)));
  }
  Numbers* const z = plan.transform(room, x);
  for (std::int64_t k = 0; k < n; ++k) z[k] = swapped(z[k]);
  LinesAlong{n, some}.store(z, n, reinterpret_cast<Complex*>(space));
}

}  // namespace perrin::fft
