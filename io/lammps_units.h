// The styles of units of LAMMPS (https://docs.lammps.org/units.html), and which one the first line
// of a data file names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/formats.h"

namespace perrin::io {

const std::vector<std::string>& lammps_unit_styles();
/// What a style means; `style` is one of these.
FrameUnits lammps_units(const std::string& style);
/// The style that a first line names: "…, units = real", "in metal units"; empty: none. Throws
/// UserError, beginning with `where`, for "units = …" that LAMMPS does not have.
std::string units_in_title(std::string_view title, const std::string& where);

}  // namespace perrin::io
