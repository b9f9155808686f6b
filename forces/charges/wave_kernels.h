// The kernels of sums over wave vectors, for any sources of waves: charges (ewald_sum.h), dipoles
// (dipole_sum.h). For files compiled as CUDA.
//
// Sources have fractions of the repeated cell in place[axis · room + particle], zeros behind the
// last `count`, and strength(i, k), what particle i adds to S(k). Forces have `sums` numbers which
// add(wave, phase, sum) adds up over all waves for a particle, and finish(i, sum).
//
// Each S(k) is the sum of one process over all particles in the order of memory, and each force the
// sum over all k in the order of the list: bits depend neither on threads nor on processes.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "forces/charges/unit_circle.h"
#include "forces/charges/wave_set.h"

namespace perrin::waves {

/// Where the particles of sources are. Along z of a slab fractions are those of the longer cell.
struct Places {
  std::int64_t room, count;
  std::uint32_t* place;  // [axis · room + particle]
  std::uint64_t ratio;   // of edges along z, in units of 2⁻³¹; 0: 1

  PERRIN_HD void put(std::int64_t i, const Position& p) const {
    place[i] = p.x, place[room + i] = p.y, place[2 * room + i] = along_z(p, ratio);
  }
  PERRIN_HD static std::uint32_t along_z(const Position& p, std::uint64_t ratio) {
    return ratio == 0 ? p.z : std::uint32_t((std::uint64_t(p.z) * ratio) >> 31);
  }
};

/// S(k) of one wave, on the CPU.
template <class Sources>
struct SumWave {
  Waves waves;
  Sources sources;

  void operator()(std::int64_t wave) const {
    const Real weight = waves.weight(wave);
    if (weight == Real(0)) {
      waves.factor[wave] = {0, 0};
      return;
    }
    const std::uint32_t nx = waves.n[wave], ny = waves.n[waves.room + wave],
                        nz = waves.n[2 * waves.room + wave];
    const Real3 k = waves.vector(wave);
    const Places& at_all = sources.places;
    const std::uint32_t* x = at_all.place;
    const std::uint32_t *y = x + at_all.room, *z = y + at_all.room;
    constexpr std::int64_t portion = 64 * lanes;  // short sums in single precision
    double re = 0, im = 0;
    for (std::int64_t begin = 0; begin < at_all.count; begin += portion) {
      const std::int64_t end = begin + portion < at_all.room ? begin + portion : at_all.room;
      Real c[lanes] = {}, s[lanes] = {};
      for (std::int64_t first = begin; first < end; first += lanes)
#pragma omp simd simdlen(lanes)
        for (int lane = 0; lane < lanes; ++lane) {
          const std::int64_t i = first + lane;
          const PointOnCircle at = unit_circle(nx * x[i] + ny * y[i] + nz * z[i]);
          const Real strength = sources.strength(i, k);
          c[lane] += strength * at.cosine;
          s[lane] += strength * at.sine;
        }
      for (int lane = 0; lane < lanes; ++lane) re += double(c[lane]), im += double(s[lane]);
    }
    waves.factor[wave] = {Real(double(weight) * re), Real(double(weight) * im)};
  }
};

/// All waves on one particle, on the CPU. Short waves, whose terms are small, come first.
template <class Forces>
struct ForcesOfWaves {
  Forces forces;

