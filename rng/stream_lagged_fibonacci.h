// One generator for all particles: the additive lagged Fibonacci sequence, made in parallel. A file
// that includes this has device code (KERNELS in CMake).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/device/parallel.h"
#include "rng/lagged_fibonacci.h"
#include "rng/stream.h"

namespace perrin {

/// The rings of a system: as many as its size asks for, as evenly filled as possible.
struct LaggedRings {
  std::int64_t rings = 1, per_ring = 1;  // per_ring: particles
  Lags lags;
  Buffer<std::uint32_t> words;

  LaggedRings(const Device& device, Purpose purpose, std::uint64_t seed, std::int64_t particles,
              int draws) {
    check_stream_size("lagged_fibonacci", particles, draws);
    const std::int64_t most = lag_table().back().parallel() / draws;
    if (most < 1)
      throw BugError("random stream lagged_fibonacci: " + std::to_string(draws) +
                     " numbers for one particle are more than its longest lags allow");
    particles = std::max<std::int64_t>(particles, 1);
    rings = (particles + most - 1) / most;
    per_ring = (particles + rings - 1) / rings;
    lags = lags_for(per_ring * draws);
    words = Buffer<std::uint32_t>(
        device, std::span<const std::uint32_t>(seeds(purpose, seed, lags, rings)));
  }
  /// The words of `rings` rings before the first number: a keyed Philox each, at a step that no run
  /// reaches. At least one word is odd, or the lowest bit would stay 0 for ever.
  static std::vector<std::uint32_t> seeds(Purpose purpose, std::uint64_t seed, Lags lags,
                                          std::int64_t rings) {
    const RunKey key(purpose, seed);
    std::vector<std::uint32_t> words(std::size_t(rings * lags.long_lag));
    for (std::int64_t r = 0; r < rings; ++r) {
      Philox source = keyed<Philox>(key, ~std::uint64_t(0), std::uint32_t(r));
      std::uint32_t* ring = words.data() + r * lags.long_lag;
      std::uint32_t any = 0;
      for (std::int64_t i = 0; i < lags.long_lag; ++i) any |= ring[i] = source.next();
      ring[0] |= ~any & 1u;
    }
    return words;
  }
};

/// The face of the other streams (rng/stream.h). With R draws a step, particle j of N owns numbers
/// (j + N·t)·R … + R - 1 of the sequence at the t-th begin_step(): which threads there are does not
/// matter. The block of a step is made by begin_step() and only read by the kernels, so that
/// particles may be left out or draw less; drawing more is an error, and so is drawing in a step
/// without begin_step(). Systems beyond the longest lags (R·N > 1010201) are split among rings with
/// seeds of their own, as evenly as possible.
class LaggedFibonacciStream {
 public:
  class Local : public Distributions<Local> {
   public:
    PERRIN_HD Local(const std::uint32_t* ring, std::int64_t position, std::int64_t size, int draws,
                    bool stale)
        : ring_(ring), position_(position), size_(size), left_(draws), stale_(stale) {}
    PERRIN_HD std::uint32_t next() {
      const std::uint32_t x = ring_[position_];
      if (++position_ == size_) position_ = 0;
      --left_;
      return x;
    }
    PERRIN_HD bool overdrawn() const { return left_ < 0; }
    PERRIN_HD bool stale() const { return stale_; }

   private:
    const std::uint32_t* ring_;
    std::int64_t position_, size_;
    int left_;
    bool stale_;
  };

  /// What the kernels read beside the rings.
  struct Clock {
    std::uint64_t step;  // the step for which the current block was made, plus 1; 0: none yet
    std::int64_t begin;  // where in the rings the current block begins
    std::int64_t next;   // … and the next one
    std::uint32_t fault;
  };
  struct View {
    const std::uint32_t* rings;
    Clock* clock;
    std::int64_t size, per_ring;  // words in a ring; particles on a ring
    int draws;

