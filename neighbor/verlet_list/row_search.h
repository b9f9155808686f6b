// Finding the entries of rows (neighbor/verlet_list/verlet_list.h).
#pragma once

#include "engine/device/device.h"
#include "engine/device/share.h"
#include "neighbor/exclusions.h"
#include "neighbor/verlet_list/row_grid.h"

namespace perrin {

constexpr std::uint32_t row_unit = 8;  // rows begin at multiples of this (entries): 32 bytes

/// What a warp works on: particles first … first+count-1, 2^log2_lanes threads for each.
struct RowGroup {
  std::uint32_t first;
  std::uint16_t count, log2_lanes;
};

/// What is searched, and where the results go.
struct RowSearch {
  const RowGrid* grids;
  const RowPair* pairs;
  std::uint32_t classes, types;
  const std::uint32_t* class_of;
  const Real* reach2;  // [type · types + type], for pairs of classes that are mixed
  const std::uint32_t* cell_start;
  const std::uint32_t* order;  // the particle of each place in the cells; nullptr: itself
  const Position* position;
  const std::uint32_t* id;
  Current<Metric> metric;
  bool orthogonal;
  ExclusionView exclusions;
  std::uint32_t *begin, *count, *entries;
  std::uint32_t* used;  // units of entries given away
  std::uint32_t room;   // units of entries there are
  std::int64_t particles;
  Share own;  // whose rows are wanted

  PERRIN_HD bool is_excluded(std::int64_t i, std::uint32_t j) const {
    return exclusions && exclusions.excludes(id[i], id[j]);
  }
};

/// On the CPU: the rows of all n particles, which are sorted (order is nullptr).
void search_rows(const Device& device, const RowSearch& search);

}  // namespace perrin
