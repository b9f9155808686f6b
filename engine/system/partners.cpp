#include "engine/system/partners.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "engine/system/nearest_vector.h"

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

Partners::Partners(const Device& device, std::size_t particles, const Topology& topology) {
  std::vector<std::int64_t> begin(particles + 1, 0);
  for_each_pair(topology, [&](std::uint32_t a, std::uint32_t) { ++begin[a + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> partner(std::size_t(begin.back()));
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for_each_pair(topology,
                [&](std::uint32_t a, std::uint32_t b) { partner[std::size_t(next[a]++)] = b; });
  begin_ = {device, std::span<const std::int64_t>(begin)};
  partner_ = {device, std::span<const std::uint32_t>(partner)};
}

double longest_to_partner(const Topology& topology, const std::vector<Position>& position,
                          const std::vector<std::uint32_t>& index, const Metric& metric) {
  // Along axes without images, which are padded where there are lists, the whole way.
  Box axes;
  for (std::size_t k = 0; k < 3; ++k) axes.periodic[k] = metric.lower[k] == 0;
  const BondVector vector(axes);
  double longest2 = 0;
  for_each_pair(topology, [&](std::uint32_t a, std::uint32_t b) {
    const Real3 r = vector(metric, position[index[a]], position[index[b]]);
    longest2 = std::max(longest2, double(dot(r, r)));
  });
  return std::sqrt(longest2);
}

}  // namespace perrin
