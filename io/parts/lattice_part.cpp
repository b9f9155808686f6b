#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/lattice_cell.h"
#include "io/parts/points.h"

namespace perrin::parts {
namespace {

class LatticePart : public StartPart {
 public:
  explicit LatticePart(const LatticeSettings& settings)
      : settings_(settings), cell_(io::cell_of(settings.structure)) {}

  std::vector<std::string> types() const override {
    std::vector<std::string> names;
    for (const auto& [name, amount] : settings_.types) names.push_back(name);
    return names;
  }
  double particles(const Box& box) const override {
    double cell = 1;
    for (int axis = 0; axis < cell_.dimension; ++axis) cell *= cell_.edges[axis] * constant();
    return double(cell_.sites.size()) * box.volume() / cell;
  }
  void check(const Box& box, const Distances& distances, const Report& error) const override;
  void place(Start& start, std::uint64_t seed) const override;

 private:
  double constant() const {
    if (settings_.lattice_constant) return *settings_.lattice_constant;
    double unit = 1;  // volume of the cell in units of the constant
    for (int axis = 0; axis < cell_.dimension; ++axis) unit *= cell_.edges[axis];
    return std::pow(double(cell_.sites.size()) / (*settings_.density * unit),
                    1.0 / cell_.dimension);
  }
  /// Along periodic axes that the region does not bound, whole cells.
  Vec3<double> edges(const Box& box, const Region& region, Start* start) const;
  std::vector<Vec3<double>> sites(const Box& box, const Region& region,
                                  const Vec3<double>& edges) const;

  LatticeSettings settings_;
  io::Cell cell_;
};

void LatticePart::check(const Box& box, const Distances& distances, const Report& error) const {
  if (cell_.dimension != box.dimension)
    return error("structure", fmt::format("{} has {} dimensions, but the box has {}",
                                          settings_.structure, cell_.dimension, box.dimension));
  if (!box.orthogonal()) return error("", "lattices need a box without tilts");
  Region::check(settings_.region, box, error);
  // Neighbours of the lattice as it is meant; the change of its constant is small.
  double nearest = 1e30;
  for (const auto& site : cell_.sites)
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        for (int z = -1; z <= 1; ++z) {
          Vec3<double> d = site - cell_.sites[0] + Vec3<double>{double(x), double(y), double(z)};
          for (int axis = 0; axis < 3; ++axis) d[axis] *= cell_.edges[axis] * constant();
          if (cell_.dimension == 2) d.z = 0;
          if (dot(d, d) > 1e-12) nearest = std::min(nearest, std::sqrt(dot(d, d)));
        }
  for (const auto& [a, amount] : settings_.types)
    for (const auto& [b, other] : settings_.types)
      if (const double least = distances.between(a, b); nearest < least * (1 - 1e-9) && a <= b)
        error(settings_.density ? "density" : "lattice_constant",
              fmt::format("neighbours are {:.6g} apart, the minimum distance of {} and {} is {:g}",
                          nearest, a, b, least));
}

Vec3<double> LatticePart::edges(const Box& box, const Region& region, Start* start) const {
  Vec3<double> found = constant() * cell_.edges;
  for (int axis = 0; axis < cell_.dimension; ++axis) {
    const double extent = region.upper()[axis] - region.lower()[axis];
    if (!box.periodic[std::size_t(axis)] || extent < box.length[axis]) continue;
    const double cells = std::max(1.0, std::nearbyint(extent / found[axis]));
    const double fitted = extent / cells;
    if (start && std::abs(fitted / found[axis] - 1) > 1e-6)
      start->warn(
          fmt::format("the edge of the cells of a part \"lattice\" along {} is {:.6g} "
                      "instead of {:.6g}, so that whole cells fit into the box",
                      "xyz"[axis], fitted, found[axis]));
    found[axis] = fitted;
  }
  return found;
}

std::vector<Vec3<double>> LatticePart::sites(const Box& box, const Region& region,
                                             const Vec3<double>& edges) const {
  std::array<std::int64_t, 3> n{1, 1, 1};
  for (int axis = 0; axis < box.dimension; ++axis) {
    const double extent = region.upper()[axis] - region.lower()[axis];
    n[std::size_t(axis)] = std::int64_t(std::ceil(extent / edges[axis] - 1e-9));
  }
  std::vector<Vec3<double>> found;
  for (std::int64_t x = 0; x < n[0]; ++x)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t z = 0; z < n[2]; ++z)
        for (const auto& s : cell_.sites) {
          Vec3<double> r = region.lower() + Vec3<double>{(double(x) + s.x) * edges.x,
                                                         (double(y) + s.y) * edges.y,
                                                         (double(z) + s.z) * edges.z};
          if (box.dimension == 2) r.z = 0;
          // What encloses a region that goes around the box is the box: no site comes twice.
          if (region.contains(r)) found.push_back(r);
        }
  return found;
}

void LatticePart::place(Start& start, std::uint64_t seed) const {
  const Region region(settings_.region, start.box());
  const auto places = sites(start.box(), region, edges(start.box(), region, &start));
  if (places.empty()) throw UserError("no site of the lattice is in its region");
  const auto types = start.types(this->types());
  const auto own = io::types_at_random(io::apportion(settings_.types, places.size()), seed);
  const auto before = std::int64_t(start.size());
  std::size_t placed = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::uint32_t type = types[own[k]];
    const std::int64_t near = start.occupied().conflict(places[k], type);
    if (near < 0) {
      start.add(places[k], type), start.end_molecule();
      ++placed;
      continue;
    }
    if (near < before && settings_.overlapping == "leave_out") continue;
    const auto& names = start.type_names();
    const std::string& other = names[start.occupied().type(std::size_t(near))];
    throw UserError(fmt::format(
        "site {} of {} (type {}) is nearer than {:g} to a particle {} of {}", k + 1, places.size(),
        names[type], start.distances().between(names[type], other), other,
        near < before
            ? "an earlier part; set \"overlapping\": \"leave_out\" to leave such sites empty"
            : "this lattice; use a larger lattice_constant or a smaller minimum distance"));
  }
  if (placed == 0) throw UserError("every site of the lattice is too near to earlier particles");
}

}  // namespace

std::unique_ptr<StartPart> make_lattice(const LatticeSettings& s, Setup& setup) {
  if (s.density.has_value() == s.lattice_constant.has_value()) {
    setup.error(s.density ? "lattice_constant" : "density",
                "give either density or lattice_constant");
    return nullptr;
  }
  if (s.types.empty()) {
    setup.error("types", "must name at least one type");
    return nullptr;
  }
  return std::make_unique<LatticePart>(s);
}

}  // namespace perrin::parts
