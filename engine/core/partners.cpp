#include "engine/core/partners.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace perrin {
namespace {

/// f(a, b) of all pairs, both ways round.
template <class F>
void for_each_pair(const Topology& topology, const F& f) {
  const auto among = [&](std::span<const std::uint32_t> members) {
    for (const std::uint32_t a : members)
      for (const std::uint32_t b : members)
        if (a != b) f(a, b);
  };
  for (const auto& m : topology.bonds) among(std::array{m.a, m.b});
  for (const auto& m : topology.angles) among(std::array{m.a, m.b, m.c});
  for (const auto* list : {&topology.dihedrals, &topology.impropers})
    for (const auto& m : *list) among(std::array{m.a, m.b, m.c, m.d});
}

}  // namespace

Partners::Partners(std::size_t particles, const Topology& topology) : begin_(particles + 1, 0) {
  for_each_pair(topology, [&](std::uint32_t a, std::uint32_t) { ++begin_[a + 1]; });
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  partner_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for_each_pair(topology, [&](std::uint32_t a, std::uint32_t b) { partner_[next[a]++] = b; });
}

double Partners::longest(const Position* position, const std::uint32_t* index,
                         const Metric& metric) const {
  double longest2 = 0;
  for (std::uint32_t id = 0; id + 1 < begin_.size(); ++id)
    for (const std::uint32_t partner : of(id)) {
      const Real3 r = metric.vector(position[index[id]], position[index[partner]]);
      longest2 = std::max(longest2, double(dot(r, r)));
    }
  return std::sqrt(longest2);
}

}  // namespace perrin