    PERRIN_HD Local local(std::uint64_t step, std::uint32_t id) const {
      const std::int64_t ring = id / per_ring, slot = id % per_ring;
      std::int64_t position = clock->begin + slot * draws;
      if (position >= size) position -= size;
      return Local(rings + ring * size, position, size, draws, clock->step != step + 1);
    }
    PERRIN_HD void store(std::uint32_t, const Local& g) const {
      if (g.stale()) clock->fault = stream_stale;
      if (g.overdrawn()) clock->fault = stream_overdrawn;
    }
  };

  // The loops of begin_step(); public because nvcc asks that of a type that instantiates a kernel.
  struct Make {
    std::uint32_t* rings;
    const Clock* clock;
    std::int64_t size, gap, block;
    PERRIN_HD void operator()(std::int64_t i) const {
      std::uint32_t* ring = rings + i / block * size;
      std::int64_t position = clock->next + i % block;
      if (position >= size) position -= size;
      std::int64_t other = position + gap;  // x[n - short] lies long - short after x[n - long]
      if (other >= size) other -= size;
      ring[position] += ring[other];
    }
  };
  struct Tick {
    Clock* clock;
    const std::uint64_t* step;
    std::int64_t block, size;
    PERRIN_HD void operator()(std::int64_t) const {
      clock->begin = clock->next;
      clock->next += block;
      if (clock->next >= size) clock->next -= size;
      clock->step = *step + 1;
    }
  };

  LaggedFibonacciStream(const Device& device, Purpose purpose, std::uint64_t seed,
                        std::int64_t particles, int draws)
      : device_(device), draws_(draws), rings_(device, purpose, seed, particles, draws) {
    clock_ = Buffer<Clock>(device, 1);
  }

  View view() {
    return {rings_.words.data(), clock_.data(), lags().long_lag, rings_.per_ring, draws_};
  }
  const Lags& lags() const { return rings_.lags; }
  std::int64_t rings() const { return rings_.rings; }

  /// Makes the numbers of the step whose number is at `step` on the device.
  void begin_step(const std::uint64_t* step) {
    const std::int64_t block = rings_.per_ring * draws_;
    for_each(device_, "lagged Fibonacci numbers", rings() * block,
             Make{rings_.words.data(), clock_.data(), lags().long_lag,
                  lags().long_lag - lags().short_lag, block});
    for_each(device_, "lagged Fibonacci clock", 1,
             Tick{clock_.data(), step, block, lags().long_lag});
  }
  void check(std::uint64_t) const {
    check_stream_fault("lagged_fibonacci", clock_.to_host(0).fault, draws_);
  }
  void state(Archive& archive) {
    archive("ring", rings_.words);
    archive("clock", clock_);
    if (archive.is_saving()) return;
    const Clock clock = clock_.to_host(0);
    const auto within = [&](std::int64_t place) { return place >= 0 && place < lags().long_lag; };
    archive.require(within(clock.begin) && within(clock.next) && clock.fault == 0, "clock",
                    "places in a ring, without a fault");
  }
  std::int64_t bytes() const { return rings_.words.bytes(); }

 private:
  Device device_;
  int draws_;
  LaggedRings rings_;
  Buffer<Clock> clock_;
};

/// The same sequence, made by the kernel that draws, as Zhmurov et al. have it. All particles must
/// ask for a local() once in every step, steps one after another; whether they then draw is all the
/// same. A step left out is found and told by check().
class FusedLaggedFibonacciStream {
 public:
  /// Largest number of draws.
  static constexpr int most_draws = 6;

  class Local : public Distributions<Local> {
   public:
    PERRIN_HD std::uint32_t next() {
      const std::uint32_t x = made_[0];
      for (int k = 1; k < most_draws; ++k) made_[k - 1] = made_[k];
      --left_;
      return x;
    }

   private:
    friend class FusedLaggedFibonacciStream;
    std::uint32_t made_[most_draws];
    int left_;
    bool stale_;
    std::uint64_t step_;
    std::int32_t begin_;
  };

