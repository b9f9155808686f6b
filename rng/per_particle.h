// How the state of each generator is kept in memory, one per particle.
#pragma once

#include <cstdint>
#include <vector>

#include "rng/mt607_table.h"
#include "rng/philox.h"
#include "rng/ran2.h"
#include "rng/saru.h"
#include "rng/stateful.h"
#include "rng/words.h"

namespace perrin {

/// A generator that counts its numbers, where the period is short enough to be used up.
template <class Generator>
class Counted : public Distributions<Counted<Generator>> {
 public:
  PERRIN_HD explicit Counted(Generator g) : g_(g) {}
  PERRIN_HD std::uint32_t next() {
    ++count_;
    return g_.next();
  }
  PERRIN_HD const Generator& generator() const { return g_; }
  PERRIN_HD int count() const { return count_; }

 private:
  Generator g_;
  int count_ = 0;
};

/// For each generator: the number of words it keeps in memory; `seed`, on the host, which draws
/// them from a keyed Philox; `load` and `save` in kernels, the latter returning how many numbers
/// were drawn where the period asks for it (else 0); the period where it can be used up (else 0).
template <class Generator>
struct PerParticle;

struct PerParticleDefaults {
  static constexpr std::uint64_t period = 0;
  /// Words that all particles share.
  static std::vector<std::uint32_t> parameters() { return {0}; }
  /// Whether words can be a state of the generator: those of a checkpoint may be any. On the host.
  static bool valid(StridedWords) { return true; }
};

template <>
struct PerParticle<HybridTaus> : PerParticleDefaults {
  static constexpr const char* name = "hybrid_taus";
  static constexpr int words = 4;
  using Local = HybridTaus;
  static void seed(std::uint32_t* own, Philox& source) {
    for (int i = 0; i < 4; ++i) do {
        own[i] = source.next();
      } while (i < 3 && !HybridTaus::valid_seed(own[i]));
  }
  static bool valid(StridedWords w) { return w[0] > 1 && w[1] > 7 && w[2] > 15; }  // else stuck
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t*, std::uint32_t) {
    return Local(w[0], w[1], w[2], w[3]);
  }
  PERRIN_HD static int save(StridedWords w, Local& g) {
    for (int i = 0; i < 4; ++i) w[i] = g.state(i);
    return 0;
  }
};

/// The Saru stream with its state in memory: what the keyed stream is measured against.
template <>
struct PerParticle<Saru> : PerParticleDefaults {
  static constexpr const char* name = "saru_state";
  static constexpr int words = 2;
  using Local = Saru;
  static void seed(std::uint32_t* own, Philox& source) {
    const std::uint32_t s = source.next(), w = source.next();
    const Saru g = Saru::from_mixed(s, w);
    own[0] = g.state_s();
    own[1] = g.state_w();
  }
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t*, std::uint32_t) {
    return Saru::from_state(w[0], w[1]);
  }
  PERRIN_HD static int save(StridedWords w, Local& g) {
    w[0] = g.state_s();
    w[1] = g.state_w();
    return 0;
  }
};

template <>
struct PerParticle<Lcg> : PerParticleDefaults {
  static constexpr const char* name = "lcg";
  static constexpr int words = 1;
  static constexpr std::uint64_t period = Lcg::period;
  using Local = Counted<Lcg>;
  static void seed(std::uint32_t* own, Philox& source) { own[0] = source.next(); }
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t*, std::uint32_t) {
    return Local(Lcg(w[0]));
  }
  PERRIN_HD static int save(StridedWords w, Local& g) {
    w[0] = g.generator().state();
    return g.count();
  }
};

template <>
struct PerParticle<ParkMiller> : PerParticleDefaults {
  static constexpr const char* name = "park_miller";
  static constexpr int words = 1;
  static constexpr std::uint64_t period = ParkMiller::period;
  using Local = Counted<ParkMiller>;
  static void seed(std::uint32_t* own, Philox& source) {
    own[0] = 1 + source.below(ParkMiller::modulus - 1);
  }
  static bool valid(StridedWords w) { return w[0] > 0 && w[0] < ParkMiller::modulus; }
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t*, std::uint32_t) {
    return Local(ParkMiller(w[0]));
  }
  PERRIN_HD static int save(StridedWords w, Local& g) {
    w[0] = g.generator().state();
    return g.count();
  }
};

/// The shuffle table stays in memory: a draw touches one word of it.
template <>
struct PerParticle<Ran2> : PerParticleDefaults {
  static constexpr const char* name = "ran2";
  static constexpr int words = BasicRan2<StridedWords>::state_words;
  using Local = BasicRan2<StridedWords>;
  static void seed(std::uint32_t* own, Philox& source) {
    Local g{StridedWords{own, 1}};
    g.seed(1 + source.below(2147483562u));
    g.save();
  }
  static bool valid(StridedWords w) {
    for (int i = 0; i < words; ++i)
      if (w[i] < 1 || w[i] > 2147483562u) return false;  // the third tells a place in the table
    return true;
  }
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t*, std::uint32_t) {
    return Local(w);
  }
  PERRIN_HD static int save(StridedWords, Local& g) {
    g.save();
    return 0;
  }
};

/// Every particle has parameters of its own as far as the table goes; beyond, parameters are used
/// again by generators whose 607 bits of state are seeded independently. All 19 words are random,
/// not expanded from a 32-bit seed: with millions of particles two such seeds would meet.
template <>
struct PerParticle<Mt607Generator> : PerParticleDefaults {
  static constexpr const char* name = "mt607";
  static constexpr int words = BasicMt607<StridedWords>::state_words;
  using Local = BasicMt607<StridedWords>;
  /// The number of sets, then all a, all b, all c.
  static std::vector<std::uint32_t> parameters() {
    const auto table = mt607_table();
    std::vector<std::uint32_t> flat{std::uint32_t(table.size())};
    for (const auto& p : table) flat.push_back(p.a);
    for (const auto& p : table) flat.push_back(p.b);
    for (const auto& p : table) flat.push_back(p.c);
    return flat;
  }
  static void seed(std::uint32_t* own, Philox& source) {
    for (int i = 0; i < Mt607::n; ++i) own[i] = source.next();
    own[1] |= 2u;  // not all zero, in a bit that counts
    own[Mt607::n] = 0;
  }
  static bool valid(StridedWords w) {
    std::uint32_t any = 0;
    for (int i = 0; i < Mt607::n; ++i) any |= w[i];
    return any != 0 && w[Mt607::n] < std::uint32_t(Mt607::n);
  }
  PERRIN_HD static Mt607Parameters parameters_of(const std::uint32_t* parameters,
                                                 std::uint32_t id) {
    const std::uint32_t sets = parameters[0], i = id % sets;
    return {parameters[1 + i], parameters[1 + sets + i], parameters[1 + 2 * sets + i]};
  }
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t* parameters, std::uint32_t id) {
    return Local(parameters_of(parameters, id), w);
  }
  PERRIN_HD static int save(StridedWords, Local& g) {
    g.save();
    return 0;
  }
};

}  // namespace perrin
