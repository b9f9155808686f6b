// "parts": a start made of several parts in one box.
#pragma once

#include "engine/components/registry.h"
#include "io/parts/part.h"

namespace perrin::parts {

struct PairDistance {
  std::array<std::string, 2> types;
  double distance = 0;
};
template <class D>
void describe(D& d, PairDistance& s) {
  d.required("types", s.types, Any{}, "the two types");
  d.required("distance", s.distance, NonNegative{}, "their minimum distance");
}

/// What particles have whose own part has no number for an attribute.
struct OtherNumbers {
  std::optional<double> value;
  std::map<std::string, double> types;
};
template <class D>
void describe(D& d, OtherNumbers& s) {
  d.example("{\"default\": 0.5, \"types\": {\"W\": 0.3}}");
  d.optional("default", s.value, Any{},
             "number of particles of types that \"types\" does not name");
  d.optional("types", s.types, Any{}, "number of particles of a type, by its name");
}

struct PartsSettings {
  Vec3<double> box;
  std::array<double, 3> tilts{0, 0, 0};
  std::optional<Vec3<double>> origin;
  std::int32_t dimension = 3;
  std::array<bool, 3> periodic{true, true, true};
  double min_distance = 0.8;
  std::vector<PairDistance> min_distances;
  std::map<std::string, double> masses;
  std::map<std::string, OtherNumbers> attributes;
  std::vector<Part<StartPart>> parts;
};
template <class D>
void describe(D& d, PartsSettings& s) {
  d.example(
      "{\"box\": [12, 12, 12], \"parts\": [{\"type\": \"chains\", \"number\": 10, "
      "\"pattern\": \"A8\"}, {\"type\": \"random\", \"particles\": {\"W\": 200}}]}");
  d.required("box", s.box, Positive{}, "edge lengths of the box");
  d.optional("tilts", s.tilts, Any{}, "tilts xy, xz, yz of the box");
  d.optional("origin", s.origin, Any{},
             "lower corner of the box; default: the middle of its edges is at 0");
  d.optional("dimension", s.dimension, Between{2, 3}, "dimension, 2 or 3");
  d.optional("periodic", s.periodic, Any{}, "periodic boundaries along x, y, z");
  d.optional("min_distance", s.min_distance, NonNegative{},
             "minimum distance between any two particles that are not bonded; those of one rigid "
             "molecule keep the distances that it gives them");
  d.optional("min_distances", s.min_distances, Any{}, "minimum distances of pairs of types");
  d.optional("masses", s.masses, Positive{},
             "mass of each type; overrides those of the parts; default: 1");
  d.optional("attributes", s.attributes, Any{},
             "by the names of attributes that parts \"file\" and \"source\" bring: the numbers of "
             "all other particles; an attribute that some have and others lack is left out");
  d.required("parts", s.parts, Any{}, "what is in the box, in the order in which it is placed");
}

std::unique_ptr<Source> make_parts(const PartsSettings& settings, Setup& setup);

}  // namespace perrin::parts
