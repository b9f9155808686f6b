// The pair loop over neighbouring columns, for any Body of pair_loop.h, on the CPU, without lists.
//
// Up to eight particles that follow one another in a column share their candidates: these are
// brought together, as coordinates relative to the first of the eight, which then meet all of them,
// two at a time, in whole vectors. Every pair is seen from both sides. What a particle gets is
// added in the order of the columns, so the result does not depend on the number of threads.
#pragma once

#include <cstring>

#include "engine/core/parallel.h"
#include "neighbor/columns/column_walk.h"
#include "neighbor/inline.h"

namespace perrin {
namespace detail {

template <class Body>
struct ColumnLoop {
  static constexpr int width = ColumnWalk::width, most = ColumnWalk::most, sums = Body::sums;
  using Group = ColumnWalk::Group;
  using Candidates = ColumnWalk::Candidates;
  using Partial = Real[sums][width];
  Body body;
  ColumnView list;

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
    Real4 extra{};
    if constexpr (Body::has_extra) extra = body.extra(c.index[k]);
    body.pair(a.own, d_a, c.type[k], extra, c.who[k] != a.self, term_a);
    body.pair(b.own, d_b, c.type[k], extra, c.who[k] != b.self, term_b);
  }

  /// All particles of the group with all candidates.
  PERRIN_INLINE void meet(ColumnWalk& walk, Partial (&partial)[most]) const {
    const Group& g = walk.group;
    const Candidates& c = walk.candidates;
    const int padded = c.padded();
    // Exclusions are one particle's: then each is on its own.
    const int together = list.exclusions ? 1 : 2;
    for (int m = 0; m < g.count; m += together) {
      const int other = together == 2 && m + 1 < g.count ? m + 1 : m;
      const bool some = list.exclusions && walk.exclude(g.index[m]);
      using Own = decltype(body.own(0));
      const Member<Own> a{body.own(g.index[m]), g.x[m], g.y[m], g.z[m], g.index[m]};
      const Member<Own> b{body.own(g.index[other]), other == m ? -list.far : g.x[other], g.y[other],
                          g.z[other], g.index[other]};
      alignas(64) Real sum_a[sums][width] = {}, sum_b[sums][width] = {};
      for (int first = 0; first < padded; first += width) {
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) {
          Real term_a[sums], term_b[sums];
          evaluate(a, b, c, first + k, term_a, term_b);
          for (int s = 0; s < sums; ++s) sum_a[s][k] += term_a[s], sum_b[s][k] += term_b[s];
        }
      }
      for (int s = 0; s < sums; ++s) {
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) {
          partial[m][s][k] += sum_a[s][k];
          if (other != m) partial[other][s][k] += sum_b[s][k];
        }
      }
      if (some) walk.include_all();
    }
  }

  PERRIN_INLINE void operator()(std::int64_t part) const {
    ColumnWalk walk(list, part);
    alignas(64) Partial partial[most];
    while (walk.next_group()) {
      std::memset(partial, 0, sizeof partial);
      do {
        walk.find();
        meet(walk, partial);
      } while (walk.more());
      for (int m = 0; m < walk.group.count; ++m) {
        Real sum[sums];
        for (int s = 0; s < sums; ++s) {
          for (int half = width / 2; half > 0; half /= 2)
            for (int k = 0; k < half; ++k) partial[m][s][k] += partial[m][s][k + half];
          sum[s] = partial[m][s][0];
        }
        body.store(walk.group.index[m], sum);
      }
    }
  }
};

}  // namespace detail

/// Runs the body over all pairs within the range.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, const ColumnSearch& search, const Body& body) {
  const Device& device = search.particles().device();
  if (device.skipping()) return;
  const detail::ColumnLoop<Body> loop{body, search.view()};
  const auto evaluate = [&](std::int64_t k, int) { run_range(loop, k, k + 1); };
  for_tasks(device, ColumnWalk::parts(loop.list.n), evaluate, loop.list.n > 256);
}

}  // namespace perrin
