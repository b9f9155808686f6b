// The parts "chains", "rings", "stars", "combs", "dendrimers".
#pragma once

#include <nlohmann/json.hpp>

#include "io/parts/polymer_part.h"

namespace perrin::parts {

struct ChainsSettings : BondSettings {
  std::int64_t number = 0;
  Json pattern;
};
template <class D>
void describe(D& d, ChainsSettings& s) {
  d.example("{\"number\": 20, \"pattern\": \"A3B7\"}");
  d.required("number", s.number, Positive{}, "number of molecules");
  d.required("pattern", s.pattern, Any{},
             "blocks of types along a chain: \"A3B7\", or [[\"A\", 3], [\"B\", 7]]");
  describe(d, static_cast<BondSettings&>(s));
}

struct RingsSettings : ChainsSettings {};
template <class D>
void describe(D& d, RingsSettings& s) {
  d.example("{\"number\": 20, \"pattern\": \"A12\"}");
  d.required("number", s.number, Positive{}, "number of molecules");
  d.required("pattern", s.pattern, Any{},
             "blocks of types around a ring: \"A3B7\", or [[\"A\", 3], [\"B\", 7]]");
  describe(d, static_cast<BondSettings&>(s));
}

struct StarsSettings : BondSettings {
  std::int64_t number = 0;
  std::int32_t arms = 3;
  Json arm;
  std::string center;
};
template <class D>
void describe(D& d, StarsSettings& s) {
  d.example("{\"number\": 10, \"arms\": 4, \"arm\": \"A5\"}");
  d.required("number", s.number, Positive{}, "number of molecules");
  d.required("arms", s.arms, Between{1, 1000}, "arms of a star");
  d.required("arm", s.arm, Any{}, "blocks of types along an arm, from the centre on: \"A3B7\"");
  d.optional("center", s.center, Any{},
             "type of the bead at the centre; empty: that of the first bead of an arm");
  describe(d, static_cast<BondSettings&>(s));
}

struct CombsSettings : BondSettings {
  std::int64_t number = 0;
  Json backbone, side;
  std::int32_t spacing = 1, first = 1;
};
template <class D>
void describe(D& d, CombsSettings& s) {
  d.example("{\"number\": 5, \"backbone\": \"A12\", \"side\": \"B3\", \"spacing\": 3}");
  d.required("number", s.number, Positive{}, "number of molecules");
  d.required("backbone", s.backbone, Any{}, "blocks of types along the backbone: \"A3B7\"");
  d.required("side", s.side, Any{},
             "blocks of types along a side chain, from the backbone on: \"A3B7\"");
  d.optional("spacing", s.spacing, Positive{},
             "beads of the backbone from one with a side chain to the next");
  d.optional("first", s.first, Positive{},
             "which bead of the backbone, from 1, has the first side chain");
  describe(d, static_cast<BondSettings&>(s));
}

struct DendrimersSettings : BondSettings {
  std::int64_t number = 0;
  std::int32_t generations = 1, functionality = 3;
  Json spacer;
  std::string core;
};
template <class D>
void describe(D& d, DendrimersSettings& s) {
  d.example("{\"number\": 3, \"generations\": 1, \"spacer\": \"A3\"}");
  d.required("number", s.number, Positive{}, "number of molecules");
  d.required("generations", s.generations, Between{0, 12},
             "generations that branch from the spacers of the core; 0: a star");
  d.optional("functionality", s.functionality, Between{3, 100}, "bonds of each branching bead");
  d.required("spacer", s.spacer, Any{},
             "blocks of types from a branching bead to the next one, which is the last: \"A2\"");
  d.optional("core", s.core, Any{},
             "type of the bead in the middle; empty: that of the first bead of a spacer");
  describe(d, static_cast<BondSettings&>(s));
}

std::unique_ptr<StartPart> make_chains(const ChainsSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_rings(const RingsSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_stars(const StarsSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_combs(const CombsSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_dendrimers(const DendrimersSettings& settings, Setup& setup);

}  // namespace perrin::parts
