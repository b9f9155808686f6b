#include "io/parts/polymers.h"

#include <fmt/format.h>

#include <cmath>

#include "io/sources.h"

namespace perrin::parts {

std::unique_ptr<StartPart> make_chains(const ChainsSettings& s, Setup& setup) {
  const io::Blocks blocks = io::parse_pattern(s.pattern, "pattern", setup);
  if (blocks.empty() || !check_count(count(blocks) * double(s.number), "number", setup))
    return nullptr;
  return std::make_unique<PolymerPart>(linear(blocks), s.number, s);
}

std::unique_ptr<StartPart> make_rings(const RingsSettings& s, Setup& setup) {
  const io::Blocks blocks = io::parse_pattern(s.pattern, "pattern", setup);
  if (blocks.empty() || !check_count(count(blocks) * double(s.number), "number", setup))
    return nullptr;
  if (count(blocks) < 3) {
    setup.error("pattern", fmt::format("must have at least 3 beads, got {}", count(blocks)));
    return nullptr;
  }
  return std::make_unique<PolymerPart>(ring(blocks), s.number, s);
}

std::unique_ptr<StartPart> make_stars(const StarsSettings& s, Setup& setup) {
  const io::Blocks arm = io::parse_pattern(s.arm, "arm", setup);
  if (arm.empty()) return nullptr;
  if (!check_count((1 + s.arms * count(arm)) * double(s.number), "number", setup)) return nullptr;
  const std::string center = s.center.empty() ? arm.front().first : s.center;
  return std::make_unique<PolymerPart>(star(center, s.arms, arm), s.number, s);
}

std::unique_ptr<StartPart> make_combs(const CombsSettings& s, Setup& setup) {
  const io::Blocks backbone = io::parse_pattern(s.backbone, "backbone", setup);
  const io::Blocks side = io::parse_pattern(s.side, "side", setup);
  if (backbone.empty() || side.empty()) return nullptr;
  if (s.first > count(backbone)) {
    setup.error("first", fmt::format("must be at most the beads of the backbone ({}), got {}",
                                     count(backbone), s.first));
    return nullptr;
  }
  const double sides = std::floor((count(backbone) - s.first) / s.spacing) + 1;
  const double beads = count(backbone) + sides * count(side);
  if (!check_count(beads * double(s.number), "number", setup)) return nullptr;
  return std::make_unique<PolymerPart>(comb(backbone, side, s.spacing, s.first), s.number, s);
}

std::unique_ptr<StartPart> make_dendrimers(const DendrimersSettings& s, Setup& setup) {
  const io::Blocks spacer = io::parse_pattern(s.spacer, "spacer", setup);
  if (spacer.empty()) return nullptr;
  double spacers = 0, tips = s.functionality;
  for (int generation = 0; generation <= s.generations; ++generation, tips *= s.functionality - 1)
    spacers += tips;
  if (!check_count((1 + spacers * count(spacer)) * double(s.number), "generations", setup))
    return nullptr;
  const std::string core = s.core.empty() ? spacer.front().first : s.core;
  return std::make_unique<PolymerPart>(dendrimer(core, s.generations, s.functionality, spacer),
                                       s.number, s);
}

}  // namespace perrin::parts
