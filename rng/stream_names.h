// The names of all streams, without their classes (rng/streams.h).
#pragma once

#include <string>
#include <vector>

namespace perrin {

/// The names that with_stream() knows. The first five keep no state; saru_state to mt607 keep one
/// state per particle; lagged_fibonacci is one generator for all.
inline const std::vector<std::string>& stream_names() {
  static const std::vector<std::string> names = {
      "saru",        "tea",  "sarutea", "philox",      "threefry", "saru_state",
      "hybrid_taus", "ran2", "lcg",     "park_miller", "mt607",    "lagged_fibonacci"};
  return names;
}

}  // namespace perrin
