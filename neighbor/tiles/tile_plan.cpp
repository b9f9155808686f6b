#include "neighbor/tiles/tile_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace perrin {
namespace {

/// Cells half as wide as the list's range, for close candidates, or whole ones where half a cell
/// would be empty. Wider where the box is nearly empty, so that memory follows the particles.
Vec3<std::int32_t> choose_cells(const Box& box, double reach, std::int64_t particles,
                                const TileWishes& wishes) {
  const auto heights = box.padded_heights();
  const double limit = double(std::max<std::int64_t>(4096, 4 * particles));
  const bool dense = wishes.cells > 0 ? wishes.cells == 2
                                      : wishes.density * std::pow(reach / 2, box.dimension) > 1.2;
  Vec3<std::int32_t> cells{};
  for (double width = dense ? reach / 2 : reach;; width *= 1.1) {
    double total = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double n = axis < box.dimension ? std::floor(heights[axis] / width * (1 + 1e-9)) : 1;
      cells[axis] = std::int32_t(std::clamp(n, 1.0, 1048576.0));
      total *= cells[axis];
    }
    if (total <= limit) return cells;
  }
}

/// Bricks grow along their shortest edge until they are large enough.
class BrickChoice {
 public:
  BrickChoice(const Vec3<std::int32_t>& cells, std::int64_t particles, const TileWishes& wishes)
      : cells_(cells),
        wishes_(wishes),
        per_cell_(double(particles) / (wishes.occupied * double(cells.x) * cells.y * cells.z)) {}

  Vec3<std::int32_t> log2() {
    for (bool grown = true; grown;) {
      grown = false;
      for (int axis = 0; axis < 3; ++axis) {
        if (!may_grow(axis)) continue;
        ++log2_[axis];
        grown = true;
      }
    }
    return log2_;
  }

 private:
  bool may_grow(int axis) const {
    Vec3<std::int32_t> next = log2_;
    ++next[axis];
    if (enough_before(next, axis) || (1 << next[axis]) > cells_[axis]) return false;
    for (int k = 0; k < 3; ++k)
      if (log2_[k] < log2_[axis] && (2 << log2_[k]) <= cells_[k]) return false;
    return true;
  }
  /// At most four cells along an axis and 192 particles. Two bricks for each multiprocessor, unless
  /// they would have few particles for their halo.
  bool enough_before(const Vec3<std::int32_t>& next, int axis) const {
    if (wishes_.brick > 0) return (1 << (next.x + next.y + next.z)) > wishes_.brick;
    double bricks = wishes_.occupied, inside = per_cell_;
    for (int k = 0; k < 3; ++k) {
      bricks *= std::ceil(double(cells_[k]) / (1 << next[k]));
      inside *= double(1 << next[k]);
    }
    return next[axis] > 2 || inside > 192 ||
           (bricks < 2.0 * wishes_.multiprocessors && inside > 20);
  }

  Vec3<std::int32_t> cells_, log2_{};
  TileWishes wishes_;
  double per_cell_;  // particles
};

