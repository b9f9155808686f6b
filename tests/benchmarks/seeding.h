// How the states of one generator for each thread are chosen, well and badly. A. A. Zhmurov et al.
// (2011) draw them from another generator; W. B. Langdon (2008) takes a seed and adds the number of
// the thread; "one sequence, divided among the threads" (their Fig. 1a) can mean the other two.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "rng/keyed.h"
#include "rng/per_particle.h"
#include "tests/benchmarks/xorwow.h"

namespace perrin::bench {

enum class Seeding {
  unrelated,      // from a keyed Philox for each thread
  seed_plus_id,   // whatever the generator calls its seed: a number plus that of the thread
  consecutive,    // thread i + 1 sets out one number after thread i
  evenly_divided  // the cycle is divided among the threads
};
inline const std::vector<std::string>& seeding_names() {
  static const std::vector<std::string> names = {"unrelated", "seed_plus_id", "consecutive",
                                                 "evenly_divided"};
  return names;
}

/// x → factor·x + shift: many steps of the LCG at once.
struct LcgJump {
  std::uint32_t factor = 1, shift = 0;
  explicit LcgJump(std::uint64_t steps) {
    for (std::uint64_t bit = std::uint64_t(1) << 63; bit > 0; bit /= 2) {
      shift += factor * shift;
      factor *= factor;
      if ((steps & bit) == 0) continue;
      shift = 1664525u * shift + 1013904223u;
      factor *= 1664525u;
    }
  }
  std::uint32_t operator()(std::uint32_t x) const { return factor * x + shift; }
};

/// 16807^steps mod 2^31 - 1: many steps of Park and Miller's generator at once.
inline std::uint32_t park_miller_factor(std::uint64_t steps) {
  std::uint64_t factor = 1, power = 16807;
  for (; steps > 0; steps /= 2) {
    if (steps % 2 == 1) factor = factor * power % ParkMiller::modulus;
    power = power * power % ParkMiller::modulus;
  }
  return std::uint32_t(factor);
}

/// Whether states of G can be chosen so: MT607's threads have recurrences of their own, hence no
/// common sequence; only the short cycles can be divided.
template <class G>
constexpr bool can_seed(Seeding how) {
  if (how == Seeding::consecutive) return !std::is_same_v<G, Mt607Generator>;
  if (how == Seeding::evenly_divided)
    return std::is_same_v<G, Lcg> || std::is_same_v<G, ParkMiller>;
  return true;
}

/// The state for a number, which is all that a seed is where no more is known: as the generator's
/// author has it, or the number in every word.
template <class G>
void seed_from_number(std::uint32_t* own, std::uint32_t number) {
  using Kept = PerParticle<G>;
  if constexpr (std::is_same_v<G, ParkMiller>) {
    own[0] = 1 + number % (ParkMiller::modulus - 1);
  } else if constexpr (std::is_same_v<G, Saru>) {
    const Saru g = Saru::from_mixed(number, number);
    own[0] = g.state_s(), own[1] = g.state_w();
  } else if constexpr (std::is_same_v<G, Ran2>) {
    typename Kept::Local g{StridedWords{own, 1}};
    g.seed(1 + number % 2147483562u);
    g.save();
  } else if constexpr (std::is_same_v<G, Mt607Generator>) {
    typename Kept::Local g({}, StridedWords{own, 1});
    g.seed(number);
    g.save();
  } else {
    for (int w = 0; w < Kept::words; ++w) own[w] = number;
  }
}

/// One word after another of the states of n threads: word w of thread i at [w·n + i].
template <class G>
std::vector<std::uint32_t> seeded_words(Seeding how, std::int64_t n) {
  using Kept = PerParticle<G>;
  constexpr std::uint32_t first_number = 1000;  // Hybrid Taus wants words above 128
  std::vector<std::uint32_t> all(std::size_t(n * Kept::words));
  std::array<std::uint32_t, std::size_t(Kept::words)> own{};
  const auto seed_apart = [&](std::int64_t i) {
    Philox source = keyed<Philox>(Purpose::benchmark, 1, 0, std::uint32_t(i));
    Kept::seed(own.data(), source);
  };
  const std::vector<std::uint32_t> parameters = Kept::parameters();
  const auto advance = [&] {
    const StridedWords words{own.data(), 1};
    if (how == Seeding::consecutive) {
      auto g = Kept::load(words, parameters.data(), 0);
      g.next();
      Kept::save(words, g);
    } else if constexpr (std::is_same_v<G, Lcg>) {
      own[0] = LcgJump(Lcg::period / std::uint64_t(n))(own[0]);
    } else if constexpr (std::is_same_v<G, ParkMiller>) {
      const std::uint64_t factor = park_miller_factor(ParkMiller::period / std::uint64_t(n));
      own[0] = std::uint32_t(factor * own[0] % ParkMiller::modulus);
    }
  };
  for (std::int64_t i = 0; i < n; ++i) {
    if (how == Seeding::seed_plus_id)
      seed_from_number<G>(own.data(), first_number + std::uint32_t(i));
    else if (how == Seeding::unrelated || i == 0)
      seed_apart(i);
    else
      advance();
    for (int w = 0; w < Kept::words; ++w) all[std::size_t(w * n + i)] = own[std::size_t(w)];
  }
  return all;
}

}  // namespace perrin::bench
