#include "io/parts/polymer.h"

#include <algorithm>
#include <numeric>

namespace perrin::parts {

double count(const io::Blocks& blocks) {
  double n = 0;
  for (const auto& [name, beads] : blocks) n += double(beads);
  return n;
}

std::uint32_t Polymer::add(const std::string& name, std::uint32_t to) {
  auto found = std::ranges::find(types, name);
  if (found == types.end()) found = types.insert(types.end(), name);
  type.push_back(std::uint32_t(found - types.begin()));
  parent.push_back(to);
  return std::uint32_t(type.size() - 1);
}

std::uint32_t Polymer::branch(const io::Blocks& blocks, std::uint32_t from) {
  std::vector<std::uint32_t> strand{from};
  for (const auto& [name, n] : blocks)
    for (std::int64_t k = 0; k < n; ++k) strand.push_back(add(name, strand.back()));
  strands.push_back(strand);
  return strand.back();
}

Polymer linear(const io::Blocks& blocks) {
  Polymer p;
  for (const auto& [name, n] : blocks)
    for (std::int64_t k = 0; k < n; ++k)
      p.add(name, p.type.empty() ? 0 : std::uint32_t(p.type.size() - 1));
  p.strands.emplace_back(p.type.size());
  std::iota(p.strands[0].begin(), p.strands[0].end(), 0u);
  return p;
}

Polymer ring(const io::Blocks& blocks) {
  Polymer p = linear(blocks);
  p.ring = true;
  return p;
}

Polymer star(const std::string& center, int arms, const io::Blocks& arm) {
  Polymer p;
  p.add(center, 0);
  for (int k = 0; k < arms; ++k) p.branch(arm, 0);
  return p;
}

Polymer comb(const io::Blocks& backbone, const io::Blocks& side, int spacing, int first) {
  Polymer p = linear(backbone);
  const auto beads = p.beads();
  for (auto k = std::size_t(first - 1); k < beads; k += std::size_t(spacing))
    p.branch(side, std::uint32_t(k));
  return p;
}

Polymer dendrimer(const std::string& core, int generations, int functionality,
                  const io::Blocks& spacer) {
  Polymer p;
  std::vector<std::uint32_t> tips{p.add(core, 0)};
  for (int generation = 0; generation <= generations; ++generation) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t tip : tips)
      for (int k = 0; k < (generation == 0 ? functionality : functionality - 1); ++k)
        next.push_back(p.branch(spacer, tip));
    tips = std::move(next);
  }
  return p;
}

}  // namespace perrin::parts
