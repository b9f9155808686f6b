// How many words of a generator's state a thread reads and writes to draw numbers: counted on the
// host, by changing the words one by one and looking at what comes out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/device/device.h"
#include "rng/stream_lagged_fibonacci.h"
#include "tests/benchmarks/seeding.h"

namespace perrin::bench {

struct StateWords {
  int read = 0, written = 0;
  friend bool operator==(const StateWords&, const StateWords&) = default;
};

/// `draw(state)` draws, changes the state and returns the numbers. A word counts as read if numbers
/// or another word come out differently when it is replaced by that of one of `others`, as written
/// if it has changed.
template <class Draw>
StateWords touched_words(const std::vector<std::uint32_t>& state,
                         const std::vector<std::vector<std::uint32_t>>& others, const Draw& draw) {
  StateWords touched;
  std::vector<std::uint32_t> after = state;
  const auto numbers = draw(after);
  for (std::size_t w = 0; w < state.size(); ++w) {
    touched.written += after[w] != state[w];
    touched.read += std::any_of(others.begin(), others.end(), [&](const auto& other) {
      auto changed = state;
      changed[w] = other[w];
      if (draw(changed) != numbers) return true;
      if (after[w] == state[w]) changed[w] = after[w];
      return changed != after;
    });
  }
  return touched;
}

/// The most that a generator of one thread touches: of 16 states.
template <class G>
StateWords state_words_of(int numbers) {
  using Kept = PerParticle<G>;
  constexpr std::size_t trials = 16;
  const std::vector<std::uint32_t> parameters = Kept::parameters();
  const auto draw = [&](std::vector<std::uint32_t>& state, int n) {
    const StridedWords words{state.data(), 1};
    auto g = Kept::load(words, parameters.data(), 0);
    std::vector<std::uint32_t> drawn;
    for (int k = 0; k < n; ++k) drawn.push_back(g.next());
    Kept::save(words, g);
    return drawn;
  };
  std::vector<std::vector<std::uint32_t>> states(trials);
  for (std::size_t k = 0; k < trials; ++k) {
    Philox source = keyed<Philox>(Purpose::benchmark, 2, 0, std::uint32_t(k));
    states[k].resize(std::size_t(Kept::words));
    Kept::seed(states[k].data(), source);
    draw(states[k], 100 + 3 * int(k));
  }
  StateWords most;
  for (const auto& state : states) {
    const StateWords one = touched_words(
        state, states, [&](std::vector<std::uint32_t>& own) { return draw(own, numbers); });
    most = {std::max(most.read, one.read), std::max(most.written, one.written)};
  }
  return most;
}

/// The same of the lagged Fibonacci stream that makes its numbers where they are drawn; words of
/// the ring only, not the place in it, which all threads share.
inline StateWords state_words_of_lagged_fibonacci(int numbers) {
  FusedLaggedFibonacciStream stream(Device::cpu(1), Purpose::benchmark, 1, 1, numbers);
  const auto view = stream.view();
  const auto size = std::size_t(view.size);
  std::vector<std::uint32_t> ring(view.rings, view.rings + size), other = ring;
  for (std::uint32_t& word : other) word = ~word;
  const FusedLaggedFibonacciStream::Clock clock = view.clock[0];
  return touched_words(ring, {other}, [&](std::vector<std::uint32_t>& own) {
    std::copy(own.begin(), own.end(), view.rings);
    view.clock[0] = clock;
    auto g = view.local(0, 0);
    std::vector<std::uint32_t> drawn;
    for (int k = 0; k < numbers; ++k) drawn.push_back(g.next());
    view.store(0, g);
    std::copy(view.rings, view.rings + size, own.begin());
    return drawn;
  });
}

}  // namespace perrin::bench
