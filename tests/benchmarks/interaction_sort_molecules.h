// Rigid molecules in the searches of interaction_sort.h: cells and orders hold base atoms only, and
// what is sorted once for these serves all sites. Two molecules meet where their base atoms are
// closer than the range and twice the longest arm.
#pragma once

#include "tests/benchmarks/interaction_sort.h"

namespace perrin::interaction_sort {

constexpr int sites = 3;

/// From the base atom to each site, by place; the first is the base atom itself.
struct Arms {
  const Real4* arm;  // [place · sites + site]
  PERRIN_HD Real3 operator()(std::int64_t place, int site) const {
    return arm[place * sites + site].xyz();
  }
};

/// Arms in the order of places.
struct PlaceArms {
  const std::uint32_t* number;
  const Real4* from;
  Real4* to;
  PERRIN_HD void operator()(std::int64_t k) const {
    to[k] = from[std::int64_t(number[k / sites]) * sites + k % sites];
  }
};

/// A Body for base atoms that runs the Body of sites over the pairs of two molecules' sites.
template <class SiteBody>
struct MoleculeBody {
  Arms arms;
  Real reach2;  // of base atoms
  SiteBody body;
  struct State {
    typename SiteBody::State sum;
    Real3 own[sites];
  };
  PERRIN_HD State begin(std::int64_t i) const {
    State state{body.begin(i), {}};
    for (int a = 0; a < sites; ++a) state.own[a] = arms(i, a);
    return state;
  }
  PERRIN_HD void meet(State& state, const Real3& d, Real r2, std::uint32_t other) const {
    if (!(r2 < reach2)) return;
    for (int b = 0; b < sites; ++b) {
      const Real3 to = d - arms(other, b);
      for (int a = 0; a < sites; ++a) {
        const Real3 between = to + state.own[a];
        body.meet(state.sum, between, dot(between, between), other);
      }
    }
  }
  PERRIN_HD void end(std::int64_t i, const State& state) const { body.end(i, state.sum); }
};

}  // namespace perrin::interaction_sort
