// The parts "brush" and "bilayer".
#pragma once

#include <nlohmann/json.hpp>

#include "io/parts/polymer_part.h"

namespace perrin::parts {

struct BrushSettings : BondSettings {
  std::optional<std::int64_t> number;
  std::optional<double> grafting_density, position;
  Json pattern;
  std::string grafted, axis = "z", direction = "up", arrangement = "random";
};
template <class D>
void describe(D& d, BrushSettings& s) {
  d.example("{\"pattern\": \"A6\", \"grafted\": \"G\", \"grafting_density\": 0.1}");
  d.required("pattern", s.pattern, Any{}, "blocks of types along a chain, from the plane on");
  d.optional("number", s.number, Positive{}, "number of chains");
  d.optional("grafting_density", s.grafting_density, Positive{},
             "chains per area (in two dimensions per length), instead of number");
  d.optional("grafted", s.grafted, Any{},
             "type of the first bead of each chain, which is on the plane; empty: as in the "
             "pattern");
  d.optional("axis", s.axis, OneOf{"x", "y", "z"}, "normal of the plane");
  d.optional("position", s.position, Any{},
             "where the plane is along the axis; default: the face of the box behind the chains");
  d.optional("direction", s.direction, OneOf{"up", "down"},
             "side of the plane on which the chains are: up: larger coordinates");
  d.optional("arrangement", s.arrangement, OneOf{"random", "square"},
             "grafted beads at random places, or on a lattice as square as possible");
  describe(d, static_cast<BondSettings&>(s));
}

struct BilayerSettings {
  std::optional<std::int64_t> number;
  std::optional<double> area_per_lipid;
  Json head, tail;
  std::int32_t tails = 1;
  double position = 0, bond_length = 0.97;
  std::optional<double> gap;
  std::string axis = "z", bond_type = "bond", angle_type;
};
template <class D>
void describe(D& d, BilayerSettings& s) {
  d.example("{\"number\": 72, \"head\": \"H1\", \"tail\": \"T2\"}");
  d.required("head", s.head, Any{}, "blocks of types of a head, from outside inwards: \"H3\"");
  d.required("tail", s.tail, Any{}, "blocks of types of a tail, from the head on: \"T4\"");
  d.optional("tails", s.tails, Between{1, 4}, "tails of a lipid, side by side");
  d.optional("number", s.number, Positive{}, "lipids in both leaflets");
  d.optional("area_per_lipid", s.area_per_lipid, Positive{},
             "area of the plane (in two dimensions length) per lipid of a leaflet, instead of "
             "number");
  d.optional("axis", s.axis, OneOf{"x", "y", "z"}, "normal of the membrane");
  d.optional("position", s.position, Any{}, "where its middle is along the axis");
  d.optional("gap", s.gap, NonNegative{},
             "distance of the leaflets' last beads; default: the bond length");
  d.optional("bond_length", s.bond_length, Positive{}, "bond length; two tails are as far apart");
  d.optional("bond_type", s.bond_type, Any{}, "bond type");
  d.optional("angle_type", s.angle_type, Any{},
             "angle type along the head and each tail; empty: no angles");
}

std::unique_ptr<StartPart> make_brush(const BrushSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_bilayer(const BilayerSettings& settings, Setup& setup);

}  // namespace perrin::parts
