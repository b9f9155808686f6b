// The same force on every particle (gravity, an electric field, a driven flow).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/components/endless_potential.h"
#include "engine/components/force.h"
#include "engine/settings/settings.h"
#include "forces/external.h"

namespace perrin {

struct ConstantForceSettings {
  Vec3<double> force{0, 0, 0};
  std::vector<std::string> types;
};

template <class D>
void describe(D& d, ConstantForceSettings& s) {
  d.example("{\"force\": [0, 0, -0.1]}");
  d.required("force", s.force, Any{}, "force vector (energy/length)");
  d.optional("types", s.types, Any{}, "particle types that the force acts on; default: all");
}

/// E = -F · r with r the unwrapped position, from the coordinates' origin: crossing a periodic face
/// changes no energy, so kinetic plus potential energy is conserved while particles are driven
/// around.
class ConstantForce : public Force, public EndlessPotential {
 public:
  ConstantForce(const ConstantForceSettings& settings, const Device& device, std::size_t types,
                const std::vector<std::uint32_t>& chosen);
  void compute(StepContext& context, const ForceOutput& output) override;
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override;
  std::array<bool, 3> falls_along() const override {
    return {settings_.force.x != 0, settings_.force.y != 0, settings_.force.z != 0};
  }
  bool acts_on(std::size_t type) const override { return mask_.has(type); }

 private:
  ConstantForceSettings settings_;
  TypeMask mask_;
};

}  // namespace perrin
