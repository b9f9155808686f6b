#include "engine/dynamics/close_pairs.h"

#include <algorithm>
#include <cmath>

#include "engine/device/tasks.h"
#include "engine/system/nearest_vector.h"

namespace perrin {
namespace {

constexpr double units_per_edge = 4294967296.0;

double padded_by(const Box& box, int axis) {
  return box.periodic[std::size_t(axis)] ? 1.0 : 1.0 + 2.0 * box.padding[axis];
}

std::uint32_t fraction_of(const Position& p, int axis) {
  return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

/// PairCells at least as wide as the distance; with fewer than three along an axis each is looked
/// at once.
struct PairCells {
  std::int64_t n[3] = {1, 1, 1};
  bool wraps[3];

  PairCells(const Box& box, double distance, std::size_t particles) {
    const auto heights = box.padded_heights();
    const double limit = std::max(64.0, 2.0 * double(particles));
    double width = distance;
    for (;; width *= 1.26) {
      for (int k = 0; k < box.dimension; ++k)
        n[k] = std::int64_t(std::clamp(std::floor(heights[k] / width), 1.0, 65536.0));
      if (double(n[0]) * double(n[1]) * double(n[2]) <= limit) break;
    }
    for (int k = 0; k < 3; ++k) wraps[k] = box.periodic[std::size_t(k)];
  }
  std::int64_t count() const { return n[0] * n[1] * n[2]; }
  std::int64_t place(const Position& p, int axis) const {
    return std::int64_t((std::uint64_t(fraction_of(p, axis)) * std::uint64_t(n[axis])) >> 32);
  }
  std::int64_t of(const Position& p) const {
    return (place(p, 0) * n[1] + place(p, 1)) * n[2] + place(p, 2);
  }
  /// The places around one along an axis. Returns how many.
  int around(std::int64_t at, int axis, std::int64_t (&places)[3]) const {
    int found = 0;
    for (std::int64_t d = -1; d <= 1; ++d) {
      std::int64_t to = at + d;
      if (to < 0 || to >= n[axis]) {
        if (!wraps[axis]) continue;
        to = (to + n[axis]) % n[axis];
      }
      if (std::find(places, places + found, to) == places + found) places[found++] = to;
    }
    return found;
  }
};

}  // namespace

PositionDistance::PositionDistance(const Box& box)
    : periodic_{box.periodic[0], box.periodic[1], box.dimension == 3 && box.periodic[2]},
      skewed_(!box.orthogonal()),
      padded_(box) {
  const double s[3] = {padded_by(box, 0), padded_by(box, 1), padded_by(box, 2)};
  padded_.length = {box.length.x * s[0], box.length.y * s[1], box.length.z * s[2]};
  padded_.xy *= s[1], padded_.xz *= s[2], padded_.yz *= s[2];
  const auto edges = padded_.edges();
  for (std::size_t k = 0; k < 3; ++k) edge_[k] = (1 / units_per_edge) * edges[k];
}

double PositionDistance::in_tilted_box(double x, double y, double z) const {
  const Vec3<double> r{x * edge_[0].x + y * edge_[1].x + z * edge_[2].x,
                       y * edge_[1].y + z * edge_[2].y, z * edge_[2].z};
  const Vec3<double> nearest = images_of(padded_).nearest(r);
  return dot(nearest, nearest);
}

std::vector<CloseCandidate> close_pairs(
    const Device& host, const Box& box, const std::vector<Position>& position,
    const std::vector<std::uint32_t>& ids, double distance,
    const std::function<bool(std::uint32_t, std::uint32_t)>& wanted) {
  const PairCells cells(box, distance, ids.size());
  std::vector<std::uint32_t> begin(std::size_t(cells.count()) + 1, 0);
  for (const std::uint32_t id : ids) ++begin[std::size_t(cells.of(position[id])) + 1];
  for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
  struct Member {
    Position position;
    std::uint32_t id;
  };
  std::vector<Member> sorted(ids.size());  // by cell, and by id
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (const std::uint32_t id : ids)
    sorted[next[std::size_t(cells.of(position[id]))]++] = {position[id], id};

  const PositionDistance measure(box);
  const double distance2 = distance * distance;
  const auto search = [&](const Member& a, std::vector<CloseCandidate>& found) {
    const auto look = [&](std::uint32_t first, std::uint32_t last) {
      for (std::uint32_t k = first; k < last; ++k) {
        const Member& b = sorted[k];
        if (b.id > a.id && measure.square(a.position, b.position) <= distance2 &&
            wanted(a.id, b.id))
          found.push_back({a.id, b.id});
      }
    };
    std::int64_t places[3][3];
    int count[3];
    for (int k = 0; k < 3; ++k) count[k] = cells.around(cells.place(a.position, k), k, places[k]);
    const bool row = count[2] > 1 && places[2][count[2] - 1] - places[2][0] == count[2] - 1;
    for (int x = 0; x < count[0]; ++x)
      for (int y = 0; y < count[1]; ++y) {
        const auto c = std::size_t((places[0][x] * cells.n[1] + places[1][y]) * cells.n[2]);
        if (row) {
          look(begin[c + std::size_t(places[2][0])],
               begin[c + std::size_t(places[2][count[2] - 1]) + 1]);
          continue;
        }
        for (int z = 0; z < count[2]; ++z)
          look(begin[c + std::size_t(places[2][z])], begin[c + std::size_t(places[2][z]) + 1]);
      }
  };
  constexpr std::size_t piece = 1024;
  const std::size_t pieces = (ids.size() + piece - 1) / piece;
  std::vector<std::vector<CloseCandidate>> found(pieces);
  for_tasks(
      host, std::int64_t(pieces),
      [&](std::int64_t task, int) {
        const std::size_t first = std::size_t(task) * piece;
        for (std::size_t k = first; k < std::min(first + piece, ids.size()); ++k)
          search(sorted[k], found[std::size_t(task)]);
      },
      pieces > 4);
  std::vector<CloseCandidate> all;
  for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace perrin
