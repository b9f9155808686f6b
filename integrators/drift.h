// Moving one particle: what every integrator's position update comes down to.
#pragma once

#include <array>
#include <bit>
#include <cmath>

#ifndef __CUDA_ARCH__
#include <emmintrin.h>
#endif

#include "engine/device/faults.h"
#include "engine/system/moved_position.h"
#include "engine/system/particles.h"
#include "neighbor/move_check.h"

namespace perrin {

#ifndef __CUDA_ARCH__
/// Whole numbers next to these and, in units of 2^-8, what is left of them.
inline __attribute__((always_inline)) void split(const Real4& by, __m128i& whole, __m128i& rest) {
#ifdef PERRIN_DOUBLE
  const __m128d low = _mm_set_pd(by.y, by.x), high = _mm_set_pd(0, by.z);
  const __m128i a = _mm_cvtpd_epi32(low), b = _mm_cvtpd_epi32(high);
  const __m128d fine = _mm_set1_pd(256);
  whole = _mm_unpacklo_epi64(a, b);
  rest =
      _mm_unpacklo_epi64(_mm_cvtpd_epi32(_mm_mul_pd(fine, _mm_sub_pd(low, _mm_cvtepi32_pd(a)))),
                         _mm_cvtpd_epi32(_mm_mul_pd(fine, _mm_sub_pd(high, _mm_cvtepi32_pd(b)))));
#else
  const __m128 u = std::bit_cast<__m128>(by);
  whole = _mm_cvtps_epi32(u);
  rest = _mm_cvtps_epi32(_mm_mul_ps(_mm_set1_ps(256), _mm_sub_ps(u, _mm_cvtepi32_ps(whole))));
#endif
}
#endif

/// The same; on the CPU with whole words, of which the fourth number, the type, moves by 0.
PERRIN_HD Position moved(const Position& p, const Real4& by) {
#ifdef __CUDA_ARCH__
  return moved_by_axes(p, by);
#else
  __m128i whole, rest;
  split(by, whole, rest);
  const auto before = std::bit_cast<FourInts>(p);
  const FourInts tail = __builtin_shufflevector(before, before, 3, 3, 3, 3);
  const FourInts bytes = (tail << FourInts{24, 16, 8, 0}) >> 24;  // with their signs
  const FourInts sum = bytes + std::bit_cast<FourInts>(rest);
  const FourInts carry = (sum + 128) >> 8;
  // Unsigned, for positions wrap around.
  const FourWords by_units = std::bit_cast<FourWords>(std::bit_cast<FourInts>(whole) + carry);
  const FourWords after = std::bit_cast<FourWords>(before) + by_units;
  // The lowest byte of a sum is what the carry leaves.
  const auto low = std::bit_cast<__m128i>(sum & 255);
  const __m128i words = _mm_packs_epi32(low, low);
  const auto tails = std::bit_cast<FourInts>(_mm_packus_epi16(words, words));
  return std::bit_cast<Position>(
      __builtin_shufflevector(after, std::bit_cast<FourWords>(tails), 0, 1, 2, 7));
#endif
}

#ifndef __CUDA_ARCH__
/// True for all but a few particles: no face was crossed, none that is not periodic passed.
inline __attribute__((always_inline)) bool stays_inside(const Position& before,
                                                        const Position& after, const Real4& by,
                                                        const Metric& metric) {
  const auto p = std::bit_cast<FourWords>(before), q = std::bit_cast<FourWords>(after);
  const auto lower = std::bit_cast<FourWords>(metric.lower),
             upper = std::bit_cast<FourWords>(metric.upper);
  const FourInts backward = __builtin_convertvector(std::bit_cast<FourReals>(by) < 0, FourInts);
  const FourInts wrapped = (backward & FourInts(q > p)) | (~backward & FourInts(q < p));
  const FourInts out = wrapped | FourInts(q < lower) | FourInts(q > upper);
  return (_mm_movemask_epi8(std::bit_cast<__m128i>(out)) & 0xfff) == 0;  // of x, y and z
}
#endif

/// Counts the crossings of periodic faces and reports a particle that is outside of others.
PERRIN_HD void watch_faces(const ParticleView& particles, const Metric& metric,
                           const FaultSink& faults, std::int64_t i, const Position& before,
                           const Position& p, const Real4& by, Real length2, Real limit) {
  const Image crossed{crossing(before.x, p.x, by.x), crossing(before.y, p.y, by.y),
                      crossing(before.z, p.z, by.z)};
  // Few particles cross: the counters of the others are not even read.
  const bool crosses = (crossed.x | crossed.y | crossed.z) != 0;
  if (!crosses && !metric.open) return;  // one branch, and short
  if (crosses) particles.image[i] += crossed;
  if (!metric.open) return;
  const bool outside[3] = {p.x < metric.lower[0] || p.x > metric.upper[0],
                           p.y < metric.lower[1] || p.y > metric.upper[1],
                           p.z < metric.lower[2] || p.z > metric.upper[2]};
  if (outside[0] || outside[1] || outside[2])
    faults.report(FaultKind::left_the_box, particles.id[i], std::sqrt(double(length2)),
                  double(limit),
                  outside[0]   ? 0
                  : outside[1] ? 1
                               : 2);
}

/// Moves particle i, which is at `from`, by a displacement (length), rounded to 2^-40 of the edges.
/// Reports, and leaves the particle where it is, if the displacement is not finite or longer than
/// `limit` (StepContext::max_displacement(): below half of the smallest height of the box); reports
/// also a particle that leaves the box along an axis that is not periodic. `check`
/// (StepContext::check_moves()) watches over the neighbour list; without it update_neighbors()
/// does. `early`: what a kernel has read for it, see there.
PERRIN_HD void drift(const ParticleView& particles, const Metric& metric, const FaultSink& faults,
                     std::int64_t i, const Position& from, const Real4& displacement, Real limit,
                     const MoveCheck& check, const Position* early = nullptr) {
  const Real length2 = square(displacement);
  if (!(length2 <= limit * limit)) {  // catches NaN
    const double x = double(displacement.x), y = double(displacement.y), z = double(displacement.z);
    const double length = std::sqrt(x * x + y * y + z * z);
    const bool finite = length <= 1e300;
    faults.report(finite ? FaultKind::too_fast : FaultKind::not_finite, particles.id[i], length,
                  double(limit));
    check(i, from, metric, early);  // steps that can be taken back go on
    return;
  }
  const Real4 u = metric.fixed_word(displacement);
  // `from` may be where the particle is kept.
#ifdef __CUDA_ARCH__
  const Position before = from;
  const Position p = moved(before, u);
  particles.position[i] = p;  // first: nothing of it waits for the counters of crossings
  check(i, p, metric, early);
  watch_faces(particles, metric, faults, i, before, p, u, length2, limit);
#else  // a copy of a position would be handled number by number
  const Position p = moved(from, u);
  if (!stays_inside(from, p, u, metric))
    watch_faces(particles, metric, faults, i, from, p, u, length2, limit);
  particles.position[i] = p;
  check(i, p, metric, early);
#endif
}

}  // namespace perrin
