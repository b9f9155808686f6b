// Particles that belong together because of what joins pairs of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace perrin::analysis {

class Clusters {
 public:
  explicit Clusters(std::size_t particles) : parent_(particles) {}
  /// Each for itself.
  void part() { std::iota(parent_.begin(), parent_.end(), 0u); }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  /// Adds the number of clusters (single particles count), the particles in the largest one,
  /// particles / clusters, the mean over particles of the size of their cluster, and from sums[4]
  /// on the numbers of clusters of 1, 2, … particles, of which the last includes all larger ones.
  void add_to(double* sums, std::size_t sizes) {
    std::vector<std::int64_t> size(parent_.size());
    for (std::uint32_t k = 0; k < parent_.size(); ++k) ++size[root(k)];
    double clusters = 0, largest = 0, squares = 0;
    for (const std::int64_t n : size) {
      if (n == 0) continue;
      clusters += 1;
      largest = std::max(largest, double(n));
      squares += double(n) * double(n);
      sums[3 + std::min(sizes, std::size_t(n))] += 1;
    }
    const double all = double(parent_.size());
    sums[0] += clusters, sums[1] += largest;
    sums[2] += all / clusters, sums[3] += squares / all;
  }

 private:
  /// The lowest of a cluster; ways to it become shorter.
  std::uint32_t root(std::uint32_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  std::vector<std::uint32_t> parent_;
};

}  // namespace perrin::analysis
