// Where the random number of a pair comes from: the same for (i, j) and (j, i), made on the spot
// from (seed, step, smaller id, larger id) by whichever thread asks.
// C. L. Phillips, J. A. Anderson, S. C. Glotzer, J. Comput. Phys. 230 (2011) 7191.
#pragma once

#include "rng/keyed.h"

namespace perrin::dpd {

/// Perrin's keys (rng/keyed.h), for the generator G.
template <class G>
struct DefaultKeys {
  RunKey key;
  explicit DefaultKeys(std::uint64_t seed) : key(Purpose::dpd, seed) {}
  PERRIN_HD explicit DefaultKeys(const RunKey& k) : key(k) {}
  PERRIN_HD G generator(std::uint64_t step, std::uint32_t a, std::uint32_t b) const {
    return keyed_pair<G>(key, step, a, b);
  }
};

/// The keys of the paper, for comparison; 32 bits of the seed and of the step.
template <class G>
struct PaperKeys {
  PhillipsKey key;
  explicit PaperKeys(std::uint64_t seed) : key(std::uint32_t(seed)) {}
  PERRIN_HD explicit PaperKeys(const PhillipsKey& k) : key(k) {}
  PERRIN_HD G generator(std::uint64_t step, std::uint32_t a, std::uint32_t b) const {
    return phillips_pair<G>(key, step, a, b);
  }
};

/// sqrt(3) times a number from (-1, 1): mean 0, variance 1. Cheaper than a normal number and, for
/// everything measured over more than a step, as good: P. Español, P. Warren, Europhys. Lett. 30
/// (1995) 191; B. Dünweg, W. Paul, Int. J. Mod. Phys. C 2 (1991) 817.
template <class Keys>
struct UniformNoise {
  Keys keys;
  PERRIN_HD Real operator()(std::uint64_t step, std::uint32_t a, std::uint32_t b) const {
    auto g = keys.generator(step, a, b);
    return Real(1.7320508075688772) * g.template symmetric<Real>();
  }
};

enum class Generator { saru, tea, sarutea, philox };

/// How the noise is made.
struct NoiseChoice {
  Generator generator = Generator::saru;
  bool paper_keys = false, normal = false;
};

/// Whatever was chosen, decided as it runs: for what is there to be compared. The paper has no key
/// for Philox.
struct AnyNoise {
  NoiseChoice choice;
  RunKey key;
  PhillipsKey paper_key;

  AnyNoise(const NoiseChoice& c, std::uint64_t seed)
      : choice(c), key(Purpose::dpd, seed), paper_key(std::uint32_t(seed)) {}

  template <class G>
  PERRIN_HD Real draw(G g) const {
    if (choice.normal) return g.template normal<Real>();
    return Real(1.7320508075688772) * g.template symmetric<Real>();
  }
  template <class G>
  PERRIN_HD Real draw(std::uint64_t step, std::uint32_t a, std::uint32_t b) const {
    if constexpr (!std::is_same_v<G, Philox>)
      if (choice.paper_keys) return draw(PaperKeys<G>(paper_key).generator(step, a, b));
    return draw(DefaultKeys<G>(key).generator(step, a, b));
  }
  PERRIN_HD Real operator()(std::uint64_t step, std::uint32_t a, std::uint32_t b) const {
    switch (choice.generator) {
      case Generator::saru:
        return draw<Saru>(step, a, b);
      case Generator::tea:
        return draw<Tea>(step, a, b);
      case Generator::sarutea:
        return draw<SaruTea>(step, a, b);
      default:
        return draw<Philox>(step, a, b);
    }
  }
};

}  // namespace perrin::dpd
