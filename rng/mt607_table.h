// The shipped parameters of MT607 generators, found and checked by perrin-mt607 (rng/tools).
#pragma once

#include <span>

#include "rng/mt607.h"

namespace perrin {

/// By id. Ids 0 and 1 are the published parameters; the others come from our own search, since the
/// tables in circulation differ from id 2 on. Characteristic polynomials of different ids are
/// different irreducible ones, so that no two sequences are shifts of each other.
inline std::span<const Mt607Parameters> mt607_table() {
  static constexpr Mt607Parameters table[] = {
#include "rng/mt607_table.inc"
  };
  return table;
}

}  // namespace perrin
