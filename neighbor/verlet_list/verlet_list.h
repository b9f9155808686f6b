// A list of memory indices for every particle: `rows`.
//
// Rows lie one behind the other, each as long as it must be; classes of particles (row_plan.h) are
// searched, and on a GPU shared among threads, as suits their ranges. The way to find pairs where
// ranges of types differ much, or where most of the box is empty.
#pragma once

#include <cstdint>

#include "neighbor/cells/cell_sort.h"
#include "neighbor/strain.h"
#include "neighbor/traversal_input.h"
#include "neighbor/verlet_list/row_plan.h"
#include "neighbor/verlet_list/row_search.h"

namespace perrin {

/// The list as a kernel sees it.
struct RowView {
  const std::uint32_t *begin, *count, *entries;
  const RowGroup* groups;  // on a GPU
  std::int64_t group_count;
  Share own;  // only these particles have rows

  /// The neighbours of particle i are row(i)[0 … count[i]-1].
  PERRIN_HD const std::uint32_t* row(std::int64_t i) const {
    return entries + std::int64_t(begin[i]) * row_unit;
  }
};

class VerletList {
 public:
  static constexpr const char* name = "verlet_list";
  static constexpr const char* help = "one list per particle";
  static constexpr bool lists = true;
  static constexpr bool on_gpu = true, on_cpu = true;

  explicit VerletList(const TraversalInput& input);
  bool fits() const { return true; }
  /// Sorts the particles and lists their neighbours, those of one class after the other, each in
  /// the order of cells and ids. Device work only; halts a CUDA device if the entries have no room.
  void build(const ListBuild& build);
  bool enlarge();
  /// After a change of the box. Device work.
  void follow_box(Real* limit2);
  double mean_entries() const;
  std::int64_t bytes() const;
  std::string report() const { return {}; }
  Strain strain(const Box& box) const { return metric_strain(box); }

  const Particles& particles() const { return *particles_; }
  RowView view() const;

 private:
  void make_groups(int lanes);
  void sort_into_cells();
  RowSearch search();

  Particles* particles_;
  ExclusionView exclusions_;
  RowPlan plan_;
  bool reorder_;  // sort the particles in memory
  bool tilts_;    // of the box may change
  Buffer<RowGrid> grids_;
  Buffer<RowPair> pairs_;
  Buffer<std::uint32_t> class_of_;  // by type
  Buffer<Real> reach2_;             // [type · types + type]
  Buffer<RowGroup> groups_;
  std::int64_t group_count_ = 0;
  CellSort cells_;
  Buffer<std::uint32_t> order_, begin_, count_, entries_;
  // [0] units in use during a build, [1] wanted when there was no room
  Buffer<std::uint32_t> words_;
};

}  // namespace perrin
