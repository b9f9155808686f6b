// How many trials a sweep makes of a move of which a number is wanted on average.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/components/trial_moves.h"
#include "rng/keyed.h"

namespace perrin::monte_carlo {

/// One of the whole numbers beside `wanted`, drawn so that this is the mean, whatever the particles
/// do. `key` is that of the move; `part`: of the sweep.
inline std::int64_t trials_of_sweep(double wanted, const RunKey& key, std::uint64_t step,
                                    std::uint32_t part = 0) {
  const double whole = std::floor(wanted);
  auto random = keyed<Philox>(key, step, TrialMove::none, TrialMove::none - part);
  return std::int64_t(whole) + (random.uniform<double>() < wanted - whole);
}

}  // namespace perrin::monte_carlo
