// Histograms of the distances of sites, for radial distribution functions.
#pragma once

#include <vector>

#include "system.h"

namespace perrin::metropolis {

/// The pairs of sites of different molecules, of all replicas together: entry pair · bins + bin,
/// bin = floor(r / width), pair = index of (a ≤ b) in the order aa, ab, …, bb, … . Of several
/// processes each counts a part of them: the sum of what they have counted is the number. Where
/// width · bins is small against the box, by cells: then the work grows with the number of sites,
/// not its square. Waits.
std::vector<std::int64_t> count_distances(System& system, double width, int bins);

/// Adds the pairs of sites of the same molecule, likewise. Waits.
void add_own_distances(const System& system, double width, int bins,
                       std::vector<std::int64_t>& counts);

}  // namespace perrin::metropolis
