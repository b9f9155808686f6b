// From the settings of a job to the model, its start, and the sizes of moves.
#pragma once

#include <optional>

#include "engine/components/setup.h"
#include "settings.h"
#include "system.h"

namespace perrin::metropolis {

struct Prepared {
  Model model;
  Placement start;
  MoveSizes sizes;
  std::vector<double> kT;  // of each replica
  std::int64_t cycles = 0;
  Units units;
};

/// Reports all mistakes; nothing after one.
std::optional<Prepared> prepare(const MetropolisSettings& settings, Setup& setup);

}  // namespace perrin::metropolis
