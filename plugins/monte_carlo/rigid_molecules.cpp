#include "rigid_molecules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "engine/components/setup.h"
#include "engine/system/nearest_vector.h"
#include "molecules.h"

namespace perrin::monte_carlo {
namespace {

using Row = std::vector<double>;

/// By elimination, down to pivots of this size.
std::size_t rank_of(std::vector<Row> rows, double least) {
  std::size_t rank = 0;
  const std::size_t columns = rows.empty() ? 0 : rows[0].size();
  for (std::size_t column = 0; column < columns && rank < rows.size(); ++column) {
    std::size_t best = rank;
    for (std::size_t k = rank; k < rows.size(); ++k)
      if (std::abs(rows[k][column]) > std::abs(rows[best][column])) best = k;
    if (std::abs(rows[best][column]) < least) continue;
    std::swap(rows[rank], rows[best]);
    for (std::size_t k = rank + 1; k < rows.size(); ++k) {
      const double factor = rows[k][column] / rows[rank][column];
      for (std::size_t c = column; c < columns; ++c) rows[k][c] -= factor * rows[rank][c];
    }
    ++rank;
  }
  return rank;
}

/// Whether constraints leave a molecule no motion but that of a rigid body: as many of them as that
/// takes change independently. Those of a job all do (constrained_freedom()), so that a molecule
/// that could move otherwise does (L. Asimow, B. Roth, Trans. Am. Math. Soc. 245, 279 (1978)).
bool is_held(const Configuration& c, std::span<const std::uint32_t> ids,
             const std::vector<const Topology::Constraint*>& constraints) {
  const auto n = ids.size(), axes = std::size_t(c.box.dimension);
  const auto images = images_of(c.box);
  const auto column = [&](std::uint32_t id) {
    return axes * std::size_t(std::ranges::find(ids, id) - ids.begin());
  };
  std::vector<Row> rows;
  for (const auto* const one : constraints) {
    Row row(axes * n);
    Vec3<double> r = images.nearest(c.position[one->a] - c.position[one->b]);
    r *= 1 / std::sqrt(dot(r, r));
    const std::size_t a = column(one->a), b = column(one->b);
    for (std::size_t axis = 0; axis < axes; ++axis)
      row[a + axis] = r[int(axis)], row[b + axis] = -r[int(axis)];
    rows.push_back(std::move(row));
  }
  const std::size_t rigid = n == 2 ? 2 * axes - 1 : axes == 2 ? 3 : 6;
  return rank_of(std::move(rows), 1e-6) + rigid >= axes * n;  // rows have the length √2
}

bool is_one_body(const Topology& t, std::span<const std::uint32_t> ids) {
  return !t.body.empty() && std::ranges::all_of(ids, [&](std::uint32_t id) {
    return t.body[id] != Topology::no_body && t.body[id] == t.body[ids.front()];
  });
}

/// [molecule]: the constraints within it.
std::vector<std::vector<const Topology::Constraint*>> constraints_of(const Topology& t,
                                                                     const Molecules& molecules) {
  std::vector<std::vector<const Topology::Constraint*>> all(molecules.count());
  for (const auto& one : t.constraints)
    if (molecules.of[one.a] == molecules.of[one.b]) all[molecules.of[one.a]].push_back(&one);
  return all;
}

/// From its first particle to each of them.
std::vector<Vec3<double>> shape_of(const Configuration& c, std::span<const std::uint32_t> ids,
                                   std::span<const std::uint32_t> before) {
  const auto images = images_of(c.box);
  std::vector<Vec3<double>> r(ids.size());
  for (std::size_t m = 1; m < ids.size(); ++m)
    r[m] = r[before[m]] + images.nearest(c.position[ids[m]] - c.position[ids[before[m]]]);
  return r;
}

/// Why it is not rigid, where constraints do not hold it: on a line, or in a plane of space,
/// distances say nothing of small motions across, and those of all pairs are not independent.
std::string advice(const std::vector<Vec3<double>>& shape, int dimension) {
  std::vector<Row> rows;
  for (const auto& r : shape)
    if (const double length = std::sqrt(dot(r, r)); length > 0)
      rows.push_back({r.x / length, r.y / length, r.z / length});
  const std::size_t spanned = rank_of(std::move(rows), 1e-3);  // as constrained_freedom()
  if (shape.size() > 2 && spanned == 1)
    return "its particles are on a line, on which constraints do not hold them: expected "
           "\"bodies\"";
  if (shape.size() > 3 && spanned == 2 && dimension == 3)
    return "its particles are in a plane, in which constraints do not hold them: expected "
           "\"bodies\"";
  return "expected \"bodies\", or \"constraints\" of all distances in it";
}

/// The longest way of a shape.
double extent_of(const std::vector<Vec3<double>>& shape) {
  double most = 0;
  for (const auto& r : shape) most = std::max(most, std::sqrt(dot(r, r)));
  return most;
}

}  // namespace

RigidMolecules RigidMolecules::single(const std::vector<std::uint32_t>& ids) {
  RigidMolecules all;
  all.begin.resize(ids.size() + 1);
  std::iota(all.begin.begin(), all.begin.end(), 0u);
  all.member = ids, all.before.assign(ids.size(), 0);
  all.measure();
  return all;
}

RigidMolecules RigidMolecules::of(const Group& group, const std::string& key, Setup& setup) {
  RigidMolecules all;
  const Configuration& c = setup.configuration();
  const Topology& t = c.topology;
  if (t.molecule.empty() && t.body.empty()) {
    setup.error(key, "the system has no molecules: expected \"bodies\", or particles with bonds");
    return {};
  }
  const LinkedMolecules linked(t);
  const Molecules& molecules = linked.molecules;
  const auto constraints = constraints_of(t, molecules);
  for (std::uint32_t m = 0; m < molecules.count(); ++m) {
    const std::span<const std::uint32_t> ids(molecules.member.data() + molecules.begin[m],
                                             molecules.size(m));
    const auto within = std::ranges::count_if(ids, [&](auto id) { return group.has(id); });
    if (within == 0) continue;
    if (std::size_t(within) < ids.size()) {
      setup.error(key, fmt::format("{} of the {} particles of the molecule of particle {} are in "
                                   "the group \"{}\": expected a group of whole molecules",
                                   within, ids.size(), ids.front(), group.name()));
      return {};
    }
    const std::span<const std::uint32_t> links(linked.before.data() + molecules.begin[m],
                                               molecules.size(m));
    const std::vector<Vec3<double>> shape = shape_of(c, ids, links);
    if (ids.size() > 1 && !is_one_body(t, ids) && !is_held(c, ids, constraints[m])) {
      setup.error(key, fmt::format("the molecule of particle {}, of {} particles, is not rigid: {}",
                                   ids.front(), ids.size(), advice(shape, c.box.dimension)));
      return {};
    }
    all.member.insert(all.member.end(), ids.begin(), ids.end());
    all.before.insert(all.before.end(), links.begin(), links.end());
    all.begin.push_back(std::uint32_t(all.member.size()));
    all.extent = std::max(all.extent, extent_of(shape));
  }
  all.measure();
  if (all.largest < 2)
    setup.error(key,
                fmt::format("no molecule of the group \"{}\" has several particles", group.name()));
  return all;
}

void RigidMolecules::measure() {
  for (std::uint32_t m = 0; m < count(); ++m) {
    const std::uint32_t size = begin[m + 1] - begin[m];
    largest = std::max(largest, size), smallest = m == 0 ? size : std::min(smallest, size);
  }
}

}  // namespace perrin::monte_carlo
