#include "neighbor/groups/group_walk.h"

#include <algorithm>

#include "engine/device/parallel.h"
#include "neighbor/inline.h"

namespace perrin {

/// Whoever particle `me` must not meet has its mark.
struct MarkExcluded {
  GroupWalk& walk;
  PERRIN_INLINE void operator()(std::int64_t i) const {
    const auto me = std::uint32_t(i);
    const std::uint32_t id = walk.id_[me];
    const ExclusionView& exclusions = walk.exclusions_;
    GroupWalk::Candidates& c = walk.candidates;
    for (std::uint32_t e = exclusions.begin[id]; e < exclusions.begin[id + 1]; ++e) {
      const std::uint32_t j = walk.index_[exclusions.excluded[e]];
      for (int k = 0; k < c.n; ++k) c.who[k] = c.index[k] == j ? me : c.who[k];
    }
  }
};

bool GroupWalk::exclude(std::uint32_t i) {
  const std::uint32_t id = id_[i];
  if (exclusions_.begin[id] == exclusions_.begin[id + 1]) return false;
  run_range(MarkExcluded{*this}, i, std::int64_t(i) + 1);
  return true;
}

void GroupWalk::include_all() { std::copy_n(candidates.index, candidates.n, candidates.who); }

}  // namespace perrin
