#include "engine/components/constraint_clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/base/error.h"
#include "engine/system/nearest_vector.h"

namespace perrin {
namespace {

/// Of each particle of the constraints the lowest id that these connect it with.
std::map<std::uint32_t, std::uint32_t> lowest_connected(const Topology& t) {
  std::map<std::uint32_t, std::uint32_t> parent;
  const auto root = [&](std::uint32_t id) {
    while (parent.at(id) != id) id = parent[id] = parent.at(parent.at(id));
    return id;
  };
  for (const auto& c : t.constraints) parent.emplace(c.a, c.a), parent.emplace(c.b, c.b);
  for (const auto& c : t.constraints) {
    const std::uint32_t a = root(c.a), b = root(c.b);
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (auto& [id, of] : parent) of = root(id);
  return parent;
}

/// A symmetric matrix as a product of a lower triangular one with its transpose; false where it is
/// singular up to rounding.
bool cholesky(std::vector<double>& m, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    const double before = m[j * n + j];
    for (std::size_t k = 0; k < j; ++k) m[j * n + j] -= m[j * n + k] * m[j * n + k];
    if (!(m[j * n + j] > 1e-6 * before)) return false;
    m[j * n + j] = std::sqrt(m[j * n + j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) m[i * n + j] -= m[i * n + k] * m[j * n + k];
      m[i * n + j] /= m[j * n + j];
    }
  }
  return true;
}

Vec3<double> nearest(const Box& box, const Vec3<double>& a, const Vec3<double>& b) {
  return images_of(box).nearest(a - b);
}

}  // namespace

ConstraintClusters::ConstraintClusters(const Topology& t) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;
  const auto lowest = lowest_connected(t);
  for (const auto& [id, of] : lowest) members[of].push_back(id);
  std::map<std::uint32_t, std::uint32_t> place;
  std::map<std::uint32_t, std::vector<ConstraintPair>> pairs;
  first.push_back(0), pairs_from.push_back(0);
  for (const auto& [cluster, ids] : members) {
    for (const std::uint32_t id : ids) {
      place[id] = std::uint32_t(particle.size());
      particle.push_back(id);
    }
    first.push_back(std::uint32_t(particle.size()));
  }
  for (const auto& c : t.constraints)
    pairs[lowest.at(c.a)].push_back({place.at(c.a), place.at(c.b), c.length});
  for (const auto& [cluster, of] : pairs) {
    pair.insert(pair.end(), of.begin(), of.end());
    pairs_from.push_back(std::uint32_t(pair.size()));
  }
}

std::vector<double> constrained_freedom(const Configuration& c) {
  if (c.topology.constraints.empty()) return {};
  std::vector<double> taken(c.position.size(), 0);
  const ConstraintClusters all(c.topology);
  for (std::size_t cluster = 0; cluster < all.size(); ++cluster) {
    const std::size_t from = all.pairs_from[cluster], n = all.pairs_from[cluster + 1] - from;
    const ConstraintPair* const pair = all.pair.data() + from;
    const auto inverse_mass = [&](std::uint32_t place) {
      return c.mass.empty() ? 1.0 : 1 / c.mass[all.particle[place]];
    };
    // Unit vectors along the constraints; how much the pull of one of them moves the other.
    std::vector<Vec3<double>> along;
    for (std::size_t k = 0; k < n; ++k) {
      const Vec3<double> r =
          nearest(c.box, c.position[all.particle[pair[k].a]], c.position[all.particle[pair[k].b]]);
      along.push_back((1 / std::sqrt(dot(r, r))) * r);
    }
    const auto sign = [&](std::size_t k, std::uint32_t place) {
      return place == pair[k].a ? 1.0 : place == pair[k].b ? -1.0 : 0.0;
    };
    std::vector<double> coupling(n * n, 0);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        for (const std::uint32_t place : {pair[j].a, pair[j].b})
          coupling[j * n + k] +=
              sign(j, place) * sign(k, place) * inverse_mass(place) * dot(along[j], along[k]);
    if (!cholesky(coupling, n))
      throw UserError(fmt::format(
          "the {} constraints that connect particle {} with {} others are not independent of one "
          "another: leave out those that follow from the rest (of particles on a line the distance "
          "between the outer ones), or give rigid molecules on a line or in a plane \"bodies\"",
          n, all.particle[all.first[cluster]], all.first[cluster + 1] - all.first[cluster] - 1));
    // Of the particle in column x: |L^-1 J_x|² / mass, for each axis.
    for (std::uint32_t place = all.first[cluster]; place < all.first[cluster + 1]; ++place)
      for (int axis = 0; axis < 3; ++axis) {
        std::vector<double> column(n);
        double square = 0;
        for (std::size_t j = 0; j < n; ++j) {
          double x = sign(j, place) * along[j][axis];
          for (std::size_t k = 0; k < j; ++k) x -= coupling[j * n + k] * column[k];
          column[j] = x / coupling[j * n + j];
          square += column[j] * column[j];
        }
        taken[all.particle[place]] += square * inverse_mass(place);
      }
  }
  return taken;
}

}  // namespace perrin
