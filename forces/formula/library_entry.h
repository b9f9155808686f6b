// Parameters of a potential of the library as settings: one entry of "pairs" or "dihedrals".
#pragma once

#include <array>
#include <string>
#include <vector>

#include "forces/formula/library.h"

namespace perrin::formula {

struct LibraryEntry {
  LibraryEntry() = default;
  explicit LibraryEntry(const Potential& p)
      : potential(&p), reals(p.parameters.size()), wholes(p.parameters.size()) {
    for (std::size_t k = 0; k < p.parameters.size(); ++k) {
      reals[k] = p.parameters[k].value.value_or(0);
      wholes[k] = static_cast<std::int64_t>(reals[k]);
    }
  }

  bool of_pairs() const { return potential->type == "pair_formula"; }
  Values values() const {
    Values found;
    for (std::size_t k = 0; k < reals.size(); ++k)
      found[potential->parameters[k].name] = is_whole(k) ? double(wholes[k]) : reals[k];
    return found;
  }
  bool is_whole(std::size_t k) const {
    return potential->parameters[k].kind == Parameter::Kind::whole_exponent;
  }

  const Potential* potential = nullptr;
  std::array<std::string, 2> types;
  std::vector<double> reals;         // by the parameter
  std::vector<std::int64_t> wholes;  // by the parameter, of those that are whole
  std::optional<double> cutoff;
};

template <class D>
void describe(D& d, LibraryEntry& s) {
  if (!s.potential) return;
  if (s.of_pairs())
    d.required("types", s.types, Any{}, "the two particle types, e.g. [\"A\", \"B\"]");
  for (std::size_t k = 0; k < s.reals.size(); ++k) {
    const Parameter& p = s.potential->parameters[k];
    const auto add = [&](auto& value) {
      p.value ? d.optional(p.name, value, p.check, p.help())
              : d.required(p.name, value, p.check, p.help());
    };
    s.is_whole(k) ? add(s.wholes[k]) : add(s.reals[k]);
  }
  if (s.of_pairs())
    d.optional("cutoff", s.cutoff, Positive{}, "cut-off of this pair of types (length)");
}

}  // namespace perrin::formula
