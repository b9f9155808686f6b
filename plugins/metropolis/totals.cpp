#include "plugins/metropolis/totals.h"

#include <omp.h>

#include <algorithm>

#include "engine/parallel.h"
#include "plugins/metropolis/pair_rows.h"

namespace perrin::metropolis {

// Not in an unnamed namespace: nvcc wants names for what instantiates a kernel.

/// One molecule with a share of all others; every pair is met twice.
template <class T>
struct MoleculeTotals {
  SystemView view;
  const PairRow<T>* rows;
  Scale<T> scale;
  std::int64_t pieces;
  Totals* totals;  // [replica · molecules + molecule][piece]

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::int64_t entry = i / pieces, piece = i % pieces;
    const std::int64_t replica = entry / view.molecules, m = entry % view.molecules;
    const Position* site = view.site + replica * view.sites;
    const Position* centre = view.centre + replica * view.molecules;
    Totals total;
    const std::int64_t end = view.molecules * (piece + 1) / pieces;
    for (std::int64_t j = view.molecules * piece / pieces; j < end; ++j)
      if (j != m) add(total, site, m, j, centre[m], centre[j]);
    totals[i] = total;
  }

  PERRIN_HD void add(Totals& total, const Position* site, std::int64_t m, std::int64_t j,
                     const Position& cm, const Position& cj) const {
    T energy = 0, virial = 0;
    for (std::uint32_t a = view.first_site[m]; a < view.first_site[m + 1]; ++a)
      for (std::uint32_t b = view.first_site[j]; b < view.first_site[j + 1]; ++b) {
        const Position& p = site[a];
        const Position& q = site[b];
        const PairRow<T> row = rows[p.type * view.types + q.type];
        const Vec3<T> d = separation<T>(p.x, p.y, p.z, q.x, q.y, q.z, scale);
        const T r2 = d.x * d.x + d.y * d.y + d.z * d.z;
        if (r2 < row.core2) {
          ++total.cores;
          continue;
        }
        if (r2 >= row.cutoff2) continue;
        const PairForce<T> f = AnyPair::uncut(r2, row);
        energy += f.energy;
        // From the separation of the sites to that of the centres, of the same image.
        const Vec3<T> arm_p = separation<T>(p.x, p.y, p.z, cm.x, cm.y, cm.z, scale);
        const Vec3<T> arm_q = separation<T>(q.x, q.y, q.z, cj.x, cj.y, cj.z, scale);
        virial += f.force_over_r * dot(d, d - arm_p + arm_q);
      }
    total.energy += double(energy);
    total.virial += double(virial);
  }
};

namespace {

template <class T>
std::vector<Totals> totals_of(System& system) {
  const Device& device = system.device();
  const SystemView view = system.view();
  const auto kT = system.temperatures();
  const Buffer<PairRow<T>> rows(
      device, std::span<const PairRow<T>>(
                  make_rows<T>(system.model(), *std::max_element(kT.begin(), kT.end()))));
  const std::int64_t entries = std::int64_t(view.molecules) * view.replicas;
  const std::int64_t pieces =
      device.is_cuda() ? std::clamp<std::int64_t>((1 << 19) / entries, 1, 32) : 1;
  Buffer<Totals> totals(device, entries * pieces);
  for_each(device, "energies of molecules", entries * pieces,
           MoleculeTotals<T>{view, rows.data(), Scale<T>::of(system.box()), pieces, totals.data()});
  const auto host = totals.to_host();
  std::vector<Totals> sums(view.replicas);
  for (std::size_t i = 0; i < host.size(); ++i) {
    Totals& sum = sums[i / (std::size_t(view.molecules) * std::size_t(pieces))];
    sum.energy += host[i].energy / 2;
    sum.virial += host[i].virial / 2;
    sum.cores += host[i].cores;
  }
  for (Totals& sum : sums) sum.cores /= 2;
  return sums;
}

}  // namespace

std::vector<Totals> compute_totals(System& system, bool single_precision) {
  return single_precision ? totals_of<float>(system) : totals_of<double>(system);
}

/// The pairs of one molecule with those after it.
struct Distances {
  SystemView view;
  Scale<float> scale;
  float range2, per_width;
  std::uint32_t bins;

