// The kernels of the sum over wave vectors (ewald_sum.h). For files compiled as CUDA.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/charges/ewald_sum.h"
#include "forces/charges/unit_circle.h"
#include "forces/charges/waves.h"
#include "forces/deposit.h"

namespace perrin::waves {

using Factor = EwaldSum::Factor;

constexpr int wave_lanes = 16;  // on the CPU

PERRIN_HD std::int64_t with_lanes(std::int64_t n) {
  return (n + wave_lanes - 1) / wave_lanes * wave_lanes;
}

struct Waves {
  std::int64_t room, count;
  const std::uint32_t* n;  // [axis · room + wave]
  const Real* k;           // [axis · room + wave]; axis 3: the weight
  Factor* factor;

  PERRIN_HD Real weight(std::int64_t wave) const { return k[3 * room + wave]; }
  PERRIN_HD std::uint32_t phase(std::int64_t wave, std::uint32_t x, std::uint32_t y,
                                std::uint32_t z) const {
    return n[wave] * x + n[room + wave] * y + n[2 * room + wave] * z;
  }
};

struct Charges {
  std::int64_t room, count;
  const std::uint32_t* place;  // [axis · room + particle]
  const Real* charge;
};

/// What the sums read of a particle, in arrays of their own. Along z of a slab fractions are those
/// of the longer cell.
struct Pack {
  const Position* position;
  AttributeView<1> charge_of;
  std::int64_t room;
  std::uint32_t* place;
  Real* charge;
  std::uint64_t ratio;  // of edges along z, in units of 2⁻³¹; 0: 1

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = position[i];
    place[i] = p.x, place[room + i] = p.y;
    place[2 * room + i] = ratio == 0 ? p.z : std::uint32_t((std::uint64_t(p.z) * ratio) >> 31);
    charge[i] = charge_of(std::uint32_t(i));
  }
};

/// k and weights in the box as it is now.
struct Weigh {
  const Box* box;
  Box listed_for;
  double stretch, splitting, k_max, constant;
  std::int64_t room;
  const std::uint32_t* n;
  Real* k;
  FaultSink faults;

  PERRIN_HD void operator()(std::int64_t wave) const {
    const Box cell = repeated_cell(*box, stretch);
    if (wave == 0) {
      const double longest = longest_stretch(listed_for, *box);
      if (longest > EwaldSum::most_stretch)
        faults.report(FaultKind::box_too_far, 0, longest, EwaldSum::most_stretch);
    }
    const auto number = [&](int axis) { return double(std::int32_t(n[axis * room + wave])); };
    const Vec3<double> v = wave_vector(cell, number(0), number(1), number(2));
    const double square = dot(v, v);
    k[wave] = Real(v.x), k[room + wave] = Real(v.y), k[2 * room + wave] = Real(v.z);
    constexpr double pi = 3.141592653589793;
    // Twice: for k and -k.
    const double weight = 8 * pi * constant / (cell.volume() * square) *
                          std::exp(-square / (4 * splitting * splitting));
    k[3 * room + wave] = square <= k_max * k_max * (1 + 1e-12) ? Real(weight) : Real(0);
  }
};

/// S(k) of one wave, on the CPU.
struct SumWave {
  Waves waves;
  Charges charges;

  void operator()(std::int64_t wave) const {
    const Real weight = waves.weight(wave);
    if (weight == Real(0)) {
      waves.factor[wave] = {0, 0};
      return;
    }
    const std::uint32_t nx = waves.n[wave], ny = waves.n[waves.room + wave],
                        nz = waves.n[2 * waves.room + wave];
    const std::uint32_t* x = charges.place;
    const std::uint32_t *y = x + charges.room, *z = y + charges.room;
    constexpr std::int64_t portion = 64 * wave_lanes;  // short sums in single precision
    double re = 0, im = 0;
    for (std::int64_t begin = 0; begin < charges.count; begin += portion) {
      const std::int64_t end = begin + portion < charges.room ? begin + portion : charges.room;
      Real c[wave_lanes] = {}, s[wave_lanes] = {};
      for (std::int64_t first = begin; first < end; first += wave_lanes)
#pragma omp simd simdlen(wave_lanes)
        for (int lane = 0; lane < wave_lanes; ++lane) {
          const std::int64_t i = first + lane;
          const PointOnCircle at = unit_circle(nx * x[i] + ny * y[i] + nz * z[i]);
          c[lane] += charges.charge[i] * at.cosine;
          s[lane] += charges.charge[i] * at.sine;
        }
      for (int lane = 0; lane < wave_lanes; ++lane) re += double(c[lane]), im += double(s[lane]);
    }
    waves.factor[wave] = {Real(double(weight) * re), Real(double(weight) * im)};
  }
};

/// The force of all waves on a particle.
template <bool Energy>
struct WaveForces {
  static constexpr int sums = Energy ? 10 : 3;
  Waves waves;
  Charges charges;
  Real quarter;  // 1/(4 α²)
  Real beyond;   // virial of what a unit charge and k > k_max would add
  ForceOutput out;
  std::int64_t particles;

