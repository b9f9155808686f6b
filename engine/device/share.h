// How a loop is cut for sums, and among processes.
#pragma once

#include <cstdint>

#include "engine/base/real.h"

namespace perrin {

/// Elements begin … end-1.
struct Share {
  std::int64_t begin, end;
  PERRIN_HD std::int64_t size() const { return end - begin; }
  PERRIN_HD bool meets(std::int64_t first, std::int64_t count) const {
    return first < end && first + count > begin;
  }
};

/// Partial sums of sum(): fixed, so that the order of addition is fixed. A process takes care
/// of a number of these.
constexpr int sum_chunks = 512;

/// n values split into sum_chunks portions; the same on every device.
PERRIN_HD std::int64_t sum_chunk_begin(std::int64_t n, int portion) {
  return n * portion / sum_chunks;
}

}  // namespace perrin
