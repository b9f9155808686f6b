// `perrin rng`: raw random words for test batteries.
#pragma once

#include <cstdint>
#include <string>

namespace perrin {

/// generator, scheme, pattern and seed: see WordSourceSettings (rng/word_source.h).
struct RngArguments {
  std::string generator = "saru", scheme, pattern = "particles";
  std::uint64_t seed = 1;
  std::uint64_t count = 0;  // of words; 0: without end
  bool list = false;        // the names of the generators instead
};

/// Writes to standard output until it has written all, or nobody reads any more. Throws UserError,
/// RunError.
void rng_command(const RngArguments& arguments);

}  // namespace perrin
