// Generators made on the spot from (purpose, seed, step, ids): the engine's default randomness.
//
//     const RunKey key(Purpose::langevin, seed);            // once, on the host; a kernel captures
//     it … auto g = keyed<Saru>(key, *device_step, id);          // in the kernel, for one particle
//     auto g = keyed_pair<Saru>(key, *device_step, i, j);   // for a pair: the same for i and j
//
// What is mixed where:
//  - RunKey: purpose and the 64-bit seed pass through Philox 4x32-10 (the seed as its key, the
//  purpose as
//    its counter) to 128 bits. Runs with neighbouring seeds, and purposes with neighbouring
//    numbers, thus have unrelated keys, and nothing in the hot loop pays for it.
//  - keyed<G>: low and high word of the step and the two ids enter as separate words. Nothing is
//  packed
//    or summed, so nothing overflows or meets: different (step, id_a, id_b) of one run have
//    different keys (for Saru, whose hash takes 96 bits: within any 2^32 consecutive steps; see
//    there).
#pragma once

#include <cstdint>
#include <type_traits>

#include "rng/philox.h"
#include "rng/purpose.h"
#include "rng/saru.h"
#include "rng/tea.h"
#include "rng/threefry.h"

namespace perrin {

/// 128 bits that stand for (purpose, seed).
struct RunKey {
  RunKey() = default;
  PERRIN_HD RunKey(Purpose purpose, std::uint64_t seed) {
    const Words4 k = philox4x32<10>({std::uint32_t(purpose), 0, 0, 0},
                                    {std::uint32_t(seed), std::uint32_t(seed >> 32)});
    x = k.x, y = k.y, z = k.z, w = k.w;
  }
  std::uint32_t x = 0, y = 0, z = 0, w = 0;
};

/// The seed of one of several components of a run that draw for the same purpose, numbered from 0:
/// the run's own for the first, unrelated ones for the others.
PERRIN_HD std::uint64_t instance_seed(std::uint64_t seed, std::uint32_t instance) {
  if (instance == 0) return seed;
  const Words4 k = philox4x32<10>({instance, 0, 0, 0x696e7374u},
                                  {std::uint32_t(seed), std::uint32_t(seed >> 32)});
  return std::uint64_t(k.x) << 32 | k.y;
}

/// How a generator takes its key; specialise it for one's own generator.
template <class Generator>
struct KeyedBy;

/// Philox has room for everything: counter (step, ids), key (run).
template <>
struct KeyedBy<Philox> {
  PERRIN_HD static Philox make(const RunKey& run, std::uint64_t step, std::uint32_t a,
                               std::uint32_t b) {
    return Philox({std::uint32_t(step), std::uint32_t(step >> 32), a, b}, {run.x, run.y});
  }
};

template <>
struct KeyedBy<Threefry> {
  PERRIN_HD static Threefry make(const RunKey& run, std::uint64_t step, std::uint32_t a,
                                 std::uint32_t b) {
    return Threefry({std::uint32_t(step), std::uint32_t(step >> 32), a, b},
                    {run.x, run.y, run.z, run.w});
  }
};

/// TEA's block is the ids, its key the run and the step. TEA adds its key to the block as it is,
/// again and again, so that keys which differ in few bits give related results: with the bare step
/// in the key, 64-bit words of neighbouring steps and ids fail birthday spacings by a factor of
/// 10^4, and with 16 cycles still. Hence the step's low word is hashed (one to one, so that no two
/// steps meet; the constants are those of C. Wellons' lowbias32). The second word is taken half-way
/// through the hash: flipping the highest bits of both words gives an equivalent key, so one must
/// not be a plain multiple of the other.
PERRIN_HD Words4 tea_key(const RunKey& run, std::uint64_t step) {
  const std::uint32_t x = std::uint32_t(step) ^ run.z;
  const std::uint32_t half = (x ^ (x >> 16)) * 0x7feb352du;
  const std::uint32_t m = (half ^ (half >> 15)) * 0x846ca68bu;
  return {run.x, run.y, m ^ (m >> 16), run.w ^ (half + std::uint32_t(step >> 32) * 0x9E3779B1u)};
}
template <>
struct KeyedBy<Tea> {
  PERRIN_HD static Tea make(const RunKey& run, std::uint64_t step, std::uint32_t a,
                            std::uint32_t b) {
    return Tea({a, b}, tea_key(run, step));
  }
};

template <>
struct KeyedBy<SaruTea> {
  PERRIN_HD static SaruTea make(const RunKey& run, std::uint64_t step, std::uint32_t a,
                                std::uint32_t b) {
    return SaruTea({a, b}, tea_key(run, step));
  }
};

/// Saru's hash takes three words, so the high word of the step shares one with the second id,
/// spread by a multiplication; and the low word of the step has one to itself, also spread, so that
/// the hash sees more than a few low bits change from step to step. Two (step, a, b) can only have
/// equal words if their steps are a multiple of 2^32 apart. Six instructions beyond the plain
/// Saru(a, b, c), four of them the same for all threads.
template <>
struct KeyedBy<Saru> {
  PERRIN_HD static Saru make(const RunKey& run, std::uint64_t step, std::uint32_t a,
                             std::uint32_t b) {
    return Saru(a ^ run.x, b ^ (std::uint32_t(step >> 32) * 0x9E3779B1u + run.y),
                std::uint32_t(step) * 0x85EBCA77u + run.z);
  }
};

/// The generator of (run, step, a, b), at its beginning.
template <class Generator>
PERRIN_HD Generator keyed(const RunKey& run, std::uint64_t step, std::uint32_t id_a,
                          std::uint32_t id_b = 0) {
  return KeyedBy<Generator>::make(run, step, id_a, id_b);
}

/// The same from the bare words, for code outside hot loops.
template <class Generator>
PERRIN_HD Generator keyed(Purpose purpose, std::uint64_t seed, std::uint64_t step,
                          std::uint32_t id_a, std::uint32_t id_b = 0) {
  return KeyedBy<Generator>::make(RunKey(purpose, seed), step, id_a, id_b);
}

/// The generator of a pair: the same for (i, j) and (j, i).
template <class Generator>
PERRIN_HD Generator keyed_pair(const RunKey& run, std::uint64_t step, std::uint32_t id_a,
                               std::uint32_t id_b) {
  return id_a < id_b ? KeyedBy<Generator>::make(run, step, id_a, id_b)
                     : KeyedBy<Generator>::make(run, step, id_b, id_a);
}

/// The keys of Phillips, Anderson, Glotzer (2011), for comparison only: step + seed is a sum, so
/// runs whose hashed seeds differ by d share noise shifted by d steps, and the step is cut to 32
/// bits.
struct PhillipsKey {
  PhillipsKey() = default;
  PERRIN_HD explicit PhillipsKey(std::uint32_t user_seed) {
    hashed = user_seed * 0x12345677u + 0x12345u;
    hashed ^= hashed >> 16;
    hashed *= 0x45679u;
  }
  PERRIN_HD std::uint32_t shifted(std::uint64_t step) const { return std::uint32_t(step) + hashed; }
  std::uint32_t hashed = 0;
};
/// For single particles (Brownian dynamics): Saru(particle, step + seed). With TEA the block is
/// (particle, step) and k₁, the first word of the key of Zafar et al., the hashed seed. SaruTEA is
/// Saru going on from those two words; the paper takes them as they are, where here the highest bit
/// of the second is used up (Saru::from_mixed()), lest Saru's second sequence begin outside of its
/// cycle.
template <class Generator>
PERRIN_HD Generator phillips_single(const PhillipsKey& key, std::uint64_t step,
                                    std::uint32_t particle) {
  if constexpr (std::is_same_v<Generator, Saru>) {
    return Saru(particle, key.shifted(step));
  } else {
    static_assert(std::is_same_v<Generator, Tea> || std::is_same_v<Generator, SaruTea>);
    Words4 k = tea_key_of_zafar();
    k.x = key.hashed;
    return Generator({particle, std::uint32_t(step)}, k);
  }
}
/// For pairs (DPD): Saru(smaller id, larger id, step + seed). With TEA the block is (smaller id,
/// larger id), k₁ the step and k₂ the hashed seed.
template <class Generator>
PERRIN_HD Generator phillips_pair(const PhillipsKey& key, std::uint64_t step, std::uint32_t i,
                                  std::uint32_t j) {
  const std::uint32_t low = i < j ? i : j, high = i < j ? j : i;
  if constexpr (std::is_same_v<Generator, Saru>) {
    return Saru(low, high, key.shifted(step));
  } else {
    static_assert(std::is_same_v<Generator, Tea> || std::is_same_v<Generator, SaruTea>);
    Words4 k = tea_key_of_zafar();
    k.x = std::uint32_t(step);
    k.y = key.hashed;
    return Generator({low, high}, k);
  }
}

}  // namespace perrin
