// Sums over all pairs of sites of different molecules: energy, virial, overlaps of cores.
#pragma once

#include <vector>

#include "system.h"

namespace perrin::metropolis {

struct Totals {
  double energy = 0;       // of all pairs, without tail
  double virial = 0;       // sum over pairs of (c_a - c_b) · F, c: the molecules' centres
  std::int64_t cores = 0;  // pairs of sites closer than their cores
};

/// From the coordinates alone; one entry per replica, of all processes, which all call it. Pair
/// energies in single or double precision, sums in double; the order of summation is fixed. Waits.
std::vector<Totals> compute_totals(System& system, bool single_precision);

}  // namespace perrin::metropolis
