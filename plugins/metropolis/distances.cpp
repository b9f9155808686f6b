#include "distances.h"

#include <algorithm>

#include "engine/device/parallel.h"
#include "pair_energy.h"

namespace perrin::metropolis {

// Not in an unnamed namespace: nvcc wants names for what instantiates a kernel.

/// Into which entry of the histogram a pair of sites goes.
struct DistanceBins {
  std::uint32_t types, bins;
  Scale<float> scale;
  float range2, per_width;

  template <class Count>
  PERRIN_HD void add(const Position& p, const Position& q, const Count& count) const {
    const float r2 = distance2<float>(p.x, p.y, p.z, q.x, q.y, q.z, scale);
    if (r2 >= range2) return;
    const std::uint32_t low = p.type() < q.type() ? p.type() : q.type();
    const std::uint32_t high = p.type() < q.type() ? q.type() : p.type();
    const std::uint32_t pair = low * types - low * (low + 1) / 2 + high;
    const std::uint32_t bin = std::uint32_t(std::sqrt(r2) * per_width);
    count(pair * bins + (bin < bins ? bin : bins - 1));
  }
};

/// What a process counts: all of the replicas in its care, or, where each process has the whole of
/// a single one, every n-th of its molecules or sites: the first have more to be paired with.
struct EveryNth {
  std::int64_t first = 0, n = 1;
  explicit EveryNth(const System& system) {
    if (system.is_distributed()) return;
    first = WorkDistribution::own_part(), n = WorkDistribution::parts();
  }
  std::int64_t of(std::int64_t all) const { return (all - first + n - 1) / n; }
  bool has(std::size_t item) const { return std::int64_t(item) % n == first; }
  PERRIN_HD std::int64_t operator[](std::int64_t k) const { return first + k * n; }
};

/// All pairs: a molecule with those after it, shared by the threads of a block.
struct AllDistances {
  static constexpr bool shared = true;
  SystemView view;
  DistanceBins bins;
  EveryNth mine;

  std::int64_t items() const { return mine.of(std::int64_t(view.molecules) * view.replicas); }
  template <class Count>
  PERRIN_HD void of(std::int64_t k, std::uint32_t first, std::uint32_t stride,
                    const Count& count) const {
    const std::int64_t item = mine[k];
    const Position* site = view.site + item / view.molecules * view.sites;
    const std::uint32_t m = std::uint32_t(item % view.molecules), end = view.first_site[m + 1];
    for (std::uint32_t a = view.first_site[m]; a < end; ++a) {
      const Position p = site[a];
      for (std::uint32_t b = end + first; b < view.sites; b += stride) bins.add(p, site[b], count);
    }
  }
};

/// Equal cells along each axis, wide enough that sites within the range are at most `reach` cells
/// apart. No cell is met twice: an axis has one cell and no reach, or more than 2 reach.
struct DistanceCells {
  Vec3<std::uint32_t> n{1, 1, 1}, reach{0, 0, 0};

  PERRIN_HD std::uint32_t cells() const { return n.x * n.y * n.z; }
  PERRIN_HD static std::uint32_t along(std::uint32_t x, std::uint32_t n) {
    return std::uint32_t(std::uint64_t(x) * n >> 32);
  }
  PERRIN_HD Vec3<std::uint32_t> cell(const Position& p) const {
    return {along(p.x, n.x), along(p.y, n.y), along(p.z, n.z)};
  }
  PERRIN_HD std::uint32_t index(const Vec3<std::uint32_t>& c) const {
    return (c.z * n.y + c.y) * n.x + c.x;
  }
  /// Neighbour k = 0 … 2 reach of cell c along an axis.
  PERRIN_HD static std::uint32_t neighbor(std::uint32_t c, std::uint32_t k, std::uint32_t n,
                                          std::uint32_t reach) {
    const std::uint32_t at = c + n - reach + k;
    return at < n ? at : at < 2 * n ? at - n : at - 2 * n;
  }
};

/// A site, and the molecule that it is of.
struct CellSite {
  Position at;
  std::uint32_t molecule;
};

/// The pairs of one site with those after it in the order of the cells.
struct CellDistances {
  static constexpr bool shared = false;
  DistanceCells cells;
  DistanceBins bins;
  std::uint32_t sites, replicas;  // sites of a replica
  const CellSite* site;           // by (replica, cell)
  const std::uint32_t* start;     // [replica][cells + 1], of the replica's first site
  EveryNth mine;

