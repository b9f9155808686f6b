// Pairs of particles with a force of their own: the 1-4 pairs of force fields, or a list.
#pragma once

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/components/setup.h"
#include "engine/settings/settings.h"

namespace perrin {

struct SpecialPairList {
  std::string from = "dihedrals";
  std::vector<std::array<std::int64_t, 2>> list;

  template <class D>
  friend void describe(D& d, SpecialPairList& s) {
    d.optional("from", s.from, OneOf{"dihedrals", "list"},
               "dihedrals: all pairs that are three bonds apart, and the ends of listed dihedrals "
               "unless fewer bonds separate them, each pair once; list: the pairs of \"list\"");
    d.optional("list", s.list, NonNegative{}, "pairs of particles, by id from 0");
  }
};

using SpecialPair = std::pair<std::uint32_t, std::uint32_t>;  // the lower id first

/// In order. Reports wrong lists at "list", and at "from" a system without such pairs.
std::set<SpecialPair> special_pairs(const SpecialPairList& s, Setup& setup);

/// Whether all are ends of listed dihedrals: processes are told of these.
bool in_topology(const std::set<SpecialPair>& pairs, const Configuration& c);

}  // namespace perrin
