// A spring from every particle to one point, which may move: E = 1/2 (kx x² + ky y² + kz z²).
#pragma once

#include <string>
#include <vector>

#include "engine/components/force.h"
#include "engine/device/buffer.h"
#include "engine/formula/vector_of_time.h"
#include "engine/settings/settings.h"
#include "forces/external.h"

namespace perrin {

struct HarmonicTrapSettings {
  Vec3<double> stiffness{}, center{}, velocity{};  // in two dimensions a job gives x and y
  bool unwrapped = false;
  std::vector<std::string> types;
};

/// Those of a job, whose center is a number or a formula along each axis.
struct HarmonicTrapKeys : HarmonicTrapSettings {
  std::vector<Json> entries{0, 0, 0};
};
template <class D>
void describe(D& d, HarmonicTrapKeys& s) {
  d.required("stiffness", s.stiffness, NonNegative{},
             "stiffness along x, y, z (energy/length²); E = 1/2 sum stiffness displacement²");
  d.optional("center", s.entries, Any{},
             "centre of the trap (length); 0: the middle of the box (perrin help coordinates). "
             "Numbers, or formulas of the time t of the job, as \"2*sin(0.5*t)\"; perrin help "
             "formula");
  d.optional("velocity", s.velocity, Any{},
             "velocity of the center (length/time), which is where \"center\" says at the time 0 "
             "of the job; 0 along axes where that is a formula");
  d.optional("unwrapped", s.unwrapped, Any{},
             "true: the displacement is that of the unwrapped position (with image counters) from "
             "the center itself; false: from the nearest image of the center");
  d.optional("types", s.types, Any{}, "particle types that the trap acts on; default: all");
}

class HarmonicTrap : public Force {
 public:
  /// `center`: formulas in place of some of the numbers of settings.center, which are 0 then.
  HarmonicTrap(const HarmonicTrapSettings& settings, const Device& device, std::size_t types,
               const std::vector<std::uint32_t>& chosen, const formula::VectorOfTime& center = {});
  void compute(StepContext& context, const ForceOutput& output) override;
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override;
  /// For integrators that compute a trap that does not move within their own step.
  bool moves() const {
    const Vec3<double>& v = settings_.velocity;
    return v.x != 0 || v.y != 0 || v.z != 0 || follows_formulas_;
  }
  const HarmonicTrapSettings& settings() const { return settings_; }
  const TypeMask& mask() const { return mask_; }

 private:
  HarmonicTrapSettings settings_;
  TypeMask mask_;
  bool follows_formulas_;
  using Code = Buffer<formula::Instruction>;
  std::array<Code, 3> center_;  // of t, along each axis; empty: the number
};

}  // namespace perrin
