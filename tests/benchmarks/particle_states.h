// One generator per particle in device memory, for benchmarks whose kernels are their own.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/buffer.h"
#include "rng/keyed.h"
#include "rng/per_particle.h"

namespace perrin::bench {

/// States of n generators G (rng/per_particle.h), seeded from a keyed Philox each.
template <class G>
class ParticleStates {
 public:
  using Kept = PerParticle<G>;
  /// In a kernel: `auto g = view.load(id); … view.save(id, g);`.
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

  ParticleStates(const Device& device, std::int64_t n) : n_(n) {
    std::vector<std::uint32_t> host(std::size_t(n * Kept::words));
    std::vector<std::uint32_t> own(std::size_t(Kept::words));
    for (std::int64_t id = 0; id < n; ++id) {
      Philox source = keyed<Philox>(Purpose::benchmark, 1, 0, std::uint32_t(id));
      Kept::seed(own.data(), source);
      for (int w = 0; w < Kept::words; ++w) host[std::size_t(w * n + id)] = own[std::size_t(w)];
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
