// Clusters of sixteen particles, cut from columns: what cluster lists
// (neighbor/clusters/clusters.h) are lists of.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/particles.h"
#include "neighbor/columns/column_sort.h"
#include "neighbor/four_positions.h"
#include "neighbor/inline.h"

namespace perrin {

constexpr int cluster_size = 16;

/// Clusters as loops see them. [cluster] where nothing else is said.
struct ClusterBoxes {
  ColumnGrid grid;
  Metric metric;
  std::int64_t clusters;
  const std::uint32_t* first;         // cluster c: particles first[c] … first[c+1]-1 in memory
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
  const std::uint32_t* first;
  Metric metric;
  Real far;

  PERRIN_INLINE void operator()(std::int64_t cluster, Real* to) const {
    constexpr int width = cluster_size;
    const std::uint32_t count = first[cluster + 1] - first[cluster];
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

class ClusterSet {
 public:
  explicit ClusterSet(Particles& particles) : particles_(&particles) {}

  /// Sorts the particles in memory and cuts them into clusters, for lists that reach so far
  /// (length).
  void cut(double reach);

  std::uint32_t size() const { return std::uint32_t(first_.size() - 1); }
  ClusterBoxes view() const;
  const ColumnGrid& grid() const { return grid_; }
  const std::vector<std::uint32_t>& first() const { return first_; }
  const std::uint32_t* type() const { return type_.data(); }  // [cluster][lane]
  /// The place [u][v] of the column that a cluster is in.
  std::uint32_t column_of(std::uint32_t cluster) const;
  detail::LoadCluster loader() const;
  /// Corners of boxes are sums of rounded numbers: this much further is to be looked (length).
  Real box_slack() const { return box_slack_; }
  std::int64_t bytes() const;  // of memory

 private:
  void cut_columns(double reach);
  void make_boxes();

  Particles* particles_;
  ColumnGrid grid_{};
  ColumnSort sort_;
  std::vector<std::uint32_t> first_{0}, column_first_;
  std::vector<Position> origin_;
  std::vector<std::uint32_t> low_, high_;
  std::vector<Real> boxes_;
  Buffer<std::uint32_t> type_;
  Buffer<Real> coordinates_;
  Real box_slack_ = 0, far_ = 0;
};

}  // namespace perrin
