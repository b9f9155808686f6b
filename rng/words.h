// Where a generator with many words of state keeps them.
#pragma once

#include <cstdint>

#include "engine/base/real.h"

namespace perrin {

/// N words inside the object.
template <int N>
struct OwnWords {
  std::uint32_t word[N] = {};
  PERRIN_HD std::uint32_t& operator[](int i) { return word[i]; }
};

/// Words of one generator among many in memory: word i of all generators lies together, so that
/// neighbouring threads read neighbouring addresses.
struct StridedWords {
  std::uint32_t* first = nullptr;
  std::int64_t stride = 1;
  PERRIN_HD std::uint32_t& operator[](int i) const { return first[i * stride]; }
};

}  // namespace perrin
