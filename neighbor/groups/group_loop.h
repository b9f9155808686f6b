// The pair loop over the groups of a walk (group_walk.h), for any Body of pair_loop.h, on the CPU,
// without lists.
//
// The members of a group meet their candidates two at a time, in whole vectors. Pairs are seen from
// both sides, or from one, where the walk says so: then candidates are given the other side. What a
// particle gets is added in the order in which the walk finds its candidates, so the result does
// not depend on the number of threads.
#pragma once

#include <cstring>

#include "engine/device/parallel.h"
#include "neighbor/groups/group_walk.h"
#include "neighbor/inline.h"
#include "neighbor/pair_extra.h"

namespace perrin::detail {

/// Sums that are complete only when all groups have been gone through; sums == nullptr: groups
/// complete theirs. In each slot a row of n numbers for each sum.
struct OpenSums {
  Real* sums = nullptr;
  std::int64_t n = 0;
  PERRIN_INLINE Real* row(int slot, int s, int count) const {
    return sums + (std::int64_t(slot) * count + s) * n;
  }
};

template <class Body>
struct GroupLoop {
  static constexpr int width = GroupWalk::width, room = GroupWalk::room, sums = Body::sums;
  using Candidates = GroupWalk::Candidates;
  using Partial = Real[sums][width];
  Body body;
  GroupWalk* walk;
  OpenSums open;

  /// One of two particles that meet the candidates together.
  template <class Own>
  struct Member {
    Own own;
    Real x, y, z;
    std::uint32_t self;
  };

  // A function of its own: GCC does not vectorise over structs declared in the simd loop.
  template <class Own>
  PERRIN_INLINE void evaluate(const Member<Own>& a, const Member<Own>& b, const Candidates& c,
                              int k, Real (&term_a)[sums], Real (&term_b)[sums]) const {
    const Real3 d_a{a.x - c.x[k], a.y - c.y[k], a.z - c.z[k]};
    const Real3 d_b{b.x - c.x[k], b.y - c.y[k], b.z - c.z[k]};
    const auto extra = extra_of(body, c.index[k]);
    body.pair(a.own, d_a, c.type[k], extra, c.who[k] != a.self, term_a);
    body.pair(b.own, d_b, c.type[k], extra, c.who[k] != b.self, term_b);
  }

  /// All takers with the candidates.
  template <bool Gives>
  PERRIN_INLINE void meet(Partial* partial, Real (*given)[room]) const {
    const GroupWalk::Group& g = walk->group;
    const GroupWalk::Takers& takers = walk->takers;
    const Candidates& c = walk->candidates;
    // Exclusions are one particle's: then each is on its own.
    const int together = walk->excludes() ? 1 : 2;
    for (int t = 0; t < takers.count && takers.vectors[t] > 0; t += together) {
      const int m = takers.member[t];
      const int other = together == 2 && t + 1 < takers.count ? takers.member[t + 1] : m;
      const bool some = walk->excludes() && walk->exclude(g.index[m]);
      using Own = decltype(body.own(0));
      const Member<Own> a{body.own(g.index[m]), g.x[m], g.y[m], g.z[m], g.index[m]};
      const Member<Own> b{body.own(g.index[other]), other == m ? -walk->far : g.x[other],
                          g.y[other], g.z[other], g.index[other]};
      alignas(64) Partial sum_a, sum_b;
      std::memcpy(sum_a, partial[m], sizeof sum_a);
      std::memcpy(sum_b, partial[other], sizeof sum_b);
      const int end = takers.vectors[t] * width;
      for (int first = 0; first < end; first += width) {
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) {
          Real term_a[sums], term_b[sums];
          evaluate(a, b, c, first + k, term_a, term_b);
          for (int s = 0; s < sums; ++s) {
            sum_a[s][k] += term_a[s], sum_b[s][k] += term_b[s];
            if constexpr (Gives) {
              const Real sum = given[s][first + k];
              given[s][first + k] =
                  s < Body::odd ? (sum - term_a[s]) - term_b[s] : (sum + term_a[s]) + term_b[s];
            }
          }
        }
      }
      if (other != m) std::memcpy(partial[other], sum_b, sizeof sum_b);
      std::memcpy(partial[m], sum_a, sizeof sum_a);
      if (some) walk->include_all();
    }
  }

  PERRIN_INLINE void meet_once(Partial* partial) const {
    alignas(64) Real given[sums][room];
    const GroupWalk::Candidates& c = walk->candidates;
    for (int s = 0; s < sums; ++s) std::memset(given[s], 0, std::size_t(c.padded()) * sizeof(Real));
    meet<true>(partial, given);
    for (int s = 0; s < sums; ++s) {
      Real* const to = open.row(walk->slot, s, sums) + walk->offset;
      if (walk->adds)
        for (int k = 0; k < c.n; ++k) to[k] += given[s][k];
      else
        std::memcpy(to, given[s], std::size_t(c.n) * sizeof(Real));
    }
  }

  PERRIN_INLINE void operator()(std::int64_t) const {
    alignas(64) Partial partial[GroupWalk::most];
    while (walk->next()) {
      const GroupWalk::Group& g = walk->group;
      std::memset(partial, 0, std::size_t(g.count) * sizeof(Partial));
      while (walk->find())
        if (walk->gives)
          meet_once(partial);
        else
          meet<false>(partial, nullptr);
      for (int m = 0; m < g.count; ++m) {
        Real sum[sums];
        for (int s = 0; s < sums; ++s) {
          for (int half = width / 2; half > 0; half /= 2)
            for (int k = 0; k < half; ++k) partial[m][s][k] += partial[m][s][k + half];
          sum[s] = partial[m][s][0];
        }
        if (open.sums)
          for (int s = 0; s < sums; ++s) open.row(0, s, sums)[walk->place + m] = sum[s];
        else
          body.store(g.index[m], sum);
      }
    }
  }
};

/// The body over all pairs that Walk{view, part} finds, for all parts.
template <class Walk, class View, class Body>
void run_groups(const Device& device, const View& view, const Body& body, bool many,
                const OpenSums& open = {}) {
  const auto evaluate = [&](std::int64_t part, int) {
    Walk walk(view, part);
    run_range(GroupLoop<Body>{body, &walk, open}, 0, 1);
  };
  for_tasks(device, Walk::parts(view), evaluate, many);
}

}  // namespace perrin::detail
