// A spring from every particle to its own place, that of the start: E = 1/2 (kx x² + ky y² + kz z²)
// with the displacement (x, y, z) along the particle's unwrapped path.
#pragma once

#include <string>
#include <vector>

#include "engine/components/force.h"
#include "engine/settings/settings.h"
#include "forces/external.h"

namespace perrin {

struct TetherSettings {
  Vec3<double> stiffness{};  // in two dimensions a job gives x and y
  std::vector<std::string> types;
};

template <class D>
void describe(D& d, TetherSettings& s) {
  d.required("stiffness", s.stiffness, NonNegative{},
             "stiffness along x, y, z (energy/length²); E = 1/2 sum stiffness displacement²");
  d.optional("types", s.types, Any{}, "particle types that are tethered; default: all");
}

class Tether : public Force {
 public:
  /// To where the particles of the configuration are.
  Tether(const TetherSettings& settings, const Device& device, const Configuration& configuration,
         const std::vector<std::uint32_t>& chosen);
  void compute(StepContext& context, const ForceOutput& output) override;
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override;
  /// The places: a resumed run begins where particles have moved on.
  void state(Archive& archive) override;

 private:
  TetherSettings settings_;
  TypeMask mask_;
  Buffer<Vec3<double>> place_;  // [id]: unwrapped
};

}  // namespace perrin