/// The halo along an axis, and the grid of coordinates in a tile.
/// `least`, `most`: heights between which the choice is right.
void choose_axis(TileGeometry& g, const Box& box, double reach, double growth, int axis,
                 double& least, double& most) {
  const double height = box.padded_heights()[axis];
  const double width = height / g.cells[axis];
  const bool flat = axis >= box.dimension;
  g.reach[axis] = flat ? 0 : std::int32_t(std::ceil(reach / width * (1 - 1e-8)));
  const std::int32_t wanted = (1 << g.log2_brick[axis]) + 2 * g.reach[axis];
  g.halo[axis] = std::min(wanted, g.cells[axis]);
  // Is the image of a neighbour that is nearest to the brick also nearest to the particle?
  const double far = (1 << g.log2_brick[axis]) * width / 2 + 1.3 * reach;
  const bool unique = flat || (wanted < g.cells[axis] && far < height / 2);
  g.inverse_period[axis] = unique ? Real(0) : Real(1 / 4294967296.0);
  g.wraps = g.wraps || !unique;
  g.wide = g.wide || (!flat && wanted * width > 16 * reach);
  const double half_extent =
      unique ? std::min(0.5, (wanted / 2.0 + 1) / g.cells[axis]) * 4294967296.0 : 2147483648.0;
  int drop = 0;
  if (sizeof(Real) == 4)
    while (half_extent > 16777216.0 * double(1u << drop)) ++drop;
  g.mask[axis] = ~((1u << drop) - 1);
  g.half[axis] = drop == 0 ? 0 : 1u << (drop - 1);
  const double finest = std::max(half_extent / (4294967296.0 * 16777216.0), 1 / 2147483647.0);
  const double unit = std::exp2(std::ceil(std::log2(growth * height * finest)));
  g.grid[axis] = std::int32_t(std::lround(height / unit));
  g.unit[axis] = Real(unit);
  least = 0, most = unit / finest;
  if (flat) return;
  const double slack = 1 - 1e-8;
  if (g.halo[axis] < g.cells[axis]) least = reach * g.cells[axis] / g.reach[axis] * slack;
  const double in_brick = double(1 << g.log2_brick[axis]) / g.cells[axis];
  if (unique) least = std::max(least, 2.6 * reach / (1 - in_brick) * slack);
}

}  // namespace

TileGeometry choose_tile_geometry(const Box& box, double reach, std::int64_t particles,
                                  const TileWishes& wishes, Vec3<double>* least,
                                  Vec3<double>* most) {
  Vec3<double> shortest, longest;
  TileGeometry g{};
  g.cells = choose_cells(box, reach, particles, wishes);
  g.log2_brick = BrickChoice(g.cells, particles, wishes).log2();
  g.orthogonal = box.orthogonal() && !wishes.tilts;
  for (int axis = 0; axis < 3; ++axis)
    choose_axis(g, box, reach, wishes.growth, axis, shortest[axis], longest[axis]);
  if (least) *least = shortest, *most = longest;
  g.lengths = sizeof(Real) == 4 && !g.is_general();
  g.prepare();
  return g;
}

double tile_list_cost(const Particles& particles, const Ranges& reaches, const Crowding& crowding,
                      int cells) {
  const Box& box = particles.box();
  const double reach = reaches.longest(), most = crowding.particles();
  const TileGeometry g = choose_tile_geometry(
      box, reach, particles.size(),
      {crowding.density, crowding.occupied, particles.device().multiprocessors(), cells, 0});
  const auto heights = box.padded_heights();
  double searched = crowding.density;  // all of a halo along x, what is in reach along y and z
  for (int axis = 0; axis < box.dimension; ++axis) {
    const double side = axis == 0 ? g.halo.x : std::min(2 * g.reach[axis] + 1, g.cells[axis]);
    searched *= side * heights[axis] / g.cells[axis];
  }
  // Rows of eight particles are as long as the longest of them.
  std::vector<std::pair<double, double>> types;  // entries, share of the particles
  for (std::size_t a = 0; a < crowding.by_type.size(); ++a) {
    double entries = 0;
    for (std::size_t b = 0; b < crowding.by_type.size(); ++b) {
      const double r = reaches(a, b);
      const double ball = box.dimension == 2 ? M_PI * r * r : 4.18879 * r * r * r;
      entries += std::min(1.0, crowding.density / most * ball) * double(crowding.by_type[b]);
    }
    types.push_back({entries, double(crowding.by_type[a]) / most});
  }
  std::sort(types.begin(), types.end());
  double padded = 0, below = 0;
  for (const auto& [entries, share] : types) {
    padded += entries * (std::pow(below + share, 8) - std::pow(below, 8));
    below += share;
  }
  return 1.15 * padded + 0.1 * std::min(searched, most);
}

}  // namespace perrin
