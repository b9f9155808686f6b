#include "totals.h"

#include <algorithm>

#include "engine/device/parallel.h"
#include "pair_rows.h"

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
        const PairRow<T> row = rows[p.type() * view.types + q.type()];
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
  const Share own = system.own();
  std::vector<Totals> sums(std::size_t(system.replicas()));
  if (own.size() == 0) return system.gathered(sums);
  const Buffer<PairRow<T>> rows(device, std::span<const PairRow<T>>(make_rows<T>(system)));
  const std::int64_t entries = std::int64_t(view.molecules) * view.replicas;
  const std::int64_t of_all = std::int64_t(view.molecules) * system.replicas();
  const std::int64_t pieces =
      device.is_cuda() ? std::clamp<std::int64_t>((1 << 19) / of_all, 1, 32) : 1;
  Buffer<Totals> totals(device, entries * pieces);
  for_each(device, "energies of molecules", entries * pieces,
           MoleculeTotals<T>{view, rows.data(), Scale<T>::of(system.box()), pieces, totals.data()});
  const auto host = totals.to_host();
  for (std::size_t i = 0; i < host.size(); ++i) {
    Totals& sum =
        sums[std::size_t(own.begin) + i / (std::size_t(view.molecules) * std::size_t(pieces))];
    sum.energy += host[i].energy / 2;
    sum.virial += host[i].virial / 2;
    sum.cores += host[i].cores;
  }
  for (Totals& sum : sums) sum.cores /= 2;
  return system.gathered(sums);
}

}  // namespace

std::vector<Totals> compute_totals(System& system, bool single_precision) {
  return single_precision ? totals_of<float>(system) : totals_of<double>(system);
}

}  // namespace perrin::metropolis
