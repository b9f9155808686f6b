#include "neighbor/verlet_list/row_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace perrin {
namespace {

std::int32_t cells_reached(double reach, double edge) {
  return std::int32_t(std::min(1e9, std::ceil(reach / edge * (1 - 1e-6))));
}

/// A division into classes, and what it costs.
struct Division {
  const Box& box;
  const Ranges& reaches;
  const std::vector<std::int64_t>& particles;
  double density;
  RowCosts costs;
  std::vector<std::vector<std::size_t>> classes;  // types

  double members(std::size_t c) const {
    double n = 0;
    for (const std::size_t t : classes[c]) n += double(particles[t]);
    return n;
  }
  double reach(std::size_t a, std::size_t b) const {
    double longest = 0;
    for (const std::size_t t : classes[a])
      for (const std::size_t u : classes[b])
        if (particles[t] > 0 && particles[u] > 0) longest = std::max(longest, reaches(t, u));
    return longest;
  }
  double share(std::size_t c) const {  // of all particles
    const double n = std::accumulate(particles.begin(), particles.end(), 0.0);
    return n > 0 ? members(c) / n : 0;
  }
  double limit(std::size_t c) const { return std::max(64.0, 4 * members(c)); }

  /// For a particle that reaches so far into the grid of class b.
  double tests(double reach, const RowGrid& grid, std::size_t b) const {
    if (reach == 0) return 0;
    double rows = 1, volume = box.dimension == 2 ? M_PI : 4.18879, cube = 1, whole = 1;
    bool folded = false;
    for (int axis = 0; axis < box.dimension; ++axis) {
      const double edge = double(grid.edge[axis]), n = grid.cells[axis];
      const double side = std::min(n, 2.0 * cells_reached(reach, edge) + 1);
      if (axis > 0) rows *= side;
      cube *= side * edge;
      whole *= n * edge;
      volume *= reach + 0.5 * edge;
      folded = folded || grid.fold[axis] > 0;
    }
    if (!box.orthogonal() || volume > cube) volume = cube;
    const double seen = density * share(b) + (folded ? members(b) / whole : 0);
    return rows * costs.row + std::min(seen * volume, members(b));
  }
  /// The grid of class b that costs least; `cost` of all that look into it.
  RowGrid best_grid(std::size_t b, double& cost) const {
    double longest = 0, shortest = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < classes.size(); ++a) {
      const double r = reach(a, b);
      longest = std::max(longest, r);
      if (r > 0) shortest = std::min(shortest, r);
    }
    cost = 0;
    if (members(b) == 0) return make_row_grid(box, 1e300, 1);
    if (longest == 0) {  // nobody looks into it; but cells are sorted, each by itself
      constexpr double of_a_cell = 8;
      const double width = std::pow(of_a_cell / (density * share(b)), 1.0 / box.dimension);
      return make_row_grid(box, width, limit(b));
    }
    RowGrid best{};
    const auto heights = box.padded_heights();
    double widest = 2 * longest;
    for (int axis = 0; axis < box.dimension; ++axis) widest = std::max(widest, heights[axis]);
    cost = std::numeric_limits<double>::infinity();
    for (double width = shortest / 3; width <= widest; width *= width < 1.5 * longest ? 1.26 : 2) {
      const RowGrid grid = make_row_grid(box, width, limit(b));
      double sum = 0;
      for (std::size_t a = 0; a < classes.size(); ++a)
        sum += members(a) * tests(reach(a, b), grid, b);
      if (sum < cost) best = grid, cost = sum;
    }
    return best;
  }
  double cost() const {
    double sum = 0;
    for (std::size_t b = 0; b < classes.size(); ++b) {
      double of_one = 0;
      best_grid(b, of_one);
      sum += of_one;
    }
    return sum;
  }
  void merge(std::size_t a, std::size_t b) {  // a < b
    classes[a].insert(classes[a].end(), classes[b].begin(), classes[b].end());
    classes.erase(classes.begin() + std::ptrdiff_t(b));
  }
};

/// Types that interact alike with everybody belong together.
void begin_with_alike(Division& division, std::size_t types) {
  constexpr std::size_t most = 10;  // beyond that merging would take too long
  for (std::size_t t = 0; t < types; ++t) {
    const auto alike = [&](const std::vector<std::size_t>& c) {
      if (division.particles[t] == 0 || !division.costs.classes) return true;  // anywhere
      for (std::size_t u = 0; u < types; ++u)
        if (division.reaches(t, u) != division.reaches(c.front(), u)) return false;
      return true;
    };
    const auto home = std::find_if(division.classes.begin(), division.classes.end(), alike);
    if (home != division.classes.end())
      home->push_back(t);
    else
      division.classes.push_back({t});
  }
  const auto own = [&](std::size_t c) {
    double longest = 0;
    for (std::size_t d = 0; d < division.classes.size(); ++d)
      longest = std::max(longest, division.reach(c, d));
    return longest;
  };
  while (division.classes.size() > most) {
    std::size_t a = 0, b = 1;
    double least = std::numeric_limits<double>::infinity();
    std::vector<double> size;
    for (std::size_t c = 0; c < division.classes.size(); ++c) size.push_back(own(c));
    for (std::size_t c = 0; c < size.size(); ++c)
      for (std::size_t d = c + 1; d < size.size(); ++d)
        if (std::abs(size[c] - size[d]) < least) least = std::abs(size[c] - size[d]), a = c, b = d;
    division.merge(a, b);
  }
}

}  // namespace

