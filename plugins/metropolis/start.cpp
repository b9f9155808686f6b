#include "start.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "moves.h"

namespace perrin::metropolis {
namespace {

/// Molecules placed so far, in cells as wide as their reach.
class Placed {
 public:
  Placed(const Model& model, bool soft) : model_(model) {
    const std::size_t n = model.types.size();
    double least = 0, radius = 0;
    for (std::size_t k = 0; k < n * n; ++k) {
      const PairParameters& p = model.pairs[k];
      const bool sized = p.kind == PairKind::lennard_jones || p.kind == PairKind::wca;
      const double d = std::max(p.core, soft && sized ? 0.8 * p.a : 0);
      least2_.push_back(d * d);
      least = std::max(least, d);
    }
    for (const MoleculeTemplate& t : model.templates)
      for (const auto& site : t.sites) radius = std::max(radius, std::sqrt(dot(site.at, site.at)));
    reach_ = least + 2 * radius;
    // More cells than one for each molecule would be memory for nothing, whatever the box's shape.
    const double volume = model.box.x * model.box.y * model.box.z;
    const double width = std::max(reach_, std::cbrt(volume / double(model.molecule.size())));
    const auto count = [&](double edge) { return int(std::clamp(edge / width, 1.0, 1000.0)); };
    cells_ = {count(model.box.x), count(model.box.y), count(model.box.z)};
    members_.resize(std::size_t(cells_.x) * std::size_t(cells_.y) * std::size_t(cells_.z));
  }
  bool asks_for_room() const {
    return std::any_of(least2_.begin(), least2_.end(), [](double d) { return d > 0; });
  }

  bool fits(std::uint32_t kind, const Vec3<double>& centre, const Quaternion& q) const {
    if (!asks_for_room()) return true;
    const auto own = sites_of(kind, centre, q);
    const auto at = cell(centre);
    const auto around = [](int n) { return n < 3 ? n : 3; };
    for (int z = 0; z < around(cells_.z); ++z)
      for (int y = 0; y < around(cells_.y); ++y)
        for (int x = 0; x < around(cells_.x); ++x)
          for (const std::size_t m : members_[index({at.x + x - 1, at.y + y - 1, at.z + z - 1})])
            if (overlap(own, placed_[m])) return false;
    return true;
  }
  void add(std::uint32_t kind, const Vec3<double>& centre, const Quaternion& q) {
    members_[index(cell(centre))].push_back(placed_.size());
    placed_.push_back(sites_of(kind, centre, q));
  }

 private:
  struct Site {
    std::uint32_t type;
    Vec3<double> at;
  };
  std::vector<Site> sites_of(std::uint32_t kind, const Vec3<double>& c, const Quaternion& q) const {
    std::vector<Site> list;
    for (const auto& site : model_.templates[kind].sites)
      list.push_back({site.type, c + rotate(normalized(q), site.at)});
    return list;
  }
  bool overlap(const std::vector<Site>& a, const std::vector<Site>& b) const {
    for (const Site& p : a)
      for (const Site& q : b) {
        Vec3<double> d = p.at - q.at;
        for (int k = 0; k < 3; ++k) d[k] -= model_.box[k] * std::nearbyint(d[k] / model_.box[k]);
        if (dot(d, d) < least2_[p.type * model_.types.size() + q.type]) return true;
      }
    return false;
  }
  Vec3<int> cell(const Vec3<double>& r) const {
    Vec3<int> c;
    for (int k = 0; k < 3; ++k)
      c[k] = std::clamp(int(std::floor(r[k] / model_.box[k] * cells_[k])), 0, cells_[k] - 1);
    return c;
  }
  std::size_t index(Vec3<int> c) const {
    for (int k = 0; k < 3; ++k) c[k] = (c[k] + cells_[k]) % cells_[k];
    return (std::size_t(c.z) * std::size_t(cells_.y) + std::size_t(c.y)) * std::size_t(cells_.x) +
           std::size_t(c.x);
  }

  const Model& model_;
  std::vector<double> least2_;
  double reach_ = 0;
  Vec3<int> cells_;
  std::vector<std::vector<std::size_t>> members_;
  std::vector<std::vector<Site>> placed_;
};

Quaternion random_orientation(Philox& g) {
  const auto a = g.normal_pair<double>(), b = g.normal_pair<double>();
  return {a.first, a.second, b.first, b.second};
}

Philox stream(std::uint64_t seed, std::uint32_t molecule, std::uint32_t attempt) {
  return keyed<Philox>(Purpose::initial_positions, seed, attempt, molecule);
}

/// The centre of a molecule at its n-th attempt is place(n, generator).
template <class Place>
Placement fill(const Model& model, std::uint64_t seed, bool soft, std::uint32_t attempts,
               const Place& place) {
  Placed placed(model, soft);
  Placement start;
  for (std::uint32_t m = 0; m < model.molecule.size(); ++m) {
    for (std::uint32_t attempt = 0;; ++attempt) {
      if (attempt == attempts)
        throw UserError(fmt::format(
            "no position found for molecule {} of {} in {} attempts: a larger box, or {}", m + 1,
            model.molecule.size(), attempts,
            soft ? "the start \"lattice\"" : "the start \"random\", may help"));
      Philox g = stream(seed, m, attempt);
      const Quaternion q = random_orientation(g);
      const Vec3<double> centre = place(m, g);
      if (!placed.fits(model.molecule[m], centre, q)) continue;
      placed.add(model.molecule[m], centre, q);
      start.centre.push_back(centre);
      start.orientation.push_back(q);
      break;
    }
  }
  return start;
}

}  // namespace

Placement lattice_start(const Model& model, std::uint64_t seed) {
  // The coarsest lattice with enough sites whose spacings are alike along the edges.
  const double n = double(model.molecule.size());
  Vec3<std::int64_t> sites{1, 1, 1};
  while (double(sites.x) * double(sites.y) * double(sites.z) < n) {
    int widest = 0;
    for (int k = 1; k < 3; ++k)
      if (model.box[k] / double(sites[k]) > model.box[widest] / double(sites[widest]) * (1 + 1e-12))
        widest = k;
    ++sites[widest];
  }
  // Fisher and Yates: molecules of all kinds are mixed.
  std::vector<std::uint32_t> order(std::size_t(sites.x * sites.y * sites.z));
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::uint32_t i = std::uint32_t(order.size()) - 1; i > 0; --i) {
    auto g = keyed<Philox>(Purpose::initial_types, seed, 0, i);
    std::swap(order[i], order[g.below(i + 1)]);
  }
  return fill(model, seed, false, 1000, [&](std::uint32_t m, Philox&) {
    const std::int64_t i = order[m];
    const Vec3<std::int64_t> at{i % sites.x, i / sites.x % sites.y, i / (sites.x * sites.y)};
    Vec3<double> centre;
    for (int k = 0; k < 3; ++k) centre[k] = (double(at[k]) + 0.5) * model.box[k] / double(sites[k]);
    return centre;
  });
}

Placement random_start(const Model& model, std::uint64_t seed) {
  return fill(model, seed, true, 20000, [&](std::uint32_t, Philox& g) {
    return Vec3<double>{g.uniform<double>() * model.box.x, g.uniform<double>() * model.box.y,
                        g.uniform<double>() * model.box.z};
  });
}

}  // namespace perrin::metropolis
