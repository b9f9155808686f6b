#include "plugins/metropolis/model.h"

#include <algorithm>

namespace perrin::metropolis {

std::int64_t Model::sites() const {
  std::int64_t n = 0;
  for (const std::uint32_t t : molecule) n += std::int64_t(templates[t].sites.size());
  return n;
}

bool Model::atoms_only() const {
  return std::all_of(templates.begin(), templates.end(), [](const MoleculeTemplate& t) {
    return t.sites.size() == 1 && t.sites[0].at == Vec3<double>{};
  });
}

}  // namespace perrin::metropolis
