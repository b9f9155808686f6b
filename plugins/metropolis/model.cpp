#include "model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "forces/potentials/wca.h"

namespace perrin::metropolis {

std::int64_t Model::sites() const {
  std::int64_t n = 0;
  for (const std::uint32_t t : molecule) n += std::int64_t(templates[t].sites.size());
  return n;
}

std::uint32_t Model::largest_molecule() const {
  std::size_t largest = 0;
  for (const MoleculeTemplate& t : templates) largest = std::max(largest, t.sites.size());
  return std::uint32_t(largest);
}

bool Model::atoms_only() const {
  return std::all_of(templates.begin(), templates.end(), [](const MoleculeTemplate& t) {
    return t.sites.size() == 1 && t.sites[0].at == Vec3<double>{};
  });
}

double Model::longest_cutoff() const {
  double longest = 0;
  for (const PairParameters& p : pairs) {
    double cutoff = p.cutoff;
    if (p.kind == PairKind::wca) {
      const double end = Wca::default_cutoff({p.b, p.a});
      cutoff = cutoff > 0 ? std::min(cutoff, end) : end;
    }
    longest = std::max(longest, cutoff);
  }
  return longest;
}

double Model::radius() const {
  double square = 0;
  for (const MoleculeTemplate& t : templates)
    for (const auto& site : t.sites) square = std::max(square, dot(site.at, site.at));
  return std::sqrt(square);
}

std::string Model::too_small(const Vec3<double>& edges) const {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (edges[k] < edges[axis]) axis = k;
  const double cutoff = longest_cutoff(), half = edges[axis] / 2;
  if (cutoff > half)
    return fmt::format("edge {} = {:.6g} is less than twice the cut-off ({:.6g})", "xyz"[axis],
                       edges[axis], cutoff);
  if (radius() >= half)
    return fmt::format(
        "half of edge {} = {:.6g} does not exceed the distance of a site from its "
        "molecule's centre ({:.6g})",
        "xyz"[axis], edges[axis], radius());
  return {};
}

}  // namespace perrin::metropolis
