// Spreading charges on the mesh and gathering from it, on a GPU: eight threads for each charge, a
// point along z each, so that what they read and add lies side by side in memory. The order of the
// splines is a constant of the compiler, and weights stay in registers. For files compiled as CUDA.
#pragma once

#include "forces/charges/mesh_kernels.h"
#include "forces/particle_loop.h"

#ifdef __CUDACC__

namespace perrin::mesh {

constexpr int lanes = 8;  // threads for each charge
static_assert(MeshTerms::most_order <= lanes);

/// The weights of the points around a particle along one axis, by the recursion of U. Essmann et
/// al., J. Chem. Phys. 103, 8577 (1995), eq. 4.1.
template <int most>
struct Weights {
  Real w[most];
  std::int32_t first;

  PERRIN_HD Weights(std::uint32_t fraction, std::int64_t points, int order) {
    const std::uint64_t at = std::uint64_t(fraction) * std::uint64_t(points);
    first = std::int32_t(at >> 32);
    const Real f = Real(std::uint32_t(at)) * Real(1.0 / 4294967296.0);
    w[0] = Real(1) - f, w[1] = f;
    for (int p = 3; p <= order; ++p) {
      const Real part = Real(1) / Real(p - 1);
      w[p - 1] = part * f * w[p - 2];
      for (int j = p - 2; j > 0; --j)
        w[j] = part * ((f + Real(p - 1 - j)) * w[j - 1] + (Real(1 + j) - f) * w[j]);
      w[0] = part * (Real(1) - f) * w[0];
    }
  }
};

/// Calls visit(point, weight) for the points of one lane. The weights are those of around().
template <int order, class Visit>
__device__ __forceinline__ void around_by_lane(const Points& points, const Position& p,
                                               std::uint64_t ratio, int lane, const Visit& visit) {
  if (lane >= order) return;
  const Weights<order> wx(p.x, points.nx, order), wy(p.y, points.ny, order),
      wz(fraction_along_z(p, ratio), points.nz, order);
  Real w_of_lane = 0;
#pragma unroll
  for (int k = 0; k < order; ++k)
    if (k == lane) w_of_lane = wz.w[k];
  const auto ny = std::int32_t(points.ny), nz = std::int32_t(points.nz);
  std::int32_t z = wz.first + lane;
  z = z < nz ? z : z - nz;
#pragma unroll
  for (int i = 0; i < order; ++i) {
    std::int32_t x = wx.first + i;
    x = x < std::int32_t(points.nx) ? x : x - std::int32_t(points.nx);
#pragma unroll
    for (int j = 0; j < order; ++j) {
      std::int32_t y = wy.first + j;
      y = y < ny ? y : y - ny;
      visit(std::int64_t((x * ny + y) * nz + z), wx.w[i] * wy.w[j] * w_of_lane);
    }
  }
}

template <int order>
struct SpreadByLanes {
  Spread all;

  PERRIN_HD void operator()([[maybe_unused]] std::int64_t thread) const {
#ifdef __CUDA_ARCH__
    const std::int64_t i = thread / lanes;
    const Real q = all.charge(std::uint32_t(i));
    if (q == Real(0)) return;
    around_by_lane<order>(all.points, all.position[i], all.ratio, int(thread % lanes),
                          [&](std::int64_t m, Real w) { add(m, q * w); });
#endif
  }
#ifdef __CUDA_ARCH__
  __device__ void add(std::int64_t m, Real part) const {
    const auto units = std::int64_t(std::rint(double(part) * all.units));
    atomicAdd(reinterpret_cast<unsigned long long*>(all.fixed + m),
              static_cast<unsigned long long>(units));
  }
#endif
};

struct ToReal {
  const std::int64_t* fixed;
  double unit;
  Real* charges;
  PERRIN_HD void operator()(std::int64_t m) const { charges[m] = Real(double(fixed[m]) * unit); }
};

/// All that a particle takes of a point beside each other.
struct JoinFields {
  const Real* of;  // [component · points + point]
  std::int64_t points;
  bool four;
  Real4* fields;
  PERRIN_HD void operator()(std::int64_t m) const {
    fields[m] = {of[m], of[points + m], of[2 * points + m], four ? of[3 * points + m] : Real(0)};
  }
};

/// Body: GatherForces or GatherVirials. Sums of the lanes are added up in a fixed order.
template <int order, class Body>
struct GatherByLanes {
  Body body;
  const std::uint32_t* places;  // of the particles; nullptr: from `begin` on
  std::int64_t begin;

  PERRIN_HD void operator()([[maybe_unused]] std::int64_t thread) const {
#ifdef __CUDA_ARCH__
    const std::int64_t k = thread / lanes;
    const int lane = int(thread % lanes);
    if (places && places[k] == TrialMove::none) return;
    const std::int64_t i = places ? std::int64_t(places[k]) : begin + k;
    const Real q = body.charge(std::uint32_t(i));
    Real4 sum{};
    if (q != Real(0))
      around_by_lane<order>(body.points, body.position[i], body.ratio, lane,
                            [&](std::int64_t m, Real w) {
                              const Real4 field = body.fields[m];
                              sum.x += w * field.x, sum.y += w * field.y;
                              sum.z += w * field.z, sum.w += w * field.w;
                            });
    constexpr int numbers = sizeof(sum) / sizeof(Real);
    Real* const number = reinterpret_cast<Real*>(&sum);
    const unsigned group = 0xffu << (threadIdx.x & 24u);
#pragma unroll
    for (int c = 0; c < numbers; ++c)
#pragma unroll
      for (int other = lanes / 2; other > 0; other /= 2)
        number[c] += __shfl_down_sync(group, number[c], unsigned(other), lanes);
    if (lane == 0) body.give(i, q, sum);
#endif
  }
};

inline void spread_by_lanes(const Device& device, std::int64_t n, const Spread& body) {
  with_order(body.points.order, [&](auto order) {
    for_each(device, "spread charges", lanes * n, SpreadByLanes<order()>{body});
  });
}

/// As for_each_particle().
template <class Body>
void gather_by_lanes(const char* name, StepContext& s, const ForceOutput& output,
                     const Body& body) {
  const Share share = s.particles().share();
  const std::int64_t n = output.places ? output.count : share.size();
  with_order(body.points.order, [&](auto order) {
    for_each(s.device(), name, lanes * n,
             GatherByLanes<order(), Body>{body, output.places, share.begin});
  });
}

}  // namespace perrin::mesh

#endif
