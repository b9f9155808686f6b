// Finding the parameters of Mersenne twisters of 607 bits: the twist matrix a, and the tempering
// masks b and c (Matsumoto, Nishimura, "Dynamic creation of pseudorandom number generators", 2000).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "rng/mt607.h"
#include "rng/philox.h"
#include "rng/tools/gf2_polynomial.h"

namespace perrin {

/// The characteristic polynomial of the twister with matrix a is linear in the bits of a
/// (Matsumoto, Nishimura, ACM TOMACS 8 (1998) 3, appendix A), with u = x^n + x^m, v = x^(n-1) +
/// x^(m-1):
///     u^(w-r) v^r  +  sum over i < r of a_i u^(w-r) v^(r-1-i)  +  sum over i ≥ r of a_i u^(w-1-i)
class Mt607Matrix {
 public:
  Mt607Matrix() {
    using namespace gf2;
    Polynomial u{}, v{};
    flip(u, Mt607::n), flip(u, Mt607::m);
    flip(v, Mt607::n - 1), flip(v, Mt607::m - 1);
    std::array<Polynomial, 32> power{};  // of u
    power[0] = {{1}};
    for (int i = 1; i < 32; ++i) power[i] = power[i - 1] * u;
    base_ = power[31] * v;
    term_[0] = power[31];
    for (int i = 1; i < 32; ++i) term_[i] = power[31 - i];

    // Residues modulo the small irreducible polynomials, linear in a too.
    std::vector<std::uint32_t> primes;
    for (std::uint32_t q = 2; q < 2u << largest_factor; ++q) {
      const bool composite = std::any_of(primes.begin(), primes.end(), [q](std::uint32_t p) {
        return remainder(Polynomial{{q}}, p) == 0;
      });
      if (composite) continue;
      primes.push_back(q);
      Residues r;
      r.base = remainder(base_, q);
      std::array<std::uint32_t, 32> single;
      for (int i = 0; i < 32; ++i) single[i] = remainder(term_[i], q);
      for (int byte = 0; byte < 4; ++byte)
        for (int value = 0; value < 256; ++value)
          for (int bit = 0; bit < 8; ++bit)
            if (value >> bit & 1) r.table[byte][value] ^= single[8 * byte + bit];
      residues_.push_back(r);
    }
  }

  gf2::Polynomial characteristic(std::uint32_t a) const {
    gf2::Polynomial p = base_;
    for (int i = 0; i < 32; ++i)
      if (a >> i & 1) p = p ^ term_[i];
    return p;
  }

  /// Whether the twister with this matrix has the full period 2^607 - 1.
  bool primitive(std::uint32_t a) const {
    for (const Residues& r : residues_) {
      const std::uint32_t rest = r.base ^ r.table[0][a & 255] ^ r.table[1][a >> 8 & 255] ^
                                 r.table[2][a >> 16 & 255] ^ r.table[3][a >> 24];
      if (rest == 0) return false;
    }
    return gf2::irreducible_of_prime_degree(characteristic(a));
  }

