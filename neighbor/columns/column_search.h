// The search without lists on the CPU: in every step the particles are sorted into columns of cells, and
// every pair_loop() goes through the neighbouring columns.
//
// With interaction sorting the particles of a column are ordered along it, and what a column offers to
// a particle is cut at both ends where the distance along the axis, with what the distance to the column
// leaves of the range, is too long: E. S. Fomin's sorting of interactions, with columns instead of pairs
// of cells. Without, whole cells are tested (column_loop.h has the loop).
#pragma once

#include "neighbor/columns/column_sort.h"

namespace perrin {

/// Cartesian coordinates of which differences are exact and, bit by bit, opposite for the two
/// particles of a pair. In the default build multiples of a power of two of the length, modulo 2³².
#ifdef PERRIN_DOUBLE
using Coordinate = double;
#else
using Coordinate = std::uint32_t;
#endif

/// By place in the order of columns, bins and, within these, along the column or by id.
struct ColumnView {
  ColumnGrid grid;  // slack 0 where whole bins are tested
  bool sorted, orthogonal;
  std::int64_t n;
  double range;
  Vec3<double> per_length;        // fixed-point units along the axes of the grid
  const std::int32_t* start;      // of bins
  const std::uint32_t* order;     // memory indices
  const std::uint32_t *w, *type;  // fixed-point coordinate along the columns
  const Coordinate *x, *y, *z;
  const Position* position;                                      // by memory index
  Vec3<Vec3<Coordinate>> edge;                                   // of the box
  Real unit;                                                     // length of a unit of Coordinate
  Real far;                                                      // out of reach of everybody
  const std::uint32_t *id, *index, *exclusion_begin, *excluded;  // exclusion_begin may be nullptr
};

class ColumnSearch {
 public:
  /// `cells`: columns to the range, 1 or 2; 0: as Perrin chooses.
  ColumnSearch(const Particles& particles, double range, bool sorted, int cells);

  /// False: columns would be so wide against the range that coordinates are ambiguous.
  bool fits() const { return fits_; }
  bool sorted() const { return sorted_; }
  /// Takes the particles where they are now. `reorder`: also in memory.
  void sort(Particles& particles, bool reorder);
  ColumnView view(const Particles& particles, const std::uint32_t* exclusion_begin,
                  const std::uint32_t* excluded) const;

 private:
  ColumnGrid grid_{};
  double range_;
  bool sorted_, orthogonal_, fits_ = true;
  Vec3<double> per_length_;
  double unit_ = 1;
  Vec3<Vec3<double>> edge_;  // in units
  ColumnSort sort_;
  Buffer<std::uint32_t> w_, type_;
  Buffer<Coordinate> x_, y_, z_;
};

}  // namespace perrin
