// Coefficients that kernels can hold.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/real.h"

namespace perrin {

/// A coefficient rounded to Real. Throws UserError where it leaves the range of Real, as powers of
/// lengths in meters do; `name` says what it is made of.
inline Real in_range(double value, const char* name) {
  constexpr double least = std::numeric_limits<Real>::min(),
                   most = std::numeric_limits<Real>::max();
  const double size = std::abs(value);
  if (size == 0 || (size >= least && size <= most)) return Real(value);
  throw UserError(
      fmt::format("{} is {:.3g} in the units of this job, and numbers of forces must be between "
                  "{:.2g} and {:.2g}: choose units of length and energy of the size of particles "
                  "and their energies, such as nm and kJ/mol",
                  name, value, least, most));
}

}  // namespace perrin
