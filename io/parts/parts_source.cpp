#include "io/parts/parts_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "io/placement.h"
#include "io/sources.h"

namespace perrin::parts {
namespace {

struct NamedPart {
  std::string type;
  std::unique_ptr<StartPart> part;
};

class PartsSource : public Source {
 public:
  PartsSource(std::vector<NamedPart> parts, const PartsSettings& settings, const Box& box,
              const Distances& distances, std::uint64_t seed)
      : parts_(std::move(parts)),
        settings_(settings),
        box_(box),
        distances_(distances),
        seed_(seed) {}

  Configuration make() override {
    Start start(box_, distances_);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      try {
        parts_[k].part->place(start, instance_seed(seed_, std::uint32_t(k)));
      } catch (const UserError& e) {
        throw UserError(fmt::format("parts[{}] ({}): {}", k, parts_[k].type, e.what()));
      }
    }
    const auto& names = start.type_names();
    for (const auto& [key, name] : named_types(settings_))
      if (std::ranges::count(names, name) == 0)
        throw UserError(fmt::format("{}: unknown type \"{}\"; the types are {}", key, name,
                                    fmt::join(names, ", ")));
    return start.finish(settings_.masses);
  }

  /// Types that the settings name, and where.
  static std::vector<std::pair<std::string, std::string>> named_types(const PartsSettings& s) {
    std::vector<std::pair<std::string, std::string>> found;
    for (std::size_t k = 0; k < s.min_distances.size(); ++k)
      for (const std::string& name : s.min_distances[k].types)
        found.emplace_back(fmt::format("min_distances[{}].types", k), name);
    for (const auto& [name, mass] : s.masses) found.emplace_back("masses", name);
    return found;
  }

 private:
  std::vector<NamedPart> parts_;
  PartsSettings settings_;
  Box box_;
  Distances distances_;
  std::uint64_t seed_;
};

std::optional<Box> box_of(const PartsSettings& s, Setup& setup) {
  const bool flat = s.box.z == 0;  // two entries
  if (flat && s.dimension == 3) {
    setup.error("box", "must be a list of 3 positive numbers, got 2");
    return std::nullopt;
  }
  Box box = io::centred_box({s.box.x, s.box.y, flat ? 1 : s.box.z}, s.dimension, s.periodic);
  box.xy = s.tilts[0];
  if (s.dimension == 3) box.xz = s.tilts[1], box.yz = s.tilts[2];
  if (s.dimension == 2 && (s.tilts[1] != 0 || s.tilts[2] != 0))
    setup.error("tilts", "must be [xy, 0, 0] in two dimensions");
  // Its middle is at 0.
  const Vec3<double> middle = box.point({0.5, 0.5, 0.5});
  if (!box.orthogonal()) box.origin -= middle;
  if (s.origin) box.origin = *s.origin;
  if (s.dimension == 2) box.origin.z = -0.5;
  return box;
}

Distances distances_of(const PartsSettings& s, const Box& box, Setup& setup) {
  Distances distances(s.min_distance);
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t k = 0; k < s.min_distances.size(); ++k) {
    const auto& [types, distance] = s.min_distances[k];
    if (!seen.insert(std::minmax(types[0], types[1])).second)
      setup.error(fmt::format("min_distances[{}].types", k),
                  fmt::format("{} and {} have a minimum distance already", types[0], types[1]));
    distances.set(types[0], types[1], distance);
  }
  const Vec3<double> heights = box.heights();
  const auto check = [&](const std::string& key, double distance) {
    for (int axis = 0; axis < box.dimension; ++axis)
      if (box.periodic[std::size_t(axis)] && distance > heights[axis])
        return setup.error(key,
                           fmt::format("must be at most the height of the box ({:g}), got {:g}",
                                       heights[axis], distance));
  };
  check("min_distance", s.min_distance);
  for (std::size_t k = 0; k < s.min_distances.size(); ++k)
    check(fmt::format("min_distances[{}].distance", k), s.min_distances[k].distance);
  return distances;
}

/// Reports types that no part has, where all are known before the parts are placed.
void check_types(const PartsSettings& s, const std::vector<NamedPart>& parts, Setup& setup) {
  std::vector<std::string> known;
  for (const NamedPart& p : parts) {
    const auto types = p.part->types();
    if (types.empty()) return;
    for (const std::string& name : types)
      if (std::ranges::count(known, name) == 0) known.push_back(name);
  }
  for (const auto& [key, name] : PartsSource::named_types(s))
    if (std::ranges::count(known, name) == 0)
      setup.error(
          key, fmt::format("unknown type \"{}\"; the types are {}", name, fmt::join(known, ", ")));
}

}  // namespace

std::unique_ptr<Source> make_parts(const PartsSettings& s, Setup& setup) {
  if (s.parts.empty()) setup.error("parts", "must have at least one part");
  const auto box = box_of(s, setup);
  if (!box) return nullptr;
  const Distances distances = distances_of(s, *box, setup);
  std::vector<NamedPart> parts;
  double particles = 0;
  bool good = true;
  for (std::size_t k = 0; k < s.parts.size(); ++k) {
    auto part = setup.make(s.parts[k]);
    if (!part) {
      good = false;
      continue;
    }
    part->check(*box, distances, [&](const std::string& key, const std::string& what) {
      good = false;
      setup.error(fmt::format("parts[{}]{}{}", k, key.empty() ? "" : ".", key), what);
    });
    if (good) particles += part->particles(*box);
    parts.push_back({s.parts[k].type(), std::move(part)});
  }
  if (!good || !check_count(particles, "parts", setup)) return nullptr;
  check_types(s, parts, setup);
  return std::make_unique<PartsSource>(std::move(parts), s, *box, distances, setup.seed());
}

}  // namespace perrin::parts
