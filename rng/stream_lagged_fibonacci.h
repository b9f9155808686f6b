// One generator for all particles: the additive lagged Fibonacci sequence, made in parallel. A file
// that includes this has device code (KERNELS in CMake).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/parallel.h"
#include "rng/lagged_fibonacci.h"
#include "rng/stream.h"

namespace perrin {

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
      : device_(device), draws_(draws) {
    check_stream_size("lagged_fibonacci", particles, draws);
    const std::int64_t most = lag_table().back().parallel() / draws;
    if (most < 1)
      throw BugError("random stream lagged_fibonacci: " + std::to_string(draws) +
                     " numbers for one particle are more than its longest lags allow");
    particles = std::max<std::int64_t>(particles, 1);
    rings_ = (particles + most - 1) / most;
    per_ring_ = (particles + rings_ - 1) / rings_;
    lags_ = lags_for(per_ring_ * draws);
    ring_ = Buffer<std::uint32_t>(
        device, std::span<const std::uint32_t>(seed_rings(purpose, seed, lags_, rings_)));
    clock_ = Buffer<Clock>(device, 1);
  }

  /// The words of `rings` rings before the first number: a keyed Philox each, at a step that no run
  /// reaches. At least one word is odd, or the lowest bit would stay 0 for ever.
  static std::vector<std::uint32_t> seed_rings(Purpose purpose, std::uint64_t seed, Lags lags,
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

  View view() { return {ring_.data(), clock_.data(), lags_.long_lag, per_ring_, draws_}; }
  const Lags& lags() const { return lags_; }
  std::int64_t rings() const { return rings_; }

  /// Makes the numbers of the step whose number is at `step` on the device.
  void begin_step(const std::uint64_t* step) {
    const std::int64_t block = per_ring_ * draws_;
    for_each(
        device_, "lagged Fibonacci numbers", rings_ * block,
        Make{ring_.data(), clock_.data(), lags_.long_lag, lags_.long_lag - lags_.short_lag, block});
    for_each(device_, "lagged Fibonacci clock", 1,
             Tick{clock_.data(), step, block, lags_.long_lag});
  }
  void check(std::uint64_t) const {
    check_stream_fault("lagged_fibonacci", clock_.to_host(0).fault, draws_);
  }
  void state(Archive& archive) {
    archive("ring", ring_);
    archive("clock", clock_);
    if (archive.is_saving()) return;
    const Clock clock = clock_.to_host(0);
    const auto within = [&](std::int64_t place) { return place >= 0 && place < lags_.long_lag; };
    archive.require(within(clock.begin) && within(clock.next) && clock.fault == 0, "clock",
                    "places in a ring, without a fault");
  }
  std::int64_t bytes() const { return ring_.bytes(); }

 private:
  Device device_;
  int draws_;
  std::int64_t rings_ = 1, per_ring_ = 1;
  Lags lags_;
  Buffer<std::uint32_t> ring_;
  Buffer<Clock> clock_;
};

}  // namespace perrin
