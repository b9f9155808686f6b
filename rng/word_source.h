// The words that a simulation would see, one after the other along chosen paths through particles
// and time (Phillips, Anderson, Glotzer 2011, section 4): what test batteries are fed with. Host
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "rng/keyed.h"
#include "rng/lagged_fibonacci.h"
#include "rng/mt607_table.h"
#include "rng/per_particle.h"
#include "rng/stateful.h"

namespace perrin {

/// What to generate.
struct WordSourceSettings {
  std::string generator = "saru";
  /// "keyed": afresh from (purpose, seed, step, ids); "phillips": the keys of Phillips et al.;
  /// "state": one state per particle; "shared": one sequence for all, "shared:4423" from the row of
  /// this long lag; "" the generator's usual one.
  std::string scheme;
  /// "particles": three words of each of 16000 particles, then the next step; "particle": three
  /// words of one particle, step after step; "pairs": the one word that DPD draws of each pair of a
  /// particle with 50 fixed partners, step after step; "rows": one word of each of 16000, then the
  /// next step; "columns": one word of each of 4096 steps for one particle, then for the next of
  /// 256; "sequence": one generator's plain stream.
  std::string pattern = "particles";
  std::uint64_t seed = 1;
};

inline const std::vector<std::string>& word_source_generators() {
  static const std::vector<std::string> names = {
      "saru", "tea", "sarutea",     "philox", "threefry", "hybrid_taus",
      "ran2", "lcg", "park_miller", "mt607",  "mt19937",  "lagged_fibonacci"};
  return names;
}
inline const std::vector<std::string>& word_source_patterns() {
  static const std::vector<std::string> names = {"particles", "particle", "pairs",
                                                 "rows",      "columns",  "sequence"};
  return names;
}

/// An endless supply of words. Throws RunError when a generator's period has been used up.
class WordSource {
 public:
  /// Throws UserError for an unknown or impossible combination.
  explicit WordSource(const WordSourceSettings& settings) : settings_(settings) {
    const std::string& p = settings.pattern;
    const bool shared = settings.generator == "lagged_fibonacci";
    if (p == "particles")
      particles_ = 16000;
    else if (p == "particle")
      // Of a sequence shared by many, one particle sees its own short stretches.
      particles_ = shared ? 1000 : 1, kept_ = 1;
    else if (p == "pairs")
      particles_ = 50, draws_ = 1;
    else if (p == "rows")
      particles_ = 16000, draws_ = 1;
    else if (p == "columns")
      particles_ = 256, draws_ = 1, steps_ = 4096;
    else if (p == "sequence")
      particles_ = 1, draws_ = 4096;
    else
      throw UserError("--pattern " + p + ": expected " + list(word_source_patterns()));
    if (kept_ == 0) kept_ = particles_;
    choose();
    step_words_.resize(std::size_t(particles_ * draws_));
    block_.resize(std::size_t(kept_ * draws_ * steps_));
    at_ = block_.size();
  }

  std::uint32_t next() {
    if (at_ == block_.size()) refill();
    return block_[at_++];
  }
  void fill(std::uint32_t* words, std::size_t n) {
    while (n > 0) {
      if (at_ == block_.size()) refill();
      const std::size_t part = std::min(n, block_.size() - at_);
      std::copy_n(block_.data() + at_, part, words);
      at_ += part, words += part, n -= part;
    }
  }
  std::string scheme() const { return settings_.scheme; }

 private:
  static std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
    return text;
  }
  // Generators of 31 bits give two words' upper halves: the doubled lowest bit is no fault of
  // theirs.
  template <class G>
  static std::uint32_t word_of(G& g) {
    if constexpr (requires { g.next_31_bits(); }) {
      const std::uint32_t high = g.next() >> 16;
      return high << 16 | g.next() >> 16;
    } else {
      return g.next();
    }
  }

  // step_words_ = draws_ words of each particle at step t.
  template <class Make>
  void hashed(Make make) {
    make_step_ = [this, make](std::uint64_t t) {
      std::uint32_t* out = step_words_.data();
      for (int id = 0; id < particles_; ++id) {
        auto g = make(t, std::uint32_t(id));
        for (int k = 0; k < draws_; ++k) *out++ = g.next();
      }
    };
  }
  template <class G>
  void keyed_words() {
    const RunKey key(Purpose::command, settings_.seed);
    if (settings_.pattern == "pairs")
      hashed([key](std::uint64_t t, std::uint32_t id) {
        return keyed_pair<G>(key, t, partner(id), centre);
      });
    else if (settings_.pattern == "sequence")
      carried(std::vector<G>{keyed<G>(key, 0, 0)}, 0);
    else
      hashed([key](std::uint64_t t, std::uint32_t id) { return keyed<G>(key, t, id); });
  }
  template <class G>
  void words_of_the_paper() {
    const PhillipsKey key{std::uint32_t(settings_.seed)};
    hashed([key, pairs = settings_.pattern == "pairs"](std::uint64_t t, std::uint32_t id) {
      return pairs ? phillips_pair<G>(key, t, partner(id), centre) : phillips_single<G>(key, t, id);
    });
  }
  template <class G>
  void carried(std::vector<G> generators, std::uint64_t period) {
    auto all = std::make_shared<std::vector<G>>(std::move(generators));
    make_step_ = [this, all, period, drawn = std::uint64_t(0)](std::uint64_t) mutable {
      const std::uint64_t each =
          std::uint64_t(draws_) * (requires(G & g) { g.next_31_bits(); } ? 2 : 1);
      if (period && (drawn += each) > period)
        throw RunError(settings_.generator + " is exhausted: its period of " +
                       std::to_string(period) + " numbers has been used up");
      std::uint32_t* out = step_words_.data();
      for (G& g : *all)
        for (int k = 0; k < draws_; ++k) *out++ = word_of(g);
    };
  }
  template <class G, class Make>
  void one_for_each(std::uint64_t period, Make make) {
    const RunKey key(Purpose::command, settings_.seed);
    std::vector<G> generators;
    for (int id = 0; id < particles_; ++id) {
      Philox source = keyed<Philox>(key, ~std::uint64_t(0), std::uint32_t(id));
      generators.push_back(make(source, std::size_t(id)));
    }
    carried(std::move(generators), period);
  }

