#include "many_body.h"

#include <vector>

namespace perrin::dpd {

using Loops = BothWays<WarrenDensity>;

ManyBody::ManyBody(const Device& device, double repulsion, double range, int dimension,
                   std::int64_t particles)
    : coefficients_(WarrenDensity::coefficients(range, dimension)),
      table_(device, 1),
      type_(device, 1),
      density_(device, particles),
      slope_(device, particles + ManyBodyView<WarrenDensity>::beyond_last) {
  table_.assign(std::vector<Loops>{{coefficients_, coefficients_}});
  type_.assign(std::vector{WarrenDensity::type_coefficients(repulsion, range, dimension)});
}

DensitySum ManyBody::sum(StepContext& s) {
  return {coefficients_,
          {s.particles().position().data(), table_.data(), type_.data(), 1, s.particles().size(),
           density_.data(), slope_.data()}};
}

void ManyBody::add_forces(StepContext& s, const ForceOutput& output) {
  s.particles().domain().gather(slope_);
  const auto view = sum(s).view;
  ForceOutput added = output;
  added.add = true;
  if (output.energy)
    pair_loop("mdpd, densities", *s.neighbors(),
              EmbeddingForceBody<WarrenDensity, true, PairTypes::one>{view, added});
  else
    pair_loop("mdpd, densities", *s.neighbors(),
              EmbeddingForceBody<WarrenDensity, false, PairTypes::one>{view, added});
}

}  // namespace perrin::dpd
