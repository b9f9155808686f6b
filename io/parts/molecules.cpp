// "molecules", "spheres" and "rods": the shapes.
#include "io/parts/molecules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "io/parts/directions.h"
#include "io/parts/room.h"
#include "io/pattern.h"

namespace perrin::parts {
namespace {

void add_particle(Configuration& c, Vec3<double> r, const std::string& type) {
  auto found = std::ranges::find(c.types, type);
  if (found == c.types.end()) found = c.types.insert(c.types.end(), type);
  c.position.push_back(r);
  c.type.push_back(std::uint32_t(found - c.types.begin()));
}

/// The same term, read from its other end, is the same.
std::vector<std::uint32_t> from_one_end(std::vector<std::uint32_t> ids) {
  std::vector<std::uint32_t> back(ids.rbegin(), ids.rend());
  return std::min(ids, back);
}

/// Reports lists that are not `size` different particles, and those that a type has twice.
bool check_lists(const MoleculesSettings& s, const MoleculesSettings::Lists& lists,
                 const std::string& key, std::size_t size, Setup& setup) {
  bool good = true;
  for (const auto& [type, all] : lists) {
    std::map<std::vector<std::uint32_t>, std::size_t> known;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto [first, is_new] = known.try_emplace(from_one_end(all[k]), k);
      if (!is_new) {
        setup.error(fmt::format("{}.{}[{}]", key, type, k),
                    fmt::format("is {}[{}] once more, and would act twice: expected each once",
                                type, first->second));
        good = false;
      }
      auto ids = all[k];
      std::ranges::sort(ids);
      const bool fits = ids.size() == size && std::ranges::adjacent_find(ids) == ids.end() &&
                        ids.back() < s.particles.size();
      if (fits) continue;
      setup.error(
          fmt::format("{}.{}[{}]", key, type, k),
          fmt::format("must be {} different particles from 0 to {}", size, s.particles.size() - 1));
      good = false;
    }
  }
  return good;
}

void add_lists(const MoleculesSettings& s, Topology& t) {
  const auto each = [](const MoleculesSettings::Lists& lists, std::vector<std::string>& names,
                       const auto& add) {
    for (const auto& [type, all] : lists) {
      for (const auto& ids : all) add(ids, std::uint32_t(names.size()));
      names.push_back(type);
    }
  };
  each(s.bonds, t.bond_types, [&](const auto& i, std::uint32_t type) {
    t.bonds.push_back({i[0], i[1], type});
  });
  each(s.angles, t.angle_types, [&](const auto& i, std::uint32_t type) {
    t.angles.push_back({i[0], i[1], i[2], type});
  });
  each(s.dihedrals, t.dihedral_types, [&](const auto& i, std::uint32_t type) {
    t.dihedrals.push_back({i[0], i[1], i[2], i[3], type});
  });
  each(s.impropers, t.improper_types, [&](const auto& i, std::uint32_t type) {
    t.impropers.push_back({i[0], i[1], i[2], i[3], type});
  });
}

/// n points of a spiral on the unit sphere, evenly spread (Á. González, Math. Geosci. 42 (2010)
/// 49).
std::vector<Vec3<double>> spiral(std::int64_t n) {
  constexpr std::uint32_t golden_angle = 0x61c88647;  // of 2^32 in a turn
  std::vector<Vec3<double>> points;
  for (std::int64_t k = 0; k < n; ++k) {
    const double z = 1 - (2 * double(k) + 1) / double(n);
    const Vec3<double> around = direction_at(std::uint32_t(k) * golden_angle);
    points.push_back(std::sqrt(1 - z * z) * around + Vec3<double>{0, 0, z});
  }
  return points;
}

/// Beads on a sphere that are about so far apart: each has the area of a cell of a hexagonal
/// lattice.
std::int64_t beads_on(double radius, double spacing) {
  const double area = 4 * 3.141592653589793 * radius * radius;
  return std::max<std::int64_t>(1, rounded(area / (std::sqrt(3.0) / 2 * spacing * spacing)));
}

Configuration sphere(const SpheresSettings& s, std::int64_t beads) {
  Configuration c;
  const double area = 4 * 3.141592653589793 * s.radius * s.radius;
  const double spacing = std::sqrt(area / double(beads) / (std::sqrt(3.0) / 2));
  if (!s.core.empty()) add_particle(c, {}, s.core);
  for (const auto& r : spiral(beads)) add_particle(c, s.radius * r, s.bead);
  if (!s.core.empty()) {
    c.topology.bond_types = {s.bond_type};
    for (std::uint32_t k = 0; k < beads; ++k) c.topology.bonds.push_back({0, k + 1, 0});
  }
  // Shells as far apart as the beads in them.
  double radius = s.radius - spacing;
  for (; s.filled && radius > spacing / 2; radius -= spacing)
    for (const auto& r : spiral(beads_on(radius, spacing))) add_particle(c, radius * r, s.bead);
  if (s.filled && s.core.empty() && radius > -spacing / 4) add_particle(c, {}, s.bead);
  return c;
}

}  // namespace

