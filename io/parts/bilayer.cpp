#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/parts/directions.h"
#include "io/parts/layers.h"
#include "io/parts/plane.h"
#include "io/parts/polymer.h"
#include "io/parts/room.h"
#include "io/sources.h"

namespace perrin::parts {
namespace {

/// A lipid, and where its beads are: the first coordinate along the normal, outwards from the last
/// beads of the tails, the others across.
struct Lipid {
  Polymer polymer;
  std::vector<Vec3<double>> places;
};

/// Tails are at the corners of a regular polygon with this edge, below the last bead of the head.
std::vector<Vec3<double>> across(int tails, double edge) {
  constexpr double radii[] = {0, 0.5, 0.5773502691896258, 0.7071067811865476};  // of unit edges
  std::vector<Vec3<double>> found;
  for (int k = 0; k < tails; ++k) {
    const std::uint64_t turn = (std::uint64_t(1) << 32) * std::uint64_t(k) / std::uint64_t(tails);
    const Vec3<double> at = edge * radii[tails - 1] * direction_at(std::uint32_t(turn));
    found.push_back({0, at.x, at.y});
  }
  return found;
}

Lipid lipid_of(const BilayerSettings& s, const io::Blocks& head, const io::Blocks& tail) {
  Lipid lipid;
  Polymer& p = lipid.polymer = linear(head);
  const double b = s.bond_length, tail_beads = count(tail);
  const auto sideways = across(s.tails, b);
  const double step = std::sqrt(b * b - dot(sideways[0], sideways[0]));
  const double neck = (tail_beads - 1) * b + step;  // the last bead of the head
  const auto heads = p.beads();
  for (std::size_t k = 0; k < heads; ++k)
    lipid.places.push_back({neck + double(heads - 1 - k) * b, 0, 0});
  for (int k = 0; k < s.tails; ++k) {
    p.branch(tail, std::uint32_t(heads - 1));
    for (int bead = 0; bead < int(tail_beads); ++bead)
      lipid.places.push_back(sideways[std::size_t(k)] +
                             Vec3<double>{(tail_beads - 1 - bead) * b, 0, 0});
  }
  return lipid;
}

class Bilayer : public StartPart {
 public:
  Bilayer(Lipid lipid, const BilayerSettings& settings)
      : lipid_(std::move(lipid)), settings_(settings) {}

  std::vector<std::string> types() const override { return lipid_.polymer.types; }
  double particles(const Box& box) const override {
    return double(lipids(box)) * double(lipid_.places.size());
  }
  void check(const Box& box, const Distances& distances, const Report& error) const override;
  void place(Start& start, std::uint64_t seed) const override;

 private:
  std::int64_t lipids(const Box& box) const {
    if (settings_.number) return *settings_.number;
    return 2 * rounded(Plane(box, settings_.axis).area() / *settings_.area_per_lipid);
  }
  double gap() const { return settings_.gap.value_or(settings_.bond_length); }
  void put(Start& start, const Plane& plane, Plane::Site site, double side,
           const std::vector<std::uint32_t>& types) const;

  Lipid lipid_;
  BilayerSettings settings_;
};

void Bilayer::check(const Box& box, const Distances&, const Report& error) const {
  if (!Plane::check(box, settings_.axis, error)) return;
  if (lipids(box) < 2)
    error(settings_.number ? "number" : "area_per_lipid", "gives no lipid for one of the leaflets");
  if (box.dimension == 2 && settings_.tails > 2) error("tails", "must be 1 or 2 in two dimensions");
  const double half = gap() / 2 + lipid_.places[0].x;
  const Plane plane(box, settings_.axis);
  const double below = settings_.position - plane.lower(),
               above = plane.upper() - settings_.position;
  if (below < 0 || above < 0)
    return error("position", fmt::format("must be in the box, from {:g} to {:g}, got {:g}",
                                         plane.lower(), plane.upper(), settings_.position));
  const bool wraps = box.periodic[std::size_t(settings_.axis[0] - 'x')];
  if (half > (wraps ? (below + above) / 2 : std::min(below, above)))
    error("position", fmt::format("the membrane goes {:g} to either side and does not fit into the "
                                  "box, which goes from {:g} to {:g}",
                                  half, plane.lower(), plane.upper()));
}

void Bilayer::put(Start& start, const Plane& plane, Plane::Site site, double side,
                  const std::vector<std::uint32_t>& types) const {
  const Vec3<double> foot = plane.place(site.u, site.v, settings_.position);
  const Vec3<double> out = side * plane.normal();
  const int axis = settings_.axis[0] - 'x';
  const auto first = std::uint32_t(start.size());
  std::vector<Vec3<double>> places;
  for (const auto& at : lipid_.places) {
    Vec3<double> r = foot + (gap() / 2 + at.x) * out;
    r[axis == 0 ? 1 : 0] += at.y;
    r[axis == 2 ? 1 : 2] += at.z;
    if (start.box().dimension == 2) r.z = 0;
    places.push_back(r);
  }
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::uint32_t type = types[lipid_.polymer.type[k]];
    const std::int64_t near = start.occupied().conflict(places[k], type);
    if (near < 0) continue;
    const auto& names = start.type_names();
    const std::string &mine = names[type], &other = names[start.occupied().type(std::size_t(near))];
    throw UserError(fmt::format(
        "a bead {} of a lipid is nearer than {:g} to a particle {}; use fewer lipids, a "
        "smaller minimum distance of these types, or place this part before others",
        mine, start.distances().between(mine, other), other));
  }
  for (std::size_t k = 0; k < places.size(); ++k)
    start.add(places[k], types[lipid_.polymer.type[k]]);
  Topology& t = start.topology();
  const Polymer& p = lipid_.polymer;
  for (std::uint32_t k = 1; k < p.beads(); ++k)
    t.bonds.push_back({first + p.parent[k], first + k, start.bond_type(settings_.bond_type)});
  if (!settings_.angle_type.empty())
    for (const auto& strand : p.strands)
      for (std::size_t k = 2; k < strand.size(); ++k)
        t.angles.push_back({first + strand[k - 2], first + strand[k - 1], first + strand[k],
                            start.angle_type(settings_.angle_type)});
  start.end_molecule();
}

void Bilayer::place(Start& start, std::uint64_t seed) const {
  const Plane plane(start.box(), settings_.axis);
  const auto types = start.types(lipid_.polymer.types);
  const std::int64_t n = lipids(start.box());
  for (const auto& site : plane.sites((n + 1) / 2, instance_seed(seed, 1)))
    put(start, plane, site, 1, types);
  for (const auto& site : plane.sites(n / 2, instance_seed(seed, 2)))
    put(start, plane, site, -1, types);
}

}  // namespace

std::unique_ptr<StartPart> make_bilayer(const BilayerSettings& s, Setup& setup) {
  const io::Blocks head = io::parse_pattern(s.head, "head", setup);
  const io::Blocks tail = io::parse_pattern(s.tail, "tail", setup);
  if (s.number.has_value() == s.area_per_lipid.has_value()) {
    setup.error(s.number ? "area_per_lipid" : "number", "give either number or area_per_lipid");
    return nullptr;
  }
  if (head.empty() || tail.empty()) return nullptr;
  const double beads = count(head) + s.tails * count(tail);
  if (!check_count(double(s.number.value_or(1)) * beads, "number", setup)) return nullptr;
  return std::make_unique<Bilayer>(lipid_of(s, head, tail), s);
}

}  // namespace perrin::parts