  template <class Count>
  PERRIN_HD void of(std::int64_t replica, std::uint32_t m, std::uint32_t first,
                    std::uint32_t stride, const Count& count) const {
    const Position* site = view.site + replica * view.sites;
    const std::uint32_t end = view.first_site[m + 1];
    for (std::uint32_t a = view.first_site[m]; a < end; ++a) {
      const Position p = site[a];
      for (std::uint32_t b = end + first; b < view.sites; b += stride) {
        const Position q = site[b];
        const float r2 = distance2<float>(p.x, p.y, p.z, q.x, q.y, q.z, scale);
        if (r2 >= range2) continue;
        const std::uint32_t low = p.type < q.type ? p.type : q.type;
        const std::uint32_t high = p.type < q.type ? q.type : p.type;
        const std::uint32_t pair = low * view.types - low * (low + 1) / 2 + high;
        const std::uint32_t bin = std::uint32_t(std::sqrt(r2) * per_width);
        count(pair * bins + (bin < bins ? bin : bins - 1));
      }
    }
  }
};

#ifdef __CUDACC__
struct CountInto {
  unsigned long long* global;
  unsigned* shared;  // nullptr: too many bins
  __device__ void operator()(std::uint32_t bin) const {
    if (shared != nullptr)
      atomicAdd(shared + bin, 1u);
    else
      atomicAdd(global + bin, 1ull);
  }
};

/// A block takes molecules one by one; integers may be added in any order.
__global__ void count_distances_kernel(const Distances d, std::uint32_t all_bins,
                                       unsigned long long* histogram, bool use_shared) {
  extern __shared__ unsigned counts[];
  if (use_shared)
    for (std::uint32_t k = threadIdx.x; k < all_bins; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  const CountInto count{histogram, use_shared ? counts : nullptr};
  const std::int64_t n = std::int64_t(d.view.molecules) * d.view.replicas;
  for (std::int64_t i = blockIdx.x; i < n; i += gridDim.x)
    d.of(i / d.view.molecules, std::uint32_t(i % d.view.molecules), threadIdx.x, blockDim.x, count);
  __syncthreads();
  if (use_shared)
    for (std::uint32_t k = threadIdx.x; k < all_bins; k += blockDim.x)
      if (counts[k] != 0) atomicAdd(histogram + k, (unsigned long long)(counts[k]));
}
#endif

namespace {
struct CountHere {
  std::int64_t* histogram;
  PERRIN_HD void operator()(std::uint32_t bin) const { ++histogram[bin]; }
};
}  // namespace

void count_distances(System& system, double width, int bins, std::vector<std::int64_t>& histogram) {
  const SystemView view = system.view();
  const std::size_t all = std::size_t(view.types) * (view.types + 1) / 2 * std::size_t(bins);
  histogram.resize(all);
  const double range = width * bins;
  const Distances d{view, Scale<float>::of(system.box()), float(range * range), float(1 / width),
                    std::uint32_t(bins)};
#ifdef __CUDACC__
  if (system.device().is_cuda()) {
    Buffer<unsigned long long> counts(system.device(), std::int64_t(all));
    const bool use_shared = all <= 10000;
    launch(system.device(), "distances", dim3(unsigned(4 * system.device().multiprocessors())),
           dim3(256), use_shared ? all * sizeof(unsigned) : 0, count_distances_kernel, d,
           std::uint32_t(all), counts.data(), use_shared);
    const auto host = counts.to_host();
    for (std::size_t k = 0; k < all; ++k) histogram[k] += std::int64_t(host[k]);
    return;
  }
#endif
  const std::int64_t n = std::int64_t(view.molecules) * view.replicas;
#pragma omp parallel num_threads(system.device().threads())
  {
    std::vector<std::int64_t> own(all);
    const CountHere count{own.data()};
#pragma omp for schedule(dynamic, 16)
    for (std::int64_t i = 0; i < n; ++i)
      d.of(i / view.molecules, std::uint32_t(i % view.molecules), 0, 1, count);
#pragma omp critical
    for (std::size_t k = 0; k < all; ++k) histogram[k] += own[k];
  }
}

}  // namespace perrin::metropolis
