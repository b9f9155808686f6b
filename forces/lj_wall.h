// A flat Lennard-Jones wall, from which every particle is pushed away on either side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/components/endless_potential.h"
#include "engine/components/force.h"
#include "engine/settings/settings.h"
#include "forces/external.h"

namespace perrin {

struct LjWallSettings {
  std::string axis = "z", form = "9-3";
  double position = 0, epsilon = 1, sigma = 1;
  std::optional<double> cutoff;
  std::vector<std::string> types;
};

template <class D>
void describe(D& d, LjWallSettings& s) {
  d.example("{\"axis\": \"z\", \"position\": -6, \"epsilon\": 1, \"sigma\": 1}");
  d.required("axis", s.axis, OneOf{"x", "y", "z"}, "axis normal to the wall");
  d.required(
      "position", s.position, Any{},
      "position of the wall on this axis; 0: the middle of the box (perrin help coordinates)");
  d.required("epsilon", s.epsilon, NonNegative{}, "strength, in energy units");
  d.required("sigma", s.sigma, Positive{}, "diameter");
  d.optional("form", s.form, OneOf{"9-3", "12-6"},
             "energy at the distance h: epsilon [2/15 (sigma/h)^9 - (sigma/h)^3], a half space "
             "filled with Lennard-Jones particles; or 4 epsilon [(sigma/h)^12 - (sigma/h)^6]");
  d.optional("cutoff", s.cutoff, Positive{},
             "cut-off distance; default: 2.5 sigma. With a cut-off at the minimum, (2/5)^(1/6) "
             "sigma (9-3) or 2^(1/6) sigma (12-6), the wall is purely repulsive");
  d.optional("types", s.types, Any{}, "particle types that the wall acts on; default: all");
}

/// E(h) - E(cutoff), h the distance to the wall (to its nearest image on a periodic axis).
class LjWall : public Force, public Wall {
 public:
  LjWall(const LjWallSettings& settings, const Device& device, std::size_t types,
         const std::vector<std::uint32_t>& chosen);
  void compute(StepContext& context, const ForceOutput& output) override;
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override;
  int axis() const override { return axis_; }
  bool stops(std::size_t type) const override { return settings_.epsilon > 0 && mask_.has(type); }

 private:
  LjWallSettings settings_;
  int axis_;
  Real steep_, flat_, cutoff_, shift_;
  TypeMask mask_;
};

}  // namespace perrin
