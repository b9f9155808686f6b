#include "engine/components/totals.h"

namespace perrin {

std::array<double, 6> pressure_tensor(const Totals& t, const Box& box) {
  std::array<double, 6> p{};
  for (std::size_t c = 0; c < 6; ++c) p[c] = (t.kinetic_tensor[c] + t.virial[c]) / box.volume();
  return p;
}

double pressure(const Totals& totals, const Box& box) {
  const auto p = pressure_tensor(totals, box);
  return box.dimension == 2 ? (p[0] + p[1]) / 2 : (p[0] + p[1] + p[2]) / 3;
}

}  // namespace perrin