 private:
  static constexpr int largest_factor = 10;  // degree; leaves 6 % of the candidates
  struct Residues {
    std::uint32_t base = 0;
    std::array<std::array<std::uint16_t, 256>, 4> table{};
  };
  gf2::Polynomial base_{};
  std::array<gf2::Polynomial, 32> term_{};
  std::vector<Residues> residues_;
};

/// For v = 1 … 32, k(v): the largest k such that the v highest bits of k successive outputs take
/// all values equally often over the period (at best floor(607/v)).
///
/// Lattice reduction by states (Couture, L'Ecuyer, Math. Comp. 69 (2000) 757; Harase, Matsumoto,
/// Saito, Math. Comp. 80 (2011) 395): a lattice vector is the series of outputs of some state, kept
/// advanced to its first output that is not zero in the v highest bits, the lead. The leads are
/// kept in echelon form. The one vector too many is reduced by the others, always replacing the one
/// that has been advanced less, advanced again, and so on until it vanishes. With a reduced basis
/// k(v) is the least number of advances. The basis for v, cut by one bit, starts the reduction for
/// v - 1.
inline std::array<int, 33> equidistribution(const Mt607Parameters& parameters) {
  struct Vector {
    std::array<std::uint32_t, Mt607::n> x{};  // the state that makes the outputs to come
    std::uint32_t lead = 0;                   // the current output
    int advances = 0;
  };
  const auto advance = [&](Vector& q) {
    q.lead = Mt607::temper(q.x[0], parameters);
    const std::uint32_t next = Mt607::twist(q.x[0], q.x[1], q.x[Mt607::m], parameters.a);
    for (int i = 0; i + 1 < Mt607::n; ++i) q.x[i] = q.x[i + 1];
    q.x[Mt607::n - 1] = next;
  };
  // Returns false if the vector is zero.
  const auto advance_to_lead = [&](Vector& q, std::uint32_t mask) {
    while ((q.lead & mask) == 0) {
      std::uint32_t any = 0;
      for (std::uint32_t w : q.x) any |= w;
      if (any == 0) return false;
      advance(q);
      ++q.advances;
    }
    return true;
  };

  std::array<Vector, 32> basis;  // by the highest bit of the lead
  for (int i = 0; i < 32; ++i) basis[i].lead = 1u << i;
  Vector extra;
  std::uint32_t word = 4321;
  for (std::uint32_t& x : extra.x) x = word = 1812433253u * word + 1u;
  // Words that the recurrence made: in an arbitrary state one bit of the first would be free.
  for (int i = 0; i < Mt607::n; ++i) advance(extra);
  extra.lead = 0;

  std::array<int, 33> k{};
  for (int v = 32; v >= 1; --v) {
    const std::uint32_t mask = ~0u << (32 - v);
    if (v < 32) extra = basis[31 - v];
    while (advance_to_lead(extra, mask)) {
      while (extra.lead & mask) {
        Vector& row = basis[31 - std::countl_zero(extra.lead)];
        if (row.advances < extra.advances) std::swap(row, extra);
        for (int i = 0; i < Mt607::n; ++i) extra.x[i] ^= row.x[i];
        extra.lead ^= row.lead;
      }
    }
    k[v] = basis[31].advances;
    for (int i = 32 - v; i < 31; ++i) k[v] = std::min(k[v], basis[i].advances);
  }
  return k;
}

/// The sum over v of floor(607/v) - k(v); 0 is best.
inline int total_defect(const Mt607Parameters& parameters) {
  const auto k = equidistribution(parameters);
  int total = 0;
  for (int v = 1; v <= 32; ++v) total += Mt607::bits / v - k[v];
  return total;
}

/// The two published parameter sets have total defects of 222 and 205: as good is good enough.
constexpr int good_total_defect = 212;

/// Parameters of generator `id` (0 to 65535): a's low half is the id; its high half is the first of
/// a random order that makes the generator primitive; b and c come from annealing the total defect
/// (its landscape is rugged: descent alone ends near 300) for at most this number of evaluations.
/// The result depends on nothing but the arguments.
inline Mt607Parameters search_mt607(const Mt607Matrix& matrix, std::uint32_t id, int evaluations) {
  Philox random({id, 607, 0, 0}, {0x6d743630u, 0x37u});
  Mt607Parameters p;
  do {
    p.a = (random.next() & 0xffff0000u) | (id & 0xffffu);
  } while (!matrix.primitive(p.a));

  // The low bits of b and c meet zeros that the shifts brought in: they stay 0.
  constexpr std::uint32_t bits_b = 32 - Mt607::shift_b, bits_c = 32 - Mt607::shift_c;
  p.b = random.next() << Mt607::shift_b;
  p.c = random.next() << Mt607::shift_c;
  int defect = total_defect(p), best_defect = defect;
  Mt607Parameters best = p;
  for (int i = 1; i < evaluations && best_defect > good_total_defect; ++i) {
    const double temperature = 20.0 * (1.0 - double(i) / evaluations);
    Mt607Parameters trial = p;
    const int flips = random.below(3) == 0 ? 2 : 1;
    for (int flip = 0; flip < flips; ++flip) {
      const std::uint32_t bit = random.below(bits_b + bits_c);
      if (bit < bits_b)
        trial.b ^= 1u << (Mt607::shift_b + bit);
      else
        trial.c ^= 1u << (Mt607::shift_c + (bit - bits_b));
    }
    const int trial_defect = total_defect(trial);
    if (trial_defect <= defect ||
        random.exponential<double>() * temperature > trial_defect - defect) {
      p = trial;
      defect = trial_defect;
    }
    if (defect < best_defect) best_defect = defect, best = p;
  }
  return best;
}

}  // namespace perrin