  void choose() {
    const std::string& g = settings_.generator;
    std::string& scheme = settings_.scheme;
    const bool can_hash =
        g == "saru" || g == "tea" || g == "sarutea" || g == "philox" || g == "threefry";
    if (scheme.empty()) scheme = can_hash ? "keyed" : g == "lagged_fibonacci" ? "shared" : "state";
    if (scheme == "keyed" && can_hash) {
      if (g == "saru") return keyed_words<Saru>();
      if (g == "tea") return keyed_words<Tea>();
      if (g == "sarutea") return keyed_words<SaruTea>();
      if (g == "philox") return keyed_words<Philox>();
      return keyed_words<Threefry>();
    }
    if (scheme == "phillips" && settings_.pattern != "sequence") {
      if (g == "saru") return words_of_the_paper<Saru>();
      if (g == "tea") return words_of_the_paper<Tea>();
      if (g == "sarutea") return words_of_the_paper<SaruTea>();
    }
    if (settings_.pattern == "pairs")
      throw UserError(
          "--pattern pairs: only generators that are keyed afresh (saru, tea, sarutea, "
          "philox, threefry) give a pair its own numbers, " +
          g + " does not");
    if (scheme == "state") {
      if (g == "saru")
        return one_for_each<Saru>(0, [](Philox& s, std::size_t) {
          const std::uint32_t a = s.next(), b = s.next();
          return Saru::from_mixed(a, b);
        });
      if (g == "hybrid_taus")
        return one_for_each<HybridTaus>(0, [](Philox& s, std::size_t) {
          std::uint32_t w[4];
          PerParticle<HybridTaus>::seed(w, s);
          return HybridTaus(w[0], w[1], w[2], w[3]);
        });
      if (g == "ran2")
        return one_for_each<Ran2>(
            0, [](Philox& s, std::size_t) { return Ran2(1 + s.below(2147483562u)); });
      if (g == "lcg")
        return one_for_each<Lcg>(Lcg::period, [](Philox& s, std::size_t) { return Lcg(s.next()); });
      if (g == "park_miller")
        return one_for_each<ParkMiller>(ParkMiller::period, [](Philox& s, std::size_t) {
          return ParkMiller(1 + s.below(ParkMiller::modulus - 1));
        });
      if (g == "mt607")
        return one_for_each<Mt607Generator>(0, [](Philox& s, std::size_t id) {
          const auto table = mt607_table();
          return Mt607Generator(table[id % table.size()], s.next());
        });
      if (g == "mt19937")
        return one_for_each<Mt19937>(0, [](Philox& s, std::size_t) { return Mt19937(s.next()); });
    }
    if (scheme.starts_with("shared") && g == "lagged_fibonacci") {
      const Lags lags = chosen_lags();
      const RunKey key(Purpose::command, settings_.seed);
      Philox source = keyed<Philox>(key, ~std::uint64_t(0), 0);
      std::vector<std::uint32_t> ring(std::size_t(lags.long_lag));
      for (std::uint32_t& x : ring) x = source.next();
      ring[0] |= 1u;
      auto one = std::make_shared<LaggedFibonacci>(lags, std::move(ring));
      make_step_ = [this, one](std::uint64_t) {
        for (std::uint32_t& x : step_words_) x = one->next();
      };
      return;
    }
    for (const std::string& name : word_source_generators())
      if (g == name)
        throw UserError("--scheme " + scheme + ": " + g + " has no such scheme with --pattern " +
                        settings_.pattern);
    throw UserError("unknown generator '" + g + "', expected " + list(word_source_generators()));
  }

  /// "shared": the row for this many numbers at a time, none but the first for a plain sequence;
  /// "shared:2281": the row of this long lag.
  Lags chosen_lags() {
    std::string& scheme = settings_.scheme;
    const bool plain = settings_.pattern == "sequence";
    const Lags own = lags_for(plain ? 1 : std::int64_t(particles_) * draws_);
    if (scheme == "shared") scheme += ":" + std::to_string(own.long_lag);
    std::string known;
    for (const Lags& lags : lag_table()) {
      const std::string name = std::to_string(lags.long_lag);
      if (scheme == "shared:" + name) return lags;
      known += (known.empty() ? "" : ", ") + name;
    }
    throw UserError("--scheme " + scheme + ": the rows of the lagged Fibonacci generator are " +
                    known);
  }

  void refill() {
    // Of one step, or of many with the steps of a particle brought together.
    for (int s = 0; s < steps_; ++s) {
      make_step_(step_++);
      for (int i = 0; i < kept_ * draws_; ++i)
        block_[std::size_t(i) * std::size_t(steps_) + std::size_t(s)] = step_words_[std::size_t(i)];
    }
    at_ = 0;
  }

  static constexpr std::uint32_t centre = 1000;  // the particle of the pairs
  static std::uint32_t partner(std::uint32_t k) { return 17 * k + 3; }

  WordSourceSettings settings_;
  int particles_ = 1, draws_ = 3, steps_ = 1, kept_ = 0;
  std::uint64_t step_ = 0;
  std::function<void(std::uint64_t)> make_step_;
  std::vector<std::uint32_t> step_words_, block_;
  std::size_t at_ = 0;
};

}  // namespace perrin
