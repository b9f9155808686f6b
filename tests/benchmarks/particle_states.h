// One generator per particle in device memory, for benchmarks whose kernels are their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/device/buffer.h"
#include "tests/benchmarks/seeding.h"

namespace perrin::bench {

/// States of n generators G (rng/per_particle.h) for each of several ways to seed them.
template <class G>
class ParticleStates {
 public:
  using Kept = PerParticle<G>;
  /// In a kernel: `auto g = view.load(id); … view.save(id, g);`. The states of the k-th way begin
  /// at id k·n.
  struct View {
    std::uint32_t* words;
    const std::uint32_t* parameters;
    std::int64_t n;
    PERRIN_HD typename Kept::Local load(std::uint32_t id) const {
      return Kept::load({words + id, n}, parameters, id);
    }
    PERRIN_HD void save(std::uint32_t id, typename Kept::Local& g) const {
      Kept::save({words + id, n}, g);
    }
  };

  ParticleStates(const Device& device, std::int64_t n,
                 const std::vector<Seeding>& ways = {Seeding::unrelated})
      : n_(n * std::int64_t(ways.size())) {
    std::vector<std::uint32_t> host(std::size_t(n_ * Kept::words));
    for (std::size_t k = 0; k < ways.size(); ++k) {
      if (!can_seed<G>(ways[k])) continue;
      const std::vector<std::uint32_t> one = seeded_words<G>(ways[k], n);
      for (int w = 0; w < Kept::words; ++w)
        std::copy_n(one.begin() + w * n, n, host.begin() + w * n_ + std::int64_t(k) * n);
    }
    words_ = {device, std::span<const std::uint32_t>(host)};
    parameters_ = {device, std::span<const std::uint32_t>(Kept::parameters())};
  }
  View view() { return {words_.data(), parameters_.data(), n_}; }

 private:
  std::int64_t n_;
  Buffer<std::uint32_t> words_, parameters_;
};

}  // namespace perrin::bench
