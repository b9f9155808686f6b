#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/parts/layers.h"
#include "io/parts/plane.h"
#include "io/parts/room.h"
#include "io/placement.h"
#include "io/sources.h"

namespace perrin::parts {
namespace {

constexpr int chain_attempts = 6, graft_attempts = 2000;

class Brush : public StartPart {
 public:
  Brush(Polymer polymer, const BrushSettings& settings)
      : polymer_(std::move(polymer)), settings_(settings) {}

  std::vector<std::string> types() const override { return polymer_.types; }
  double particles(const Box& box) const override {
    return double(chains(box)) * double(polymer_.beads());
  }
  void check(const Box& box, const Distances& distances, const Report& error) const override;
  void place(Start& start, std::uint64_t seed) const override;

 private:
  std::int64_t chains(const Box& box) const {
    return settings_.number.value_or(
        rounded(settings_.grafting_density.value_or(0) * Plane(box, settings_.axis).area()));
  }
  std::vector<Vec3<double>> graft(const Start& start, const Region& region, std::uint32_t type,
                                  std::uint64_t seed) const;
  bool up() const { return settings_.direction == "up"; }
  double coordinate(const Plane& plane) const {
    return settings_.position.value_or(up() ? plane.lower() : plane.upper());
  }

  Polymer polymer_;
  BrushSettings settings_;
};

void Brush::check(const Box& box, const Distances& distances, const Report& error) const {
  if (!Plane::check(box, settings_.axis, error)) return;
  const double n = double(chains(box));
  const char* const key = settings_.number ? "number" : "grafting_density";
  if (n < 1) return error(key, "gives no chain in this box");
  check_bonds(settings_, polymer_, n, box, distances, error);
  const Plane plane(box, settings_.axis);
  const double x = coordinate(plane);
  if (x < plane.lower() || x > plane.upper())
    error("position", fmt::format("must be in the box, from {:g} to {:g}, got {:g}", plane.lower(),
                                  plane.upper(), x));
  // Circles on the plane, in two dimensions lengths on the line.
  const std::string& grafted = polymer_.types[polymer_.type[0]];
  const double d = distances.between(grafted, grafted);
  const double filled =
      box.dimension == 2 ? n * d / plane.area() : n * 3.141592653589793 / 4 * d * d / plane.area();
  const bool random = settings_.arrangement == "random";
  const double most = box.dimension == 2 ? (random ? 0.78 : 1) : (random ? 0.58 : 0.9069);
  if (filled > most)
    error(key, fmt::format("too dense: circles as wide as the minimum distance of {} ({:g}) would "
                           "fill {:.3g} of the plane, {} reach {} at most",
                           grafted, d, filled, random ? "random places" : "lattices", most));
}

/// All are chosen before chains grow: otherwise chains would cover the plane.
std::vector<Vec3<double>> Brush::graft(const Start& start, const Region& region, std::uint32_t type,
                                       std::uint64_t seed) const {
  const Plane plane(start.box(), settings_.axis);
  const std::int64_t n = chains(start.box());
  const double height = coordinate(plane);
  std::vector<Vec3<double>> found;
  if (settings_.arrangement == "square")
    for (const auto& site : plane.sites(n, seed))
      found.push_back(plane.place(site.u, site.v, height));
  const double distance = start.occupied().distance(type, type);
  Occupied taken(start.box());
  taken.add_type({distance}, distance, distance);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto fits = [&](Vec3<double> r) {
      return region.contains(r) && start.fits(r, type) && taken.conflict(r, 0) < 0;
    };
    bool good = k < std::int64_t(found.size()) && fits(found[std::size_t(k)]);
    for (int attempt = 0; attempt < graft_attempts && k == std::int64_t(found.size()); ++attempt) {
      Philox stream = io::position_stream(seed, std::uint64_t(attempt), std::uint32_t(k));
      const double u = stream.uniform<double>();
      const Vec3<double> r = plane.place(u, stream.uniform<double>(), height);
      good = fits(r);
      if (good) found.push_back(r);
    }
    if (!good)
      throw UserError(fmt::format(
          "no place found on the plane for chain {} of {} (at least {} from others); use fewer "
          "chains, a smaller minimum distance or a larger region, or place this part before others",
          k + 1, n, start.distances().text({polymer_.types[polymer_.type[0]]})));
    taken.add(found[std::size_t(k)], 0);
  }
  return found;
}

void Brush::place(Start& start, std::uint64_t seed) const {
  const Region region(settings_.region, start.box());
  const Plane plane(start.box(), settings_.axis);
  const double side = up() ? 1 : -1, height = coordinate(plane);
  const Vec3<double> normal = side * plane.normal();
  const auto types = start.types(polymer_.types);
  const std::uint32_t grafted = types[polymer_.type[0]];
  const auto feet = graft(start, region, grafted, seed);
  // Chains leave those alone that stand straight above the places of later ones, the first to grow
  // last: so that each finds a way.
  double away = 0;
  for (const std::uint32_t t : types) away = std::max(away, start.occupied().distance(grafted, t));
  const std::size_t column = polymer_.beads();
  Occupied reserved(start.box());
  reserved.add_type({away}, away, away);
  for (auto foot = feet.rbegin(); foot != feet.rend(); ++foot)
    for (std::size_t bead = 0; bead < column; ++bead)
      reserved.add(*foot + double(bead) * settings_.bond_length * normal, 0);
  Growth growth(start, polymer_,
                {settings_.bond_type, settings_.angle_type, settings_.dihedral_type},
                settings_.bond_length);
  for (std::uint32_t k = 0; k < feet.size(); ++k) {
    for (std::size_t bead = 0; bead < column; ++bead) reserved.remove_last();
    const auto root = [&](Philox&) { return std::optional(feet[k]); };
    const auto allowed = [&](Vec3<double> r) {
      const double above = dot(r, normal) - side * height;
      return above == 0 || (above > 0 && region.contains(r) && reserved.conflict(r, 0) < 0);
    };
    bool grown = false;
    for (int attempt = 0; attempt < chain_attempts && !grown; ++attempt) {
      // The second half of the attempts takes the straight way wherever it is free.
      growth.straight(normal, 2 * attempt >= chain_attempts);
      Philox stream = io::position_stream(instance_seed(seed, 1), std::uint64_t(attempt), k);
      grown = growth.grow(stream, root, allowed);
    }
    if (!grown)
      throw UserError(
          no_place_for_polymer(start, polymer_, k, std::int64_t(feet.size()), chain_attempts));
  }
}

}  // namespace

std::unique_ptr<StartPart> make_brush(const BrushSettings& s, Setup& setup) {
  io::Blocks blocks = io::parse_pattern(s.pattern, "pattern", setup);
  if (s.number.has_value() == s.grafting_density.has_value()) {
    setup.error(s.number ? "grafting_density" : "number", "give either number or grafting_density");
    return nullptr;
  }
  if (blocks.empty()) return nullptr;
  const double chains = s.number ? double(*s.number) : 1;
  if (!check_count(count(blocks) * chains, "number", setup)) return nullptr;
  if (!s.grafted.empty()) {
    if (--blocks.front().second == 0) blocks.erase(blocks.begin());
    blocks.insert(blocks.begin(), {s.grafted, 1});
  }
  return std::make_unique<Brush>(linear(blocks), s);
}

}  // namespace perrin::parts
