#include "neighbor/exclusions.h"

#include <algorithm>

#include "neighbor/excluded_pairs.h"

namespace perrin {

Exclusions::Exclusions(const Device& device, std::int64_t particles, const Topology& topology,
                       const std::vector<std::string>& kinds) {
  std::vector<std::vector<std::uint32_t>> partners(static_cast<std::size_t>(particles));
  bool any = false;
  for (const auto& kind : kinds)
    for (const auto& [a, b] : excluded_pairs(partners.size(), topology, kind)) {
      partners[a].push_back(b);
      partners[b].push_back(a);
      any = true;
    }
  if (!any) return;
  std::vector<std::uint32_t> begin{0}, all;
  for (auto& list : partners) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    all.insert(all.end(), list.begin(), list.end());
    begin.push_back(std::uint32_t(all.size()));
  }
  begin_ = {device, std::span<const std::uint32_t>(begin)};
  excluded_ = {device, std::span<const std::uint32_t>(all)};
}

}  // namespace perrin