  /// Two of them, of even and of odd steps: who reads one writes the other.
  struct Clock {
    std::uint64_t step;  // the step whose block begins here, plus 1; 0: none yet
    std::int64_t begin;
  };
  struct View {
    std::uint32_t* rings;
    Clock* clock;
    std::uint32_t* fault;
    std::int32_t size, gap;  // words of a ring; long less short lag
    // Particles on a ring, all particles, and those that there would be if all rings were full.
    std::uint32_t per_ring, particles, places;
    int draws;

    PERRIN_HD Local local(std::uint64_t step, std::uint32_t id) const {
      const Clock now = clock[step & 1];
      Local g;
      make(std::int32_t(now.begin), id, g.made_);
      g.left_ = draws;
      g.stale_ = now.step != 0 && now.step != step + 1;
      g.step_ = step;
      g.begin_ = std::int32_t(now.begin);
      return g;
    }
    PERRIN_HD void store(std::uint32_t id, const Local& g) const {
      if (g.stale_) *fault = stream_stale;
      if (g.left_ < 0) *fault = stream_overdrawn;
      if (id != 0) return;
      std::uint32_t unused[most_draws];
      for (std::uint32_t k = particles; k < places; ++k) make(g.begin_, k, unused);
      clock[(g.step_ + 1) & 1] = {g.step_ + 2, wrap(g.begin_ + std::int32_t(per_ring) * draws)};
    }

   private:
    /// All loads before the first store: no number of a step is made from another of it.
    PERRIN_HD void make(std::int32_t begin, std::uint32_t id, std::uint32_t* made) const {
      const std::uint32_t ring = id < per_ring ? 0 : id / per_ring;
      std::uint32_t* const words = rings + std::int64_t(ring) * size;
      const std::int32_t first = begin + std::int32_t(id - ring * per_ring) * draws;
      for (int k = 0; k < most_draws; ++k) {
        made[k] = 0;
        // x[n - short] lies long - short after x[n - long].
        if (k < draws) made[k] = words[wrap(first + k)] + words[wrap(wrap(first + k) + gap)];
      }
      for (int k = 0; k < most_draws; ++k)
        if (k < draws) words[wrap(first + k)] = made[k];
    }
    PERRIN_HD std::int32_t wrap(std::int32_t place) const {
      return place >= size ? place - size : place;
    }
  };

  FusedLaggedFibonacciStream(const Device& device, Purpose purpose, std::uint64_t seed,
                             std::int64_t particles, int draws)
      : particles_(particles), draws_(draws), rings_(device, purpose, seed, particles, draws) {
    if (draws > most_draws)
      throw BugError("random stream lagged_fibonacci: more than " + std::to_string(most_draws) +
                     " numbers for one particle in a step");
    clock_ = Buffer<Clock>(device, 2);
    fault_ = Buffer<std::uint32_t>(device, 1);
  }
  View view() {
    const Lags& lags = rings_.lags;
    return {rings_.words.data(),
            clock_.data(),
            fault_.data(),
            std::int32_t(lags.long_lag),
            std::int32_t(lags.long_lag - lags.short_lag),
            std::uint32_t(rings_.per_ring),
            std::uint32_t(particles_),
            std::uint32_t(rings_.per_ring * rings_.rings),
            draws_};
  }
  const Lags& lags() const { return rings_.lags; }
  void begin_step(const std::uint64_t*) {}
  void check(std::uint64_t) const {
    const std::uint32_t fault = fault_.to_host(0);
    if (fault == stream_stale)
      throw BugError("random stream lagged_fibonacci: a step was left out, or made twice");
    check_stream_fault("lagged_fibonacci", fault, draws_);
  }
  void state(Archive& archive) {
    archive("ring", rings_.words);
    archive("clock", clock_);
    if (archive.is_saving()) return;
    for (const Clock& clock : clock_.to_host())
      archive.require(clock.begin >= 0 && clock.begin < rings_.lags.long_lag, "clock",
                      "places in a ring");
  }
  std::int64_t bytes() const { return rings_.words.bytes(); }

 private:
  std::int64_t particles_;
  int draws_;
  LaggedRings rings_;
  Buffer<Clock> clock_;
  Buffer<std::uint32_t> fault_;
};

}  // namespace perrin