std::unique_ptr<StartPart> make_molecules(const MoleculesSettings& s, Setup& setup) {
  if (s.particles.empty()) {
    setup.error("particles", "must have at least one particle");
    return nullptr;
  }
  bool good = check_lists(s, s.bonds, "bonds", 2, setup);
  good = check_lists(s, s.angles, "angles", 3, setup) && good;
  good = check_lists(s, s.dihedrals, "dihedrals", 4, setup) && good;
  good = check_lists(s, s.impropers, "impropers", 4, setup) && good;
  good = check_count(double(s.number) * double(s.particles.size()), "number", setup) && good;
  if (!good) return nullptr;
  Configuration c;
  for (const InlineParticle& p : s.particles) {
    add_particle(c, p.position, p.type);
    c.mass.push_back(p.mass);
    c.charge.push_back(p.charge);
  }
  if (std::ranges::all_of(c.charge, [](double q) { return q == 0; })) c.charge.clear();
  if (std::ranges::all_of(c.mass, [](double m) { return m == 1; })) c.mass.clear();
  add_lists(s, c.topology);
  return std::make_unique<RigidPart>(std::move(c), s);
}

std::unique_ptr<StartPart> make_spheres(const SpheresSettings& s, Setup& setup) {
  if (s.beads.has_value() == s.spacing.has_value()) {
    setup.error(s.beads ? "spacing" : "beads", "give either beads or spacing");
    return nullptr;
  }
  const std::int64_t beads = s.beads ? *s.beads : beads_on(s.radius, *s.spacing);
  // Shells add up to about a third of the beads' number times the number of shells.
  const double all = double(beads) * (s.filled ? std::sqrt(double(beads)) : 1);
  if (!check_count(all * double(s.number), s.beads ? "beads" : "spacing", setup)) return nullptr;
  return std::make_unique<RigidPart>(sphere(s, beads), s);
}

std::unique_ptr<StartPart> make_rods(const RodsSettings& s, Setup& setup) {
  const io::Blocks blocks = io::parse_pattern(s.pattern, "pattern", setup);
  if (blocks.empty()) return nullptr;
  double beads = 0;
  for (const auto& [type, n] : blocks) beads += double(n);
  if (!check_count(beads * double(s.number), "number", setup)) return nullptr;
  Configuration c;
  for (const auto& [type, n] : blocks)
    for (std::int64_t k = 0; k < n; ++k)
      add_particle(c, {s.spacing * double(c.position.size()), 0, 0}, type);
  Topology& t = c.topology;
  if (beads > 1 && !s.bond_type.empty()) t.bond_types = {s.bond_type};
  if (beads > 2 && !s.angle_type.empty()) t.angle_types = {s.angle_type};
  for (std::uint32_t k = 1; k < c.position.size() && !t.bond_types.empty(); ++k)
    t.bonds.push_back({k - 1, k, 0});
  for (std::uint32_t k = 2; k < c.position.size() && !t.angle_types.empty(); ++k)
    t.angles.push_back({k - 2, k - 1, k, 0});
  return std::make_unique<RigidPart>(std::move(c), s);
}

}  // namespace perrin::parts
