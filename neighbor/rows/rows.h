// A list of memory indices for every particle: `rows`.
//
// Rows lie one behind the other, each as long as it must be; classes of particles (row_plan.h) are
// searched, and on a GPU shared among threads, as suits their ranges. The way to find pairs where
// ranges of types differ much, or where most of the box is empty.
#pragma once

#include <cstdint>

#include "engine/core/particles.h"
#include "neighbor/rows/row_plan.h"
#include "neighbor/rows/row_search.h"

namespace perrin {

/// The list as a kernel sees it.
struct RowView {
  const std::uint32_t *begin, *count, *entries;
  const RowGroup* groups;  // on a GPU
  std::int64_t group_count;

  /// The neighbours of particle i are row(i)[0 … count[i]-1].
  PERRIN_HD const std::uint32_t* row(std::int64_t i) const {
    return entries + std::int64_t(begin[i]) * row_unit;
  }
};

RowCosts row_costs(const Device& device);

class RowList {
 public:
  struct Choices {
    int lanes = 0;        // threads per particle on a GPU, a power of two; 0: chosen
    bool reorder = true;  // sort the particles in memory
    bool classes = true;  // a search for each pair of classes
  };
  /// `reaches`: ranges and skin.
  RowList(Particles& particles, const Ranges& reaches, const Crowding& crowding,
          const Choices& choices);

  struct WhenBuilt {       // and nothing was full
    std::uint32_t* flag;   // set to 0
    std::int64_t* builds;  // add one
  };
  /// Sorts the particles and lists their neighbours, those of one class after the other, each in the
  /// order of cells and ids. Device work only; halts a CUDA device if the entries have no room.
  /// Exclusions are by id; begin == nullptr: none.
  void build(const std::uint32_t* exclusion_begin, const std::uint32_t* excluded,
             const WhenBuilt& when_built);
  /// After a build: true if there was no room, which then has been made.
  bool enlarge();
  RowView view() const;
  const RowPlan& plan() const { return plan_; }
  double mean_entries() const;  // waits
  std::int64_t bytes() const;   // of memory

 private:
  void make_groups(const Choices& choices);
  void sort_into_cells();

  Particles& particles_;
  Ranges reaches_;
  RowPlan plan_;
  bool reorder_;
  Buffer<RowGrid> grids_;
  Buffer<RowPair> pairs_;
  Buffer<std::uint32_t> class_of_;  // by type
  Buffer<Real> reach2_;             // [type · types + type]
  Buffer<RowGroup> groups_;
  std::int64_t group_count_ = 0;
  Buffer<std::uint32_t> keys_, sorted_keys_, values_, order_, cell_start_;
  Buffer<std::byte> sort_scratch_;
  Buffer<std::uint32_t> begin_, count_, entries_;
  Buffer<std::uint32_t>
      words_;  // [0] units in use during a build, [1] wanted when there was no room
};

}  // namespace perrin
