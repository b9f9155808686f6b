// The grid of columns that clusters are cut from.
#pragma once

#include "engine/system/particles.h"
#include "neighbor/columns/column_grid.h"

namespace perrin {

/// Columns for the present positions: clusters of so many particles are as wide as long where most
/// particles are. `apart`: each domain knows its own particles, and all of them call it.
ColumnGrid choose_columns(const Particles& particles, int cluster_size, double reach, bool apart);

}  // namespace perrin
