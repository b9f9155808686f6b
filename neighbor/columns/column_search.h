// The search without lists on the CPU: in every step the particles are sorted into columns of
// cells, and every pair_loop() goes through the neighbouring columns.
//
// With interaction sorting "x" the particles of a column are ordered along it, and what a column
// offers to a particle is cut at both ends where the distance along the axis, with what the
// distance to the column leaves of the range, is too long: E. S. Fomin's sorting of interactions,
// with columns instead of pairs of cells (neighbor/sorted_cells has these). With "none" whole cells
// are tested. column_loop.h has the loop.
#pragma once

#include <cmath>

#include "neighbor/columns/column_sort.h"
#include "neighbor/strain.h"
#include "neighbor/tiles/tile_geometry.h"
#include "neighbor/traversal_input.h"

namespace perrin {

/// Cartesian coordinates of which differences are exact and, bit by bit, opposite for the two
/// particles of a pair. In the default build multiples of a power of two of the length, modulo 2³².
#ifdef PERRIN_DOUBLE
using Coordinate = double;
PERRIN_HD Real difference(Coordinate a, Coordinate b, Real) { return a - b; }
inline Coordinate whole_units(double x) { return x; }
#else
using Coordinate = std::uint32_t;
PERRIN_HD Real difference(Coordinate a, Coordinate b, Real unit) {
  return Real(std::int32_t(a - b)) * unit;
}
inline Coordinate whole_units(double x) { return Coordinate(std::int64_t(std::llround(x))); }
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
  const Position* position;     // by memory index
  Vec3<Vec3<Coordinate>> edge;  // of the box
  Real unit;                    // length of a unit of Coordinate
  Real far;                     // out of reach of everybody
  const std::uint32_t *id, *index;
  ExclusionView exclusions;
  Share own;  // searched for are the neighbours of these particles
};

class ColumnSearch {
 public:
  static constexpr const char* name = "cells";
  static constexpr const char* help = "a search in every step, without lists";
  static constexpr bool lists = false;
  static constexpr bool on_gpu = false, on_cpu = true;
  static bool serves(const NeighborSettings& s) { return s.interaction_sorting != "axes"; }

  /// `from_middles`: differences between the middle of a cell and a particle that one in the cell
  /// may interact with are to be exact, too.
  explicit ColumnSearch(const TraversalInput& input, bool from_middles = false);
  /// False: columns would be so wide against the range that coordinates are ambiguous.
  bool fits() const { return fits_; }
  TileCounter counter() const { return {}; }  // particles are counted by sort()
  /// Takes the particles where they are now; every sixteenth step brings them into order in memory.
  void sort(const StepSort& step);
  bool enlarge() { return false; }
  /// After a change of the box.
  void follow_box(Real* limit2);
  double mean_entries() const { return 0; }
  std::int64_t bytes() const { return 0; }  // as much as the particles have, and no more
  std::string report() const { return sorted_ ? "" : " unsorted"; }
  Strain strain(const Box& box) const { return unit_strain(double(Real(unit_)), box); }

  const Particles& particles() const { return *particles_; }
  ColumnView view() const;
  const ColumnGrid& grid() const { return grid_; }
  double unit() const { return unit_; }
  const Vec3<Vec3<double>>& edge_in_units() const { return edge_; }

 private:
  void find_coordinates();
  void choose_grid();
  void choose_unit();

  Particles* particles_;
  ExclusionView exclusions_;
  ColumnGrid grid_{};
  double range_;
  int columns_to_range_;
  bool sorted_, orthogonal_, from_middles_, fits_ = true;
  Vec3<double> per_length_;
  double unit_ = 1;
  Vec3<Vec3<double>> edge_;  // in units
  ColumnSort sort_;
  Buffer<std::uint32_t> w_, type_;
  Buffer<Coordinate> x_, y_, z_;
};

}  // namespace perrin
