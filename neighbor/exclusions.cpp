#include "neighbor/exclusions.h"

#include <algorithm>

#include "neighbor/excluded_pairs.h"

namespace perrin {

Exclusions::Exclusions(const Device& device, std::int64_t particles, const Topology& topology,
                       const std::vector<std::string>& kinds, bool change)
    : kinds_(kinds),
      change_(change && !kinds.empty()),
      particles_(static_cast<std::size_t>(particles)),
      begin_(device, 0),
      excluded_(device, 0) {
  set(topology);
}

bool Exclusions::set(const Topology& topology) {
  std::vector<std::vector<std::uint32_t>> partners(particles_);
  bool any = change_;
  for (const auto& kind : kinds_)
    for (const auto& [a, b] : excluded_pairs(partners.size(), topology, kind)) {
      partners[a].push_back(b);
      partners[b].push_back(a);
      any = true;
    }
  if (!any) return false;
  std::vector<std::uint32_t> begin{0}, all;
  for (auto& list : partners) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    all.insert(all.end(), list.begin(), list.end());
    begin.push_back(std::uint32_t(all.size()));
  }
  const ExclusionView before = view();
  // With room, so that addresses last where pairs are added.
  const auto fill = [this](Buffer<std::uint32_t>& buffer,
                           const std::vector<std::uint32_t>& values) {
    const std::uint32_t* const at = buffer.data();
    buffer.resize(std::int64_t(values.size()));
    if (change_ && buffer.data() != at) buffer.resize(std::int64_t(values.size()) * 3 / 2);
    buffer.assign(values);
  };
  fill(begin_, begin);
  fill(excluded_, all);
  const ExclusionView now = view();
  return now.begin != before.begin || now.excluded != before.excluded;
}

}  // namespace perrin
