// Clusters of sixteen particles, cut from columns: what cluster lists
// (neighbor/clusters/clusters.h) are lists of.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/system/particles.h"
#include "neighbor/clusters/cluster_ghosts.h"
#include "neighbor/columns/column_sort.h"
#include "neighbor/columns/own_and_ghosts.h"
#include "neighbor/four_positions.h"
#include "neighbor/inline.h"

namespace perrin {

constexpr int cluster_size = 16;

/// Clusters as loops see them. [cluster] where nothing else is said.
struct ClusterBoxes {
  ColumnGrid grid;
  Metric metric;
  std::int64_t clusters;
  const std::uint32_t *first, *end;   // cluster c: particles first[c] … end[c]-1 in memory
  const std::uint32_t* column_first;  // [column] clusters
  const Position* origin;             // near the middle of the members
  const std::uint32_t *low, *high;    // of members along the columns, fixed-point
  const Real* boxes;                  // [lower x, y, z, upper x, y, z][cluster]
  const Real* coordinates;            // [cluster][x, y, z][lane], from the origin
};

/// A vector in units of positions as a length.
PERRIN_INLINE Real3 length_of(const Metric& m, double x, double y, double z) {
  return {Real(double(m.xx) * x + double(m.xy) * y + double(m.xz) * z),
          Real(double(m.yy) * y + double(m.yz) * z), Real(double(m.zz) * z)};
}

namespace detail {

/// Writes the present coordinates of a cluster's members, seen from its origin: x, y, z of all
/// lanes. Lanes without a particle are put where nothing reaches them.
struct LoadCluster {
  const Position* position;
  const Position* origin;
  const std::uint32_t *first, *end;
  Metric metric;
  Real far;

  PERRIN_INLINE void operator()(std::int64_t cluster, Real* to) const {
    constexpr int width = cluster_size;
    const std::uint32_t count = end[cluster] - first[cluster];
    const Position* p = position + first[cluster];
    const __m128i shift = FourPositions::load(origin + cluster);
    // Four at a time: GCC would take them one number at a time. Beyond the last member other
    // particles or spare memory are read, and then overwritten.
    for (int k = 0; k < width; k += 4) {
      auto* x = reinterpret_cast<FourReals*>(to + k);
      auto* y = reinterpret_cast<FourReals*>(to + width + k);
      auto* z = reinterpret_cast<FourReals*>(to + 2 * width + k);
      FourPositions::from(p + k, shift).to_lengths(metric, *x, *y, *z);
    }
    for (std::uint32_t k = count; k < std::uint32_t(width); ++k)
      to[k] = to[width + k] = to[2 * width + k] = far;
  }
};

}  // namespace detail

/// Where each domain sorts its own particles (`apart`), it has the clusters of its share and of
/// what is near, numbered in the order of all; columns of which it knows nothing are empty.
class ClusterSet {
 public:
  /// `idle`: [type] 1 where no other particle is ever looked for. Such particles stand at the end
  /// of their column and have clusters of their own; empty: there are none.
  explicit ClusterSet(Particles& particles, std::vector<std::uint8_t> idle = {})
      : particles_(&particles), idle_(std::move(idle)) {}

  /// Sorts the particles in memory and cuts them into clusters, for lists that reach so far
  /// (length). `apart`: all domains call it, and only their own particles need be known.
  void cut(double reach, bool apart = false);

  std::uint32_t size() const { return std::uint32_t(places_.first.size()); }
  /// How many there are in all.
  std::uint64_t total() const { return total_; }
  /// The number here of the first cluster that is number `of_all` of all, or comes after it.
  std::uint32_t number_here(std::uint64_t of_all) const;
  /// The cluster in which particle `id` is, as `index` says; size() where that is not known here.
  std::uint32_t cluster_of(std::uint32_t id) const;
  ClusterBoxes view() const;
  const ColumnGrid& grid() const { return grid_; }
  const ClusterPlaces& places() const { return places_; }
  const std::uint32_t* type() const { return type_.data(); }  // [cluster][lane]
  /// The place [u][v] of the column that a cluster is in.
  std::uint32_t column_of(std::uint32_t cluster) const;
  detail::LoadCluster loader() const;
  /// Corners of boxes are sums of rounded numbers: this much further is to be looked (length).
  Real box_slack() const { return box_slack_; }
  std::int64_t bytes() const;  // of memory

 private:
  void part_columns(const Position* position);
  void cut_columns(const Position* position, double reach);
  void find_places(bool apart);
  void make_boxes();

  Particles* particles_;
  std::vector<std::uint8_t> idle_;
  ColumnGrid grid_{};
  ColumnSort sort_;
  OwnAndGhosts known_;
  ClusterPlaces places_;
  std::vector<std::uint32_t> column_first_;
  std::vector<std::uint32_t> idle_first_;  // [column] the first idle one, in the order; or the end
  std::uint64_t total_ = 0;
  std::vector<std::int64_t> layer_first_;  // apart: [layer of columns] clusters of all before it
  std::vector<Position> origin_;
  std::vector<std::uint32_t> low_, high_;
  std::vector<Real> boxes_;
  Buffer<std::uint32_t> type_;
  Buffer<Real> coordinates_;
  Real box_slack_ = 0, far_ = 0;
};

}  // namespace perrin
