// `perrin rng`: random words for test batteries, and numbers of any distribution.
#pragma once

#include <cstdint>
#include <string>

#include "app/rng_numbers.h"

namespace perrin {

/// generator, scheme, pattern and seed: see WordSourceSettings (rng/word_source.h).
struct RngArguments {
  std::string generator = "saru", scheme, pattern = "particles";
  std::uint64_t seed = 1;
  std::uint64_t count = 0;  // of words, or numbers; 0: without end
  bool list = false;        // the names of the generators instead
  NumberArguments numbers;  // what is made of the words; nothing: raw words
};

/// Writes to standard output until all is written or the reader has closed it. Throws UserError,
/// RunError.
void rng_command(const RngArguments& arguments);

}  // namespace perrin
