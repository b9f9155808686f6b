// How the loop over sorted cells (sorted_cell_loop.h) finds its candidates: a group is a cell, or a
// part of a very full one. It meets its own cell, whole, and then half of the neighbours, those
// ahead along the axes, both in order along the axis that joins them.
#pragma once

#include "neighbor/groups/group_walk.h"
#include "neighbor/sorted_cells/sorted_cells.h"

namespace perrin {

class SortedCellWalk final : public GroupWalk {
 public:
  static std::int64_t parts(const SortedCellView& v) {
    return (v.cell_count() + v.cells_of_part - 1) / v.cells_of_part;
  }

  /// Adds up what the particles of a part's cells have got and been given: in slot 0 of open sums.
  static Share complete_sums(const SortedCellView& view, std::int64_t part, Real* open, int sums);

  SortedCellWalk(const SortedCellView& view, std::int64_t part);  // the view must outlive it
  bool next() override;
  bool find() override;

 private:
  friend struct SortedCellSteps;

  const SortedCellView& view_;
  std::int64_t cell_, end_;           // of the group; of the part
  std::int64_t numbers_[3]{};         // of the cell along the axes of the grid
  Vec3<Coordinate> middle_{};         // of the cell
  std::int32_t limit_[most + width];  // by taker: the last place along the axis that it meets

  int axis_ = 0;  // the next one; -1: the own cell
  // What the neighbour has, from where the cells meet on; nullptr: everybody, as they come.
  const std::uint32_t* sequence_ = nullptr;
  std::int32_t* met_ = nullptr;
  bool several_ = false;            // groups in the cell
  std::int64_t other_ = 0;          // its first place
  std::int32_t from_ = 0, to_ = 0;  // of the sequence, what has not been met
  Vec3<Coordinate> origin_{};       // the cell's middle, seen from the neighbour's image
};

}  // namespace perrin
