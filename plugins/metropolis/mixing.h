// Parameters of pairs of unlike types.
#pragma once

#include <string>

#include "system.h"

namespace perrin::metropolis {

/// Unlike types: sigma and epsilon by the rule, cores as the sum of radii.
PairParameters mix(const PairParameters& a, const PairParameters& b, const std::string& rule);

}  // namespace perrin::metropolis
