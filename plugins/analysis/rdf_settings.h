// Settings of the observer "rdf".
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sampled.h"

namespace perrin::analysis {

struct RdfSettings : SampledSettings {
  RdfSettings() { file = "rdf.h5"; }
  std::int32_t bins = 200;
  double r_max = 0;
  std::vector<std::array<std::string, 2>> pairs;
  std::string group = "all";
  std::vector<std::string> groups;
  std::string exclude = "none";
};
template <class D>
void describe(D& d, RdfSettings& s) {
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("bins", s.bins, Between{1, 100000}, "number of bins");
  d.optional(
      "r_max", s.r_max, NonNegative{},
      "upper end of the last bin (length); 0: half the shortest distance between opposite faces of "
      "the box at the start. In rows of a smaller box, bins beyond half of that distance are NaN");
  d.optional("pairs", s.pairs, Any{},
             "pairs of particle types; empty: all (of those that the groups have)");
  d.optional("group", s.group, Any{}, "group of particles: pairs within it are counted");
  d.optional("groups", s.groups, Any{},
             "two groups of particles, in place of group: pairs of a particle of the first and "
             "another one of the second are counted, each once");
  d.optional("exclude", s.exclude, OneOf{"none", "bonds", "molecules"},
             "exclude bonded pairs, or all pairs within a molecule");
}

}  // namespace perrin::analysis
