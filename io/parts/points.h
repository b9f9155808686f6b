// Parts of single particles: "random", "fill", "lattice".
#pragma once

#include "io/parts/part.h"

namespace perrin::parts {

struct RandomSettings {
  std::map<std::string, std::int64_t> particles;
  std::map<std::string, double> densities;
  std::optional<RegionSettings> region;
};
template <class D>
void describe(D& d, RandomSettings& s) {
  d.example("{\"particles\": {\"A\": 100}}");
  d.optional("particles", s.particles, Positive{}, "number of particles of each type");
  d.optional("densities", s.densities, Positive{},
             "number density of each type in the region, instead of particles");
  d.optional("region", s.region, Any{}, "where in the box they are; default: anywhere");
}

struct FillSettings {
  std::map<std::string, double> types{{"A", 1.0}};
  double density = 1;
  std::string of = "all";
  std::optional<RegionSettings> region;
};
template <class D>
void describe(D& d, FillSettings& s) {
  d.example("{\"types\": {\"W\": 1}, \"density\": 0.2}");
  d.required("density", s.density, Positive{}, "number density to be reached");
  d.optional("of", s.of, OneOf{"all", "free"},
             "all: the density in the region of all particles, those of earlier parts included; "
             "free: that of these in the part of the region where they may be: at the minimum "
             "distance or more from earlier ones");
  d.optional("types", s.types, Positive{}, "relative amount of each type");
  d.optional("region", s.region, Any{}, "where in the box they are; default: anywhere");
}

struct LatticeSettings {
  std::string structure = "fcc";
  std::optional<double> density, lattice_constant;
  std::map<std::string, double> types{{"A", 1.0}};
  std::string overlapping = "refuse";
  std::optional<RegionSettings> region;
};
template <class D>
void describe(D& d, LatticeSettings& s) {
  d.example("{\"structure\": \"sc\", \"lattice_constant\": 2}");
  d.optional("structure", s.structure, OneOf{"fcc", "bcc", "sc", "square", "hexagonal"},
             "square and hexagonal: in two dimensions");
  d.optional("density", s.density, Positive{}, "particles per volume (area in 2D)");
  d.optional("lattice_constant", s.lattice_constant, Positive{},
             "edge of the conventional cell, instead of density; hexagonal: the nearest-neighbour "
             "distance. Along a periodic axis that the region does not bound it is changed so that "
             "whole cells fit");
  d.optional("types", s.types, Positive{}, "relative amount of each type; assigned at random");
  d.optional("overlapping", s.overlapping, OneOf{"refuse", "leave_out"},
             "sites that are too near to particles of earlier parts: a mistake, or left empty");
  d.optional("region", s.region, Any{}, "where in the box they are; default: everywhere");
}

std::unique_ptr<StartPart> make_random(const RandomSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_fill(const FillSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_lattice(const LatticeSettings& settings, Setup& setup);

}  // namespace perrin::parts
