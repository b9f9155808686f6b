// The "dynamic_bonds" of a job: bonds that are made and broken while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin {

struct FormBondSettings {
  std::array<std::string, 2> types;
  std::string bond, angle, reactivity = "pair";
  double distance = 0, probability = 1;
  std::vector<std::string> stages;
};
template <class D>
void describe(D& d, FormBondSettings& s) {
  d.required("types", s.types, Any{}, "types of the two particles, e.g. [\"A\", \"B\"]");
  d.required("bond", s.bond, Any{},
             "type of the new bonds; a force must have coefficients for it, also where the system "
             "has no such bond at the start");
  d.required("distance", s.distance, Positive{},
             "pairs at most so far apart can be bonded (length)");
  d.optional("probability", s.probability, Between{0, 1},
             "probability with which each such pair is chosen at an event");
  d.optional("reactivity", s.reactivity, OneOf{"pair", "valence"},
             "what the probability is of: pair, of two particles, however many valences they have "
             "left; valence, of each pair of free valences (equal reactivity, P. J. Flory)");
  d.optional("angle", s.angle, Any{},
             "type of new angles: of each new bond with every other bond at its two ends; empty: "
             "none are made");
  d.optional("stages", s.stages, Any{},
             "names or types of the stages in which it acts; none: all md stages with an "
             "equation of motion");
}

struct BreakBondSettings {
  std::string bond;
  double length = 0, probability = 1;
  std::optional<double> force;
  std::vector<std::string> stages;
};
template <class D>
void describe(D& d, BreakBondSettings& s) {
  d.required("bond", s.bond, Any{}, "type of bonds that break, of the system or of \"form\"");
  d.optional("length", s.length, NonNegative{},
             "only bonds longer than this break; 0: all of the type (length)");
  d.optional("force", s.force, Positive{},
             "only bonds in which the force of their potential, pulling or pushing, is larger than "
             "this break (energy/length); with \"length\" those to which both apply");
  d.optional("probability", s.probability, Between{0, 1},
             "probability with which each such bond breaks at an event");
  d.optional("stages", s.stages, Any{}, "as of form");
}

struct DynamicBondsSettings {
  std::int64_t stride = 0;
  std::vector<FormBondSettings> form;
  std::vector<BreakBondSettings> broken;
  std::map<std::string, std::int64_t> valence;
};
template <class D>
void describe(D& d, DynamicBondsSettings& s) {
  d.required("stride", s.stride, Positive{},
             "bonds are broken and made at steps that are multiples of this");
  d.optional("form", s.form, Any{}, "pairs of particles between which bonds are made");
  d.optional("break", s.broken, Any{}, "types of bonds that break");
  d.optional("valence", s.valence, Any{},
             "by type of particles: the most bonds, of all types, that a particle can have; "
             "needed for every type of \"form\"");
}

}  // namespace perrin
