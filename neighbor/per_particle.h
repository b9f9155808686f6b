// What traversals with a list for every particle have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "neighbor/traversal_input.h"

namespace perrin {

/// The mean of the lengths of lists. Waits.
double mean_entries(const Particles& particles, const Buffer<std::uint32_t>& count);

/// [type · types + type]: the squares of how far lists look.
std::vector<Real> squared_reaches(const TraversalInput& input);

}  // namespace perrin
