#include "engine/system/bond_images.h"

#include <algorithm>
#include <cmath>

#include "engine/system/bond_graph.h"
#include "engine/system/nearest_vector.h"

namespace perrin {
namespace {

/// The ways between bonded particles of a configuration.
class Ways {
 public:
  explicit Ways(const Configuration& c) : c_(c), images_(images_of(c.box)), edges_(c.box.edges()) {}

  /// From a to b in the box.
  Vec3<double> inside(std::uint32_t a, std::uint32_t b) const {
    return c_.position[b] - c_.position[a];
  }
  Vec3<double> nearest(std::uint32_t a, std::uint32_t b) const {
    return images_.nearest(inside(a, b));
  }
  Vec3<double> by_images(std::uint32_t a, std::uint32_t b, const Image& of_a,
                         const Image& of_b) const {
    return inside(a, b) + double(of_b.x - of_a.x) * edges_[0] +
           double(of_b.y - of_a.y) * edges_[1] + double(of_b.z - of_a.z) * edges_[2];
  }
  bool agree(std::uint32_t a, std::uint32_t b, const Image& of_a, const Image& of_b) const {
    const auto way = by_images(a, b, of_a, of_b), best = nearest(a, b);
    return dot(way, way) <= dot(best, best) * (1 + 4e-6);
  }
  /// The image of b that is nearest to a.
  Image next_to(std::uint32_t a, std::uint32_t b, const Image& of_a) const {
    const Vec3<double> d = nearest(a, b) - inside(a, b);
    const double z = std::nearbyint(d.z / edges_[2].z);
    const double y = std::nearbyint((d.y - z * edges_[2].y) / edges_[1].y);
    const double x = std::nearbyint((d.x - z * edges_[2].x - y * edges_[1].x) / edges_[0].x);
    return {of_a.x + std::int32_t(x), of_a.y + std::int32_t(y), of_a.z + std::int32_t(z)};
  }

 private:
  const Configuration& c_;
  Images<double> images_;
  std::array<Vec3<double>, 3> edges_;
};

/// Bonds, molecule by molecule, and what images would keep one whole.
class Molecules {
 public:
  Molecules(const Configuration& c, const Ways& ways)
      : ways_(ways), graph_(c.position.size(), c.topology.bonds), seen_(c.position.size(), 0) {}

  /// Its particles and their images from the particle `first` on; false: it winds around the box.
  bool walk(std::uint32_t first, std::vector<Image>& images, std::vector<std::uint32_t>& members) {
    members.assign(1, first);
    seen_[first] = 1;
    bool whole = true;
    for (std::size_t k = 0; k < members.size(); ++k) {
      const std::uint32_t a = members[k];
      for (const std::uint32_t b : graph_.neighbors(a)) {
        if (seen_[b]) {
          whole = whole && ways_.agree(a, b, images[a], images[b]);
          continue;
        }
        seen_[b] = 1;
        images[b] = ways_.next_to(a, b, images[a]);
        members.push_back(b);
      }
    }
    return whole;
  }
  std::vector<std::uint32_t> numbers() const { return graph_.molecules(); }

 private:
  const Ways& ways_;
  BondGraph graph_;
  std::vector<char> seen_;
};

/// Bonds whose images do not agree with the nearest way.
std::vector<std::size_t> bonds_apart(const Configuration& c, const Ways& ways) {
  const bool none = c.image.empty();
  std::vector<std::size_t> list;
  for (std::size_t k = 0; k < c.topology.bonds.size(); ++k) {
    const auto& bond = c.topology.bonds[k];
    if (!ways.agree(bond.a, bond.b, none ? Image{} : c.image[bond.a],
                    none ? Image{} : c.image[bond.b]))
      list.push_back(k);
  }
  return list;
}

/// The lowest id of each molecule.
std::vector<std::uint32_t> first_of(const std::vector<std::uint32_t>& molecule) {
  std::vector<std::uint32_t> first;
  for (std::uint32_t id = 0; id < molecule.size(); ++id)
    if (molecule[id] == first.size()) first.push_back(id);
  return first;
}

}  // namespace

void images_from_bonds(Configuration& c) {
  const Ways ways(c);
  const auto apart = bonds_apart(c, ways);
  if (apart.empty()) return;
  Molecules molecules(c, ways);
  const auto number = molecules.numbers();
  const auto first = first_of(number);
  const std::size_t n = c.position.size();
  std::vector<Image> images = c.image.empty() ? std::vector<Image>(n) : c.image;
  std::vector<char> done(first.size(), 0);
  std::vector<std::uint32_t> members;
  bool changed = false;
  auto found = images;
  for (const std::size_t k : apart) {
    const std::uint32_t m = number[c.topology.bonds[k].a];
    if (done[m]) continue;
    done[m] = 1;
    const bool whole = molecules.walk(first[m], found, members);
    if (!whole) continue;
    for (const std::uint32_t id : members) images[id] = found[id];
    changed = true;
  }
  if (changed) c.image = std::move(images);
}

std::vector<std::size_t> bonds_against_images(const Configuration& c) {
  const Ways ways(c);
  auto apart = bonds_apart(c, ways);
  if (apart.empty()) return apart;
  Molecules molecules(c, ways);
  const auto number = molecules.numbers();
  const auto first = first_of(number);
  std::vector<Image> images(c.position.size());
  std::vector<char> whole(first.size(), 2);  // 2: not known yet
  std::vector<std::uint32_t> members;
  std::erase_if(apart, [&](std::size_t k) {
    const std::uint32_t m = number[c.topology.bonds[k].a];
    if (whole[m] == 2) whole[m] = molecules.walk(first[m], images, members);
    return !whole[m];
  });
  return apart;
}

BondLengths bond_lengths(const Configuration& c, const Topology::Bond& bond) {
  const Ways ways(c);
  const bool none = c.image.empty();
  const auto way = ways.by_images(bond.a, bond.b, none ? Image{} : c.image[bond.a],
                                  none ? Image{} : c.image[bond.b]);
  const auto best = ways.nearest(bond.a, bond.b);
  return {std::sqrt(dot(way, way)), std::sqrt(dot(best, best))};
}

}  // namespace perrin
