#include "io/parts/parts_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/settings/problems.h"
#include "io/placement.h"
#include "io/sources.h"

namespace perrin::parts {
namespace {

/// Reports types that the settings name and that are not among these.
void check_names(const PartsSettings& s, const std::vector<std::string>& known,
                 const Report& error) {
  const auto check = [&](const std::string& key, const std::string& name) {
    if (std::ranges::count(known, name) == 0)
      error(key,
            fmt::format("unknown type \"{}\"; the types are {}", name, fmt::join(known, ", ")));
  };
  for (std::size_t k = 0; k < s.min_distances.size(); ++k)
    for (const std::string& name : s.min_distances[k].types)
      check(fmt::format("min_distances[{}].types", k), name);
  for (const auto& [name, mass] : s.masses) check("masses", name);
  for (const auto& [attribute, other] : s.attributes)
    for (const auto& [name, value] : other.types)
      check(join_path(join_path("attributes", attribute), "types"), name);
}

/// Numbers for the particles whose parts have none. Without settings an attribute that not all
/// particles have is left out, with a warning.
void complete_attributes(const std::map<std::string, OtherNumbers>& settings, Configuration& c,
                         const Report& error) {
  for (const auto& [name, other] : settings)
    if (!c.attributes.contains(name))
      error(join_path("attributes", name),
            fmt::format("no part \"file\" or \"source\" has an attribute \"{}\"", name));
  std::vector<std::string> lost;
  for (auto& [name, values] : c.attributes) {
    const auto other = settings.find(name);
    for (std::size_t id = 0; id < values.size(); ++id) {
      if (!std::isnan(values[id])) continue;
      const std::string& type = c.types[c.type[id]];
      if (other == settings.end()) {
        c.warnings.push_back(fmt::format(
            "the attribute {0} is left out: particle {1} (type {2}) has no number in "
            "its part; give \"attributes\": {{\"{0}\": {{\"default\": …}}}} of \"parts\"",
            name, id, type));
        lost.push_back(name);
        break;
      }
      const auto of_type = other->second.types.find(type);
      if (of_type == other->second.types.end() && !other->second.value) {
        error(join_path("attributes", name),
              fmt::format("has no number for particle {} (type {}), whose part has none either: "
                          "give it in \"types\", or a \"default\"",
                          id, type));
        break;
      }
      values[id] = of_type == other->second.types.end() ? *other->second.value : of_type->second;
    }
  }
  for (const std::string& name : lost) c.attributes.erase(name);
}

class PartsSource : public Source {
 public:
  PartsSource(std::vector<std::unique_ptr<StartPart>> parts, const PartsSettings& settings,
              const Box& box, const Distances& distances, std::uint64_t seed)
      : parts_(std::move(parts)),
        settings_(settings),
        box_(box),
        distances_(distances),
        seed_(seed) {}

  Configuration make() override {
    if (made_) return *std::exchange(made_, std::nullopt);
    std::string mistakes;
    auto made = place([&](const std::string& key, const std::string& what) {
      mistakes += (mistakes.empty() ? "" : "\n") + key + ": " + what;
    });
    if (!made) throw UserError(mistakes);
    return std::move(*made);
  }
  /// So that what is wrong has its key: makes the first configuration; false after an error.
  bool make_now(const Report& error) {
    made_ = place(error);
    return made_.has_value();
  }

 private:
  std::optional<Configuration> place(const Report& error) const {
    Start start(box_, distances_);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      try {
        // The job's own seed is that of a part "source".
        parts_[k]->place(start, instance_seed(seed_, std::uint32_t(k + 1)));
      } catch (const UserError& e) {
        error(fmt::format("parts[{}]", k), e.what());
        return std::nullopt;
      }
    }
    bool good = true;
    const Report mistake = [&](const std::string& key, const std::string& what) {
      good = false;
      error(key, what);
    };
    check_names(settings_, start.type_names(), mistake);
    if (!good) return std::nullopt;
    Configuration c = start.finish(settings_.masses);
    complete_attributes(settings_.attributes, c, mistake);
    if (!good) return std::nullopt;
    return c;
  }

