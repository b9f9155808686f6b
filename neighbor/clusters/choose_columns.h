// The grid of columns that clusters are cut from.
#pragma once

#include <cstdint>
#include <span>

#include "engine/system/particles.h"
#include "neighbor/columns/column_grid.h"

namespace perrin {

/// Columns for the present positions: clusters of so many particles are as wide as long where most
/// particles are. `idle`: [type] 1 where particles are not counted; empty: all are. `apart`: each
/// domain knows its own particles, and all of them call it.
ColumnGrid choose_columns(const Particles& particles, std::span<const std::uint8_t> idle,
                          int cluster_size, double reach, bool apart);

}  // namespace perrin
