// Force "periodic_shear": a field that drives a shear flow in a periodic box, from whose velocity
// profile the viscosity follows.
//
// With the coordinate z along the gradient and the edge L,
//   sine: f = amplitude sin(2 pi n z / L); the profile is u(z) = rho f(z) / (eta k²), k = 2 pi n /
//   L; half: f = +amplitude in the first half of each of n periods, -amplitude in the second: two
//         Poiseuille flows side by side (J. A. Backer, C. P. Lowe, H. C. J. Hoefsloot, P. D.
//         Iedema, J. Chem. Phys. 122 (2005) 154503), u = rho amplitude / (2 eta) z (L / (2 n) - z).
// The field has no potential: it adds neither energy nor virial, and heats the fluid; something has
// to take the heat away (friction of pairs does).
#pragma once

#include <string>

#include "engine/components/force.h"
#include "engine/components/no_potential.h"
#include "engine/settings/settings.h"

namespace perrin {
class Registry;
}

namespace perrin::dpd {

struct PeriodicShearSettings {
  double amplitude = 0;
  std::string form = "sine", flow = "x", gradient = "z";
  std::int32_t periods = 1;
};
template <class D>
void describe(D& d, PeriodicShearSettings& s) {
  d.required("amplitude", s.amplitude, Any{},
             "amplitude of the force on a particle (energy/length)");
  d.optional("form", s.form, OneOf{"sine", "half"},
             "sine: sinusoidal along the gradient; half: constant, with opposite signs in the two "
             "halves of a period");
  d.optional("flow", s.flow, OneOf{"x", "y", "z"}, "direction of the force");
  d.optional("gradient", s.gradient, OneOf{"x", "y", "z"}, "axis along which the force changes");
  d.optional("periods", s.periods, Between{1, 1000}, "number of periods of the field in the box");
}

class PeriodicShear final : public Force, public NoPotential {
 public:
  explicit PeriodicShear(const PeriodicShearSettings& settings)
      : Force(traits_of_shear()), settings_(settings) {}
  void compute(StepContext& context, const ForceOutput& output) override;
  MomentumChange momentum_change(std::span<const std::int64_t>) const override;

 private:
  static ForceTraits traits_of_shear() {
    ForceTraits traits = ForceTraits::of_field();
    traits.energy_share = 0;  // of nothing
    return traits;
  }
  PeriodicShearSettings settings_;
};

void register_periodic_shear(Registry& registry);

}  // namespace perrin::dpd
