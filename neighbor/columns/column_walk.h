// How the loop over neighbouring columns (column_loop.h) finds its candidates: compiled once, and
// not into the loop of every Body.
//
// Up to eight particles that follow one another in a column are a group, and share their
// candidates. These are brought together, as coordinates relative to the first of the eight.
#pragma once

#include "neighbor/columns/column_search.h"
#include "neighbor/groups/group_walk.h"

namespace perrin {

class ColumnWalk final : public GroupWalk {
 public:
  static constexpr int together = 8;             // particles of a group
  static constexpr std::int64_t part_size = 64;  // particles; groups end where a part does
  static std::int64_t parts(const ColumnView& list) { return (list.n + part_size - 1) / part_size; }

  ColumnWalk(const ColumnView& list, std::int64_t part);
  bool next() override;
  /// As many as there is room for.
  bool find() override;

 private:
  friend struct ColumnSteps;

  /// A column, and those around it in all images.
  struct Column {
    std::int64_t number = -1;
    struct Neighbor {
      const std::int32_t* bins;
      double low[2], high[2];  // lengths along the axes across
      Coordinate x, y, z;      // shift to the image
    } around[49];
    int count = 0;
  };

  ColumnView list_;
  std::int64_t end_, bin_;
  std::int64_t place_;                             // of the first of the group
  std::int64_t group_low_[3]{}, group_high_[3]{};  // along the axes of the grid
  Column column_;
  bool more_ = false;
  double low_[2], high_[2];  // the group's, lengths along the axes across
  // What is left of the search for the group: places first … last - 1 of a neighbour in an image,
  // the images after it, the neighbours after that.
  int neighbor_ = 0;
  std::int64_t from_ = 0, to_ = 0;  // along the column
  std::int32_t image_ = 0, last_image_ = 0;
  std::int32_t first_ = 0, last_ = 0;
};

}  // namespace perrin