  std::optional<Configuration> made_;
  std::vector<std::unique_ptr<StartPart>> parts_;
  PartsSettings settings_;
  Box box_;
  Distances distances_;
  std::uint64_t seed_;
};

std::optional<Box> box_of(const PartsSettings& s, const Report& error) {
  const bool flat = s.box.z == 0;  // two entries
  if (flat && s.dimension == 3) {
    error("box", "must be a list of 3 positive numbers, got 2");
    return std::nullopt;
  }
  Box box = io::centred_box({s.box.x, s.box.y, flat ? 1 : s.box.z}, s.dimension, s.periodic);
  box.xy = s.tilts[0];
  if (s.dimension == 3) box.xz = s.tilts[1], box.yz = s.tilts[2];
  if (s.dimension == 2 && (s.tilts[1] != 0 || s.tilts[2] != 0))
    error("tilts", "must be [xy, 0, 0] in two dimensions");
  // Its middle is at 0.
  const Vec3<double> middle = box.point({0.5, 0.5, 0.5});
  if (!box.orthogonal()) box.origin -= middle;
  if (s.origin) box.origin = *s.origin;
  if (s.dimension == 2) box.origin.z = -0.5;
  return box;
}

Distances distances_of(const PartsSettings& s, const Box& box, const Report& error) {
  Distances distances(s.min_distance);
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t k = 0; k < s.min_distances.size(); ++k) {
    const auto& [types, distance] = s.min_distances[k];
    if (!seen.insert(std::minmax(types[0], types[1])).second)
      error(fmt::format("min_distances[{}].types", k),
            fmt::format("{} and {} have a minimum distance already", types[0], types[1]));
    distances.set(types[0], types[1], distance);
  }
  const Vec3<double> heights = box.heights();
  const auto check = [&](const std::string& key, double distance) {
    for (int axis = 0; axis < box.dimension; ++axis)
      if (box.periodic[std::size_t(axis)] && distance > heights[axis])
        return error(key, fmt::format("must be at most the height of the box ({:g}), got {:g}",
                                      heights[axis], distance));
  };
  check("min_distance", s.min_distance);
  for (std::size_t k = 0; k < s.min_distances.size(); ++k)
    check(fmt::format("min_distances[{}].distance", k), s.min_distances[k].distance);
  return distances;
}

/// Reports types that no part has, where all are known before the parts are placed.
void check_types(const PartsSettings& s, const std::vector<std::unique_ptr<StartPart>>& parts,
                 const Report& error) {
  std::vector<std::string> known;
  for (const auto& part : parts) {
    const auto types = part->types();
    if (types.empty()) return;
    for (const std::string& name : types)
      if (std::ranges::count(known, name) == 0) known.push_back(name);
  }
  check_names(s, known, error);
}

}  // namespace

std::unique_ptr<Source> make_parts(const PartsSettings& s, Setup& setup) {
  bool good = true;
  const Report error = [&](const std::string& key, const std::string& what) {
    good = false;
    setup.error(key, what);
  };
  if (s.parts.empty()) error("parts", "must have at least one part");
  const auto box = box_of(s, error);
  if (!box) return nullptr;
  const Distances distances = distances_of(s, *box, error);
  std::vector<std::unique_ptr<StartPart>> parts;
  double particles = 0;
  for (std::size_t k = 0; k < s.parts.size(); ++k) {
    parts.push_back(setup.make(s.parts[k]));
    good = good && parts.back();
    if (!parts.back()) continue;
    parts.back()->check(*box, distances, [&](const std::string& key, const std::string& what) {
      error(fmt::format("parts[{}]{}{}", k, key.empty() ? "" : ".", key), what);
    });
    if (good) particles += parts.back()->particles(*box);
  }
  if (!good || !check_count(particles, "parts", setup)) return nullptr;
  check_types(s, parts, error);
  auto source = std::make_unique<PartsSource>(std::move(parts), s, *box, distances, setup.seed());
  if (!good || !source->make_now(error)) return nullptr;
  return source;
}

}  // namespace perrin::parts