  PERRIN_HD void add(std::int64_t wave, std::uint32_t phase, Real (&sum)[sums]) const {
    const PointOnCircle at = unit_circle(phase);
    const Factor f = waves.factor[wave];
    const Real x = waves.k[wave], y = waves.k[waves.room + wave],
               z = waves.k[2 * waves.room + wave];
    const Real force = at.sine * f.re - at.cosine * f.im;
    sum[0] += force * x, sum[1] += force * y, sum[2] += force * z;
    if constexpr (Energy) {
      const Real energy = at.cosine * f.re + at.sine * f.im;
      // Beyond the last wave there are some without k.
      const Real square = Real(1e-24) + x * x + y * y + z * z;
      const Real g = Real(2) * energy * (reciprocal(square) + quarter);
      sum[3] += energy;
      sum[4] += g * x * x, sum[5] += g * y * y, sum[6] += g * z * z;
      sum[7] += g * x * y, sum[8] += g * x * z, sum[9] += g * y * z;
    }
  }
  PERRIN_HD void finish(std::int64_t i, const Real (&sum)[sums]) const {
    const Real q = charges.charge[i];
    const Real weighted = out.slow * q;
    const Real3 force{weighted * sum[0], weighted * sum[1], weighted * sum[2]};
    Real energy = 0;
    Virial virial;
    if constexpr (Energy) {
      energy = Real(0.5) * q * sum[3];
      for (std::size_t c = 0; c < 6; ++c)
        virial.c[c] = (c < 3 ? energy + beyond * q * q : Real(0)) - Real(0.5) * q * sum[4 + c];
    }
    deposit(out, particles, i, force, energy, virial, Real(1));
  }

  /// On the CPU. Short waves, whose terms are small, come first.
  void operator()(std::int64_t i) const {
    const std::uint32_t x = charges.place[i], y = charges.place[charges.room + i],
                        z = charges.place[2 * charges.room + i];
    Real lanes[sums][wave_lanes] = {};
    for (std::int64_t first = with_lanes(waves.count) - wave_lanes; first >= 0; first -= wave_lanes)
#pragma omp simd simdlen(wave_lanes)
      for (int lane = 0; lane < wave_lanes; ++lane) {
        Real sum[sums] = {};
        add(first + lane, waves.phase(first + lane, x, y, z), sum);
        for (int s = 0; s < sums; ++s) lanes[s][lane] += sum[s];
      }
    Real sum[sums];
    for (int s = 0; s < sums; ++s) {
      for (int half = wave_lanes / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) lanes[s][lane] += lanes[s][lane + half];
      sum[s] = lanes[s][0];
    }
    finish(i, sum);
  }
};

#ifdef __CUDACC__
constexpr int waves_of_block = 4, threads_of_waves = 256, threads_of_forces = 128;

/// A block for four waves.
__global__ void sum_waves_kernel(const Waves waves, const Charges charges, std::int64_t begin,
                                 std::int64_t end, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const std::int64_t first = begin + std::int64_t(blockIdx.x) * waves_of_block;
  double sum[2 * waves_of_block] = {};
  std::uint32_t n[waves_of_block][3];
  bool any = false;
  for (int w = 0; w < waves_of_block; ++w) {
    const std::int64_t wave = first + w < end ? first + w : end - 1;
    any = any || waves.weight(wave) != Real(0);
    for (int axis = 0; axis < 3; ++axis) n[w][axis] = waves.n[axis * waves.room + wave];
  }
  for (std::int64_t i = threadIdx.x; any && i < charges.count; i += threads_of_waves) {
    const std::uint32_t x = charges.place[i], y = charges.place[charges.room + i],
                        z = charges.place[2 * charges.room + i];
    const Real q = charges.charge[i];
    for (int w = 0; w < waves_of_block; ++w) {
      const PointOnCircle at = unit_circle(n[w][0] * x + n[w][1] * y + n[w][2] * z);
      sum[2 * w] += double(q * at.cosine);
      sum[2 * w + 1] += double(q * at.sine);
    }
  }
  __shared__ double of_warp[threads_of_waves / 32][2 * waves_of_block];
  for (int s = 0; s < 2 * waves_of_block; ++s) {
    for (int away = 16; away > 0; away /= 2)
      sum[s] += __shfl_down_sync(0xffffffffu, sum[s], unsigned(away));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][s] = sum[s];
  }
  __syncthreads();
  const auto w = std::int64_t(threadIdx.x);
  if (w >= waves_of_block || first + w >= end) return;
  double re = 0, im = 0;
  for (int warp = 0; warp < threads_of_waves / 32; ++warp)
    re += of_warp[warp][2 * w], im += of_warp[warp][2 * w + 1];
  const auto weight = double(waves.weight(first + w));
  waves.factor[first + w] = {Real(weight * re), Real(weight * im)};
}

/// A warp for each particle, whose lanes share the waves.
template <bool Energy>
__global__ void wave_forces_kernel(const WaveForces<Energy> forces, std::int64_t begin,
                                   std::int64_t end, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const std::int64_t i =
      begin + std::int64_t(blockIdx.x) * (threads_of_forces / 32) + threadIdx.x / 32;
  if (i >= end) return;
  constexpr int sums = WaveForces<Energy>::sums;
  const Charges& charges = forces.charges;
  const std::uint32_t x = charges.place[i], y = charges.place[charges.room + i],
                      z = charges.place[2 * charges.room + i];
  Real sum[sums] = {};
  for (std::int64_t first = (forces.waves.count + 31) / 32 * 32 - 32; first >= 0; first -= 32) {
    const std::int64_t wave = first + threadIdx.x % 32;
    const bool on = wave < forces.waves.count && forces.waves.weight(wave) != Real(0);
    if (!__any_sync(0xffffffffu, on)) continue;
    if (on) forces.add(wave, forces.waves.phase(wave, x, y, z), sum);
  }
  for (int s = 0; s < sums; ++s)
    for (int away = 16; away > 0; away /= 2)
      sum[s] += __shfl_down_sync(0xffffffffu, sum[s], unsigned(away));
  if (threadIdx.x % 32 == 0) forces.finish(i, sum);
}
#endif

}  // namespace perrin::waves
