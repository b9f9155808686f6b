// How the loop over neighbouring columns (column_loop.h) finds its candidates: compiled once, and
// not into the loop of every Body.
//
// Up to eight particles that follow one another in a column are a group, and share their
// candidates. These are brought together, as coordinates relative to the first of the eight.
#pragma once

#include "neighbor/columns/column_search.h"

namespace perrin {

/// Goes through the groups of a part of the particles, and for each through its candidates:
///
///     while (walk.next_group())
///       do {
///         walk.find();
///         … all of the group meet the candidates
///       } while (walk.more());
class ColumnWalk {
 public:
  static constexpr int width = 16, most = 8, room = 512;
  static constexpr std::int64_t part_size = 64;  // particles; groups end where a part does
  static std::int64_t parts(std::int64_t n) { return (n + part_size - 1) / part_size; }

  struct Group {
    std::int64_t place = 0;  // of the first
    int count = 0;           // 0 before the first group
    std::uint32_t index[most];
    Real x[most], y[most], z[most];    // relative to the first
    std::int64_t low[3]{}, high[3]{};  // along the axes of the grid
  };
  /// Behind the last are some that nobody reaches, up to a multiple of `width`.
  struct Candidates {
    alignas(64) Real x[room + width], y[room + width], z[room + width];
    alignas(64) std::uint32_t type[room + width], index[room + width];
    alignas(64) std::uint32_t who[room + width];  // the index, or that of him whom it must not meet
    int n = 0;
    int padded() const { return (n + width - 1) / width * width; }
  };

  ColumnWalk(const ColumnView& list, std::int64_t part);
  /// False: there is none left.
  bool next_group();
  /// The next candidates, as many as there is room for.
  void find();
  /// Whether find() ran out of room.
  bool more() const { return more_; }
  /// Marks those that particle i must not meet; false where there are none.
  bool exclude(std::uint32_t i);
  /// Takes the marks away.
  void include_all();

  Group group;
  Candidates candidates;

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
