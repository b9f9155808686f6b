// The search without lists on the CPU with interactions sorted along axes, after E. S. Fomin
// (docs/papers.md): in every step the particles are sorted into cells as wide as the range, and
// those of each cell along the 13 axes that join it to its neighbours. Of a neighbour a particle
// meets those that are no further away along the axis of the two cells than the range; and of the
// cell's own particles only those that have such neighbours are looked at. By geometry two thirds
// of what is met is within the range, of whole cells 16 %; vectors of sixteen cost some of that.
//
// Pairs of two cells are found from one side. Worth its orders where cells hold many particles:
// long ranges, dense systems.
#pragma once

#include "neighbor/columns/column_search.h"

namespace perrin {

/// An axis along which the particles of cells are ordered: from a cell to a neighbour.
struct CellAxis {
  int step[3];       // in cells, along the axes of the grid
  Vec3<Real> along;  // a unit vector
  Real low, scale;  // the place (r · along - low) · scale, r from the cell's middle, as an integer
  std::int32_t left;  // places that the distance of the middles leaves of the range
};

/// By place in the order of cells.
struct SortedCellView {
  static constexpr int most_axes = 13;

  ColumnView cells;  // whose bins are the cells
  int axes, cells_of_part;
  CellAxis axis[most_axes];
  Vec3<double> step[3];        // from a cell to the next, in units of Coordinate
  const std::uint32_t* words;  // [axis][place]: within each cell, in order along the axis …
  int index_bits;              // … the place on the axis above the index in the cell
  std::int32_t* met;  // [axis][cell]: how many of its order have been met from across the axis

  std::int64_t cell_count() const {
    return std::int64_t(cells.grid.cells[0]) * cells.grid.cells[1] * cells.grid.cells[2];
  }
  /// Of a cell by its numbers along the axes of the grid.
  Vec3<Coordinate> middle(const std::int64_t (&cell)[3]) const {
    Vec3<double> m{};
    for (int k = 0; k < 3; ++k) m += (double(cell[k]) + 0.5) * step[k];
    return {whole_units(m.x), whole_units(m.y), whole_units(m.z)};
  }
  void numbers_of(std::int64_t cell, std::int64_t (&to)[3]) const {
    to[2] = cell % cells.grid.cells[2], cell /= cells.grid.cells[2];
    to[1] = cell % cells.grid.cells[1], to[0] = cell / cells.grid.cells[1];
  }
};

class SortedCells {
 public:
  static constexpr const char* name = "cells";
  static constexpr const char* help = ColumnSearch::help;
  static constexpr bool lists = false;
  static constexpr bool on_gpu = false, on_cpu = true;
  static bool serves(const NeighborSettings& s) { return s.interaction_sorting == "axes"; }

  explicit SortedCells(const TraversalInput& input);
  /// False: cells would be so wide against the range that coordinates are ambiguous, or narrower
  /// than the range.
  bool fits() const;
  TileCounter counter() const { return {}; }
  void sort(const StepSort& step);
  bool enlarge() { return false; }
  void follow_box(Real* limit2);
  double mean_entries() const { return 0; }
  std::int64_t bytes() const { return words_.bytes() + sums_.bytes() + met_.bytes(); }
  std::string report() const { return " sorted along axes"; }
  Strain strain(const Box& box) const { return cells_.strain(box); }

  const Particles& particles() const { return cells_.particles(); }
  SortedCellView view() const;
  /// For a pair loop with so many sums: memory for what particles get in their own cell, and for
  /// what they are given along each axis; nobody has been met yet.
  Real* room_for_sums(int sums) const;

 private:
  static TraversalInput whole_cells(const TraversalInput& input);
  void choose_axes();
  void order();

  ColumnSearch cells_;
  double range_;
  SortedCellView plan_{};  // what depends on the box alone
  int index_bits_ = 0;
  Buffer<std::uint32_t> words_;
  mutable Buffer<Real> sums_;  // of one pair loop at a time
  mutable Buffer<std::int32_t> met_;
};

/// Particles in a cell, as wide as the range, of a system of that density.
double particles_of_cell(const Box& box, double range, double density);

}  // namespace perrin
