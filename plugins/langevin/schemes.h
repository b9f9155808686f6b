// How a generator may be spread over the particles: the names.
#pragma once

#include <string>
#include <vector>

namespace perrin::langevin {

/// The schemes of a generator, its default first.
inline std::vector<std::string> schemes_of(const std::string& rng) {
  if (rng == "saru") return {"per_call", "phillips", "per_particle"};
  if (rng == "tea" || rng == "sarutea") return {"per_call", "phillips"};
  if (rng == "philox" || rng == "threefry") return {"per_call"};
  if (rng == "lagged_fibonacci") return {"one_for_all", "separate_kernel"};
  return {"per_particle"};
}

}  // namespace perrin::langevin