  std::int64_t items() const { return mine.of(std::int64_t(sites) * replicas); }
  template <class Count>
  PERRIN_HD void of(std::int64_t k, std::uint32_t, std::uint32_t, const Count& count) const {
    const std::int64_t item = mine[k];
    const std::uint32_t replica = std::uint32_t(item / sites);
    const std::uint32_t i = std::uint32_t(item % sites);
    const CellSite* all = site + std::int64_t(replica) * sites;
    const std::uint32_t* first = start + std::int64_t(replica) * (cells.cells() + 1);
    const CellSite own = all[i];
    const Vec3<std::uint32_t> c = cells.cell(own.at);
    const std::uint32_t own_cell = cells.index(c);
    for (std::uint32_t kz = 0; kz <= 2 * cells.reach.z; ++kz)
      for (std::uint32_t ky = 0; ky <= 2 * cells.reach.y; ++ky)
        for (std::uint32_t kx = 0; kx <= 2 * cells.reach.x; ++kx) {
          const std::uint32_t other =
              cells.index({DistanceCells::neighbor(c.x, kx, cells.n.x, cells.reach.x),
                           DistanceCells::neighbor(c.y, ky, cells.n.y, cells.reach.y),
                           DistanceCells::neighbor(c.z, kz, cells.n.z, cells.reach.z)});
          if (other < own_cell) continue;
          const std::uint32_t end = first[other + 1];
          for (std::uint32_t j = other == own_cell ? i + 1 : first[other]; j < end; ++j)
            if (all[j].molecule != own.molecule) bins.add(own.at, all[j].at, count);
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

/// Integers may be added in any order.
template <class D>
__global__ void count_distances_kernel(const D d, std::int64_t items, std::uint32_t all_bins,
                                       unsigned long long* histogram, bool use_shared) {
  extern __shared__ unsigned counts[];
  if (use_shared)
    for (std::uint32_t k = threadIdx.x; k < all_bins; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  const CountInto count{histogram, use_shared ? counts : nullptr};
  if constexpr (D::shared) {
    for (std::int64_t i = blockIdx.x; i < items; i += gridDim.x)
      d.of(i, threadIdx.x, blockDim.x, count);
  } else {
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < items;
         i += std::int64_t(gridDim.x) * blockDim.x)
      d.of(i, 0, 1, count);
  }
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

template <class D>
std::vector<std::int64_t> count(const Device& device, const D& d) {
  std::vector<std::int64_t> histogram(std::size_t(d.bins.types) * (d.bins.types + 1) / 2 *
                                      d.bins.bins);
#ifdef __CUDACC__
  if (device.is_cuda()) {
    Buffer<unsigned long long> counts(device, std::int64_t(histogram.size()));
    const bool use_shared = histogram.size() <= 10000;
    launch(device, "distances", dim3(unsigned(4 * device.multiprocessors())), dim3(256),
           use_shared ? histogram.size() * sizeof(unsigned) : 0, count_distances_kernel<D>, d,
           d.items(), std::uint32_t(histogram.size()), counts.data(), use_shared);
    const auto host = counts.to_host();
    std::copy(host.begin(), host.end(), histogram.begin());
    return histogram;
  }
#endif
  std::vector<std::vector<std::int64_t>> own(std::size_t(device.threads()), histogram);
  constexpr std::int64_t portion = 16;
  for_tasks(device, (d.items() + portion - 1) / portion, [&](std::int64_t p, int thread) {
    const CountHere here{own[std::size_t(thread)].data()};
    const std::int64_t end = std::min<std::int64_t>((p + 1) * portion, d.items());
    for (std::int64_t i = p * portion; i < end; ++i) d.of(i, 0, 1, here);
  });
  for (const auto& counts : own)
    for (std::size_t k = 0; k < counts.size(); ++k) histogram[k] += counts[k];
  return histogram;
}

DistanceCells make_cells(const System& system, double range) {
  // Half of the range wide, or wider where that would leave most of them empty.
  constexpr std::uint32_t reach = 2;
  const double most = std::ceil(std::cbrt(double(system.sites())));
  DistanceCells cells;
  for (int axis = 0; axis < 3; ++axis) {
    const double n = std::min(std::floor(reach * system.box()[axis] / range * (1 - 1e-6)), most);
    if (n > 2 * reach) cells.n[axis] = std::uint32_t(n), cells.reach[axis] = reach;
  }
  return cells;
}

/// Sorted on the host: a small part of the work.
std::vector<std::int64_t> count_by_cells(const System& system, const DistanceCells& cells,
                                         const DistanceBins& bins) {
  const Model& model = system.model();
  std::vector<std::uint32_t> molecule;
  for (std::uint32_t m = 0; m < model.molecule.size(); ++m)
    molecule.insert(molecule.end(), model.templates[model.molecule[m]].sites.size(), m);
  const std::size_t sites = molecule.size(), replicas = std::size_t(system.own().size());
  const std::size_t starts = cells.cells() + 1;
  std::vector<CellSite> sorted(sites * replicas);
  std::vector<std::uint32_t> start(starts * replicas), next;
  for (std::size_t r = 0; r < replicas; ++r) {
    const auto position = system.site_positions(system.own().begin + std::int64_t(r));
    const auto cell = [&](std::size_t i) { return cells.index(cells.cell(position[i])); };
    std::uint32_t* first = start.data() + r * starts;
    for (std::size_t i = 0; i < sites; ++i) ++first[cell(i) + 1];
    for (std::size_t c = 1; c < starts; ++c) first[c] += first[c - 1];
    next.assign(first, first + starts);
    for (std::size_t i = 0; i < sites; ++i)
      sorted[r * sites + next[cell(i)]++] = {position[i], molecule[i]};
  }
  const Buffer<CellSite> site(system.device(), std::span<const CellSite>(sorted));
  const Buffer<std::uint32_t> first(system.device(), std::span<const std::uint32_t>(start));
  return count(system.device(),
               CellDistances{cells, bins, std::uint32_t(sites), std::uint32_t(replicas),
                             site.data(), first.data(), EveryNth(system)});
}

}  // namespace

std::vector<std::int64_t> count_distances(System& system, double width, int bins) {
  const SystemView view = system.view();
  const double range = width * bins;
  const DistanceBins entries{view.types, std::uint32_t(bins), Scale<float>::of(system.box()),
                             float(range * range), float(1 / width)};
  const DistanceCells cells = make_cells(system, range);
  if (cells.cells() > 1) return count_by_cells(system, cells, entries);
  return count(system.device(), AllDistances{view, entries, EveryNth(system)});
}

void add_own_distances(const System& system, double width, int bins,
                       std::vector<std::int64_t>& counts) {
  const Model& model = system.model();
  const double range = width * bins;
  const DistanceBins entries{std::uint32_t(model.types.size()), std::uint32_t(bins),
                             Scale<float>::of(system.box()), float(range * range),
                             float(1 / width)};
  const CountHere count{counts.data()};
  const Share own = system.own();
  const EveryNth mine(system);
  for (std::int64_t r = own.begin; r < own.end; ++r) {
    const std::vector<Position> site = system.site_positions(r);
    std::size_t first = 0;
    for (std::size_t m = 0; m < model.molecule.size(); ++m) {
      const std::size_t end = first + model.templates[model.molecule[m]].sites.size();
      for (std::size_t a = first; a < end && mine.has(m); ++a)
        for (std::size_t b = a + 1; b < end; ++b) entries.add(site[a], site[b], count);
      first = end;
    }
  }
}

}  // namespace perrin::metropolis
