#include "mixing.h"

#include <algorithm>

#include "forces/potentials/lennard_jones.h"

namespace perrin::metropolis {

PairParameters mix(const PairParameters& a, const PairParameters& b, const std::string& rule) {
  const auto s = LennardJones::mix(
      {a.b, a.a}, {b.b, b.a}, rule == "geometric" ? Mixing::geometric : Mixing::lorentz_berthelot);
  PairParameters p{
      a.kind, s.sigma, s.epsilon, 0, std::max(a.cutoff, b.cutoff), (a.core + b.core) / 2};
  return p;
}

}  // namespace perrin::metropolis
