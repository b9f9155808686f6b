// Frames for formats of chemistry (XTC, DCD, PDB, GRO): positions count from the corner of the box,
// in a unit that the format has by convention.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "io/formats.h"

namespace perrin::io {

struct CornerFrame {
  std::array<double, 9> edges{};  // rows
  std::vector<double> position;   // 3 per particle; z is the middle of the edge in two dimensions
};

/// How many of `to` the unit is; 1 where a file names none. Throws UserError.
double factor_to(const std::string& unit, const char* to, const std::string& where);
/// `unit`: of the format. Throws UserError, beginning with `where`.
CornerFrame corner_frame(const Frame& frame, const char* unit, const std::string& where);

}  // namespace perrin::io