RowCosts row_costs(const Device& device) { return {device.is_cuda() ? 12.0 : 24.0}; }

std::int64_t RowPlan::cells() const {
  std::int64_t n = 0;
  for (const RowGrid& g : grids) n += std::int64_t(g.cells.x) * g.cells.y * g.cells.z;
  return n;
}

double RowPlan::mean(const std::vector<double>& of) const {
  double sum = 0, n = 0;
  for (std::size_t c = 0; c < classes(); ++c) {
    sum += of[c] * double(members[c]);
    n += double(members[c]);
  }
  return n > 0 ? sum / n : 0;
}

RowPlan plan_rows(const Box& box, const Ranges& reaches, const Crowding& crowding,
                  const RowCosts& costs) {
  const std::size_t types = crowding.by_type.size();
  const double density = crowding.density;
  Division division{box, reaches, crowding.by_type, density, costs, {}};
  begin_with_alike(division, types);
  for (double cost = division.cost(); division.classes.size() > 1;) {
    Division best = division;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < division.classes.size(); ++a)
      for (std::size_t b = a + 1; b < division.classes.size(); ++b) {
        Division merged = division;
        merged.merge(a, b);
        const double c = merged.cost();
        if (c < least) least = c, best.classes = merged.classes;
      }
    if (least > cost) break;
    cost = least;
    division.classes = best.classes;
  }

  RowPlan plan;
  const std::size_t k = division.classes.size();
  plan.class_of.resize(types);
  plan.entries.assign(k, 0), plan.tests.assign(k, 0);
  std::uint32_t first_cell = 0;
  for (std::size_t b = 0; b < k; ++b) {
    for (const std::size_t t : division.classes[b]) plan.class_of[t] = std::uint32_t(b);
    plan.members.push_back(std::int64_t(division.members(b)));
    double cost = 0;
    RowGrid grid = division.best_grid(b, cost);
    grid.first_cell = first_cell;
    first_cell += std::uint32_t(grid.cells.x * grid.cells.y * grid.cells.z);
    plan.grids.push_back(grid);
  }
  // Packets as wide as cells; so narrow that the image of a neighbour which is nearest to the first
  // of a packet is nearest to all.
  const auto heights = box.padded_heights();
  for (std::size_t a = 0; a < k; ++a) {
    double longest = 0, shortest = std::numeric_limits<double>::infinity();
    for (std::size_t b = 0; b < k; ++b)
      if (const double r = division.reach(a, b); r > 0)
        longest = std::max(longest, r), shortest = std::min(shortest, r);
    for (int axis = 0; axis < 3; ++axis) {
      const double cell = std::min(double(plan.grids[a].edge[axis]), 1.05 * shortest);
      const double room = axis < box.dimension ? heights[axis] / 2 - 1.001 * longest : cell;
      const double widest = (axis == 0 ? 2 : 1) * cell;
      plan.grids[a].packet[axis] = Real(std::clamp(widest, 0.0, std::max(0.0, room)));
      plan.grids[a].widest[axis] = axis < box.dimension ? Real(widest) : plan.grids[a].packet[axis];
    }
    plan.grids[a].longest = Real(longest);
  }
  plan.pairs.resize(k * k);
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = 0; b < k; ++b) {
      RowPair& pair = plan.pairs[a * k + b];
      const double reach = division.reach(a, b);
      const RowGrid& grid = plan.grids[b];
      pair.reach2 = Real(reach * reach);
      for (const std::size_t t : division.classes[a])
        for (const std::size_t u : division.classes[b])
          pair.mixed = pair.mixed || (crowding.by_type[t] > 0 && crowding.by_type[u] > 0 &&
                                      reaches(t, u) != reach);
      plan.tests[a] += division.tests(reach, grid, b);
    }
  // By types: lists hold no more than what is within the range of each.
  for (std::size_t t = 0; t < types; ++t)
    for (std::size_t u = 0; u < types; ++u) {
      const double r = reaches(t, u), n = double(crowding.by_type[u]), all = crowding.particles();
      const double ball = box.dimension == 2 ? M_PI * r * r : 4.18879 * r * r * r;
      const std::size_t a = plan.class_of[t];
      const double of_class = double(std::max<std::int64_t>(1, plan.members[a]));
      plan.entries[a] += double(crowding.by_type[t]) / of_class *
                         std::min(density * n / std::max(all, 1.0) * ball, n);
    }
  return plan;
}

}  // namespace perrin
