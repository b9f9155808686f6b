// Settings are declared once per component, in a `describe` function; parsing, defaults, bounds,
// help, JSON Schema and the record in the output file all come from it.
//
//     struct LangevinSettings { double temperature, friction = 1; std::string rng = "saru"; };
//
//     template <class D> void describe(D& d, LangevinSettings& s) {
//       d.required("temperature", s.temperature, Positive{}, "k_B T, in energy units");
//       d.optional("friction", s.friction, Positive{}, "1/time");
//       d.optional("rng", s.rng, OneOf{"saru", "tea", "philox"}, "random number generator");
//     }
//
// `describe` is found by argument-dependent lookup. The field's value when the visitor comes is the
// default of an optional key. Fields may be bool, int, std::int64_t, std::uint64_t, double,
// std::string, Vec3<double>, std::array, std::vector, std::optional and std::map<std::string, …> of
// these, any struct that has a `describe`, and Json (anything, checked by the component itself).
#pragma once

#include <string>
#include <vector>

namespace perrin {

// What a value must be. Each applies to numbers (to every number of an array), OneOf to text.
struct Any {};
struct Positive {};
struct NonNegative {};
struct Between {  // inclusive
  double low, high;
};
struct OneOf {
  std::vector<std::string> values;
  OneOf(std::initializer_list<const char*> list) : values(list.begin(), list.end()) {}
};

}  // namespace perrin
