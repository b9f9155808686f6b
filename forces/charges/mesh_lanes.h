// Spreading charges on the mesh and gathering from it, on a GPU: eight threads for each charge, a
// point along z each, so that what they read and add lies side by side in memory. The order of the
// splines is a constant of the compiler, and weights stay in registers. For files compiled as CUDA.
#pragma once

#include <type_traits>

#include "engine/base/error.h"
#include "forces/charges/mesh_kernels.h"
#include "forces/particle_loop.h"

#ifdef __CUDACC__

namespace perrin::mesh {

constexpr int lanes = 8;  // threads for each charge
static_assert(MeshTerms::most_order <= lanes);

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
                          [&](std::int64_t m, Real w) { all.add(m, q * w); });
#endif
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
    typename Body::Sum sum{};
    if (q != Real(0))
      around_by_lane<order>(body.points, body.position[i], body.ratio, lane,
                            [&](std::int64_t m, Real w) { body.take(m, w, sum); });
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

/// f with the order as a constant.
template <class F>
void with_order(int order, const F& f) {
  switch (order) {
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    case 6:
      return f(std::integral_constant<int, 6>());
    case 7:
      return f(std::integral_constant<int, 7>());
    case 8:
      return f(std::integral_constant<int, 8>());
    default:
      throw BugError("a mesh has splines of order 3 to 8");
  }
}

inline void spread_by_lanes(const Device& device, std::int64_t n, const Spread& body) {
  with_order(body.points.order, [&](auto order) {
    for_each(device, "spread charges", lanes * n, SpreadByLanes<order()>{body});
  });
}

/// As for_each_particle().
template <class Body>
void gather_by_lanes(const char* name, StepContext& s, const ForceOutput& output,
                     const Body& body) {
  const Share share = s.particles.share();
  const std::int64_t n = output.places ? output.count : share.size();
  with_order(body.points.order, [&](auto order) {
    for_each(s.device(), name, lanes * n,
             GatherByLanes<order(), Body>{body, output.places, share.begin});
  });
}

}  // namespace perrin::mesh

#endif
