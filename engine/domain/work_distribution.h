// Work that needs no domain decomposition, distributed over the processes of a job: pieces that
// know nothing of each other, such as replicas, histories or streams of a generator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/device/share.h"

namespace perrin {

/// The pieces 0 … n - 1 in contiguous shares of equal size, give or take one. All processes call
/// gather() and sum(), in the same order; with one process they do nothing.
class WorkDistribution {
 public:
  explicit WorkDistribution(std::int64_t n) : n_(n) {}

  /// Those of this process; all of them where there is one process.
  Share own() const { return share(own_part()); }
  /// `values` has rows of n times `each` entries, of which this process has those of its own
  /// pieces; afterwards all have all.
  template <class T>
  void gather(std::vector<T>& values, std::int64_t each = 1) const {
    std::vector<std::size_t> offsets{0};
    for (int p = 0; p < parts(); ++p)
      offsets.push_back(std::size_t(share(p).end * each) * sizeof(T));
    if (n_ == 0 || each == 0) return;
    for (std::size_t row = 0; row < values.size(); row += std::size_t(n_ * each))
      gather_bytes(values.data() + row, offsets);
  }

  /// How many shares there are: as many as processes.
  static int parts();
  static int own_part();
  static bool several() { return parts() > 1; }
  /// Each number becomes the sum of what all have of it.
  static void sum(std::span<std::int64_t> values);
  /// Bytes offsets[p] … offsets[p + 1] - 1 are those of part p; afterwards all have all.
  static void gather_bytes(void* data, const std::vector<std::size_t>& offsets);

 private:
  Share share(int part) const { return {n_ * part / parts(), n_ * (part + 1) / parts()}; }

  std::int64_t n_;
};

}  // namespace perrin