  void operator()(std::int64_t i) const {
    constexpr int sums = Forces::sums;
    const Places& places = forces.sources.places;
    const std::uint32_t x = places.place[i], y = places.place[places.room + i],
                        z = places.place[2 * places.room + i];
    Real of_lane[sums][lanes] = {};
    for (std::int64_t first = with_lanes(forces.waves.count) - lanes; first >= 0; first -= lanes)
#pragma omp simd simdlen(lanes)
      for (int lane = 0; lane < lanes; ++lane) {
        Real sum[sums] = {};
        forces.add(first + lane, forces.waves.phase(first + lane, x, y, z), sum);
        for (int s = 0; s < sums; ++s) of_lane[s][lane] += sum[s];
      }
    Real sum[sums];
    for (int s = 0; s < sums; ++s) {
      for (int half = lanes / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) of_lane[s][lane] += of_lane[s][lane + half];
      sum[s] = of_lane[s][0];
    }
    forces.finish(i, sum);
  }
};

#ifdef __CUDACC__
constexpr int waves_of_block = 4, threads_of_waves = 256, threads_of_forces = 128;

/// A block for four waves.
template <class Sources>
__global__ void sum_waves_kernel(const Waves waves, const Sources sources, std::int64_t begin,
                                 std::int64_t end, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const std::int64_t first = begin + std::int64_t(blockIdx.x) * waves_of_block;
  double sum[2 * waves_of_block] = {};
  std::uint32_t n[waves_of_block][3];
  Real3 k[waves_of_block];
  bool any = false;
  for (int w = 0; w < waves_of_block; ++w) {
    const std::int64_t wave = first + w < end ? first + w : end - 1;
    any = any || waves.weight(wave) != Real(0);
    for (int axis = 0; axis < 3; ++axis) n[w][axis] = waves.n[axis * waves.room + wave];
    k[w] = waves.vector(wave);
  }
  const Places& places = sources.places;
  for (std::int64_t i = threadIdx.x; any && i < places.count; i += threads_of_waves) {
    const std::uint32_t x = places.place[i], y = places.place[places.room + i],
                        z = places.place[2 * places.room + i];
    for (int w = 0; w < waves_of_block; ++w) {
      const PointOnCircle at = unit_circle(n[w][0] * x + n[w][1] * y + n[w][2] * z);
      const Real strength = sources.strength(i, k[w]);
      sum[2 * w] += double(strength * at.cosine);
      sum[2 * w + 1] += double(strength * at.sine);
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
template <class Forces>
__global__ void wave_forces_kernel(const Forces forces, std::int64_t begin, std::int64_t end,
                                   const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const std::int64_t i =
      begin + std::int64_t(blockIdx.x) * (threads_of_forces / 32) + threadIdx.x / 32;
  if (i >= end) return;
  constexpr int sums = Forces::sums;
  const Places& places = forces.sources.places;
  const std::uint32_t x = places.place[i], y = places.place[places.room + i],
                      z = places.place[2 * places.room + i];
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

/// S(k) of all waves, in all processes. Device work.
template <class Sources>
void sum_waves(const Device& device, const Waves& waves, const Sources& sources) {
  if (device.halt().skipping()) return;
  Decomposition& decomposition = decomposition_of(device);
  const Share mine = decomposition.share(waves.count);
#ifdef __CUDACC__
  if (device.is_cuda()) {
    if (mine.size() > 0)
      launch_early(device, "structure factors",
                   dim3(unsigned((mine.size() + waves_of_block - 1) / waves_of_block)),
                   dim3(threads_of_waves), 0, sum_waves_kernel<Sources>, waves, sources, mine.begin,
                   mine.end, static_cast<const std::uint32_t*>(device.halt().word()));
    return decomposition.all_gather(waves.factor, sizeof(Factor), waves.count);
  }
#endif
  for_pieces(device, mine.size(), 16, [&](std::int64_t begin, std::int64_t end) {
    run_range(SumWave<Sources>{waves, sources}, mine.begin + begin, mine.begin + end);
  });
  decomposition.all_gather(waves.factor, sizeof(Factor), waves.count);
  // Forces are summed in whole vectors.
  for (std::int64_t k = waves.count; k < with_lanes(waves.count); ++k) waves.factor[k] = {0, 0};
}

/// The forces of all waves on the particles of this process. Device work.
template <class Forces>
void add_forces(StepContext& s, const Forces& forces) {
  const Device& device = s.device();
  if (device.halt().skipping()) return;
  const Share share = s.particles().share();
#ifdef __CUDACC__
  if (device.is_cuda()) {
    constexpr std::int64_t of_block = threads_of_forces / 32;
    if (share.size() > 0)
      launch_early(device, "forces of waves",
                   dim3(unsigned((share.size() + of_block - 1) / of_block)),
                   dim3(threads_of_forces), 0, wave_forces_kernel<Forces>, forces, share.begin,
                   share.end, static_cast<const std::uint32_t*>(device.halt().word()));
    return;
  }
#endif
  for_pieces(device, share.size(), 32, [&](std::int64_t begin, std::int64_t end) {
    run_range(ForcesOfWaves<Forces>{forces}, share.begin + begin, share.begin + end);
  });
}

}  // namespace perrin::waves
