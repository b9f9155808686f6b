#include "io/parts/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace perrin::parts {

double sphere_volume(double diameter, int dimension) {
  constexpr double pi = 3.141592653589793;
  return dimension == 2 ? pi / 4 * diameter * diameter : pi / 6 * diameter * diameter * diameter;
}

std::int64_t rounded(double number) {
  return number > 0 ? std::llround(std::min(number, 1e15)) : 0;
}

double Crowd::share() const {
  // Half of each sphere may stand out of a region.
  const double out = whole ? 1 : 1 + diameter / std::pow(volume, 1.0 / dimension);
  return spheres / (volume * std::pow(out, dimension));
}

std::string Crowd::impossible() const {
  const double most = dimension == 2 ? 0.9069 : 0.7405;  // hexagonal; close packed
  if (!(share() > most)) return "";
  return fmt::format(
      "too dense: spheres as wide as the minimum distance ({:.4g}) would fill {:.3g} "
      "of the volume, no more than {} is possible",
      diameter, share(), most);
}

std::string Crowd::stuck() const {
  const double most = dimension == 2 ? 0.58 : 0.41;  // a little more than in an endless volume
  if (!(share() > most)) return "";
  return fmt::format(
      "too dense: spheres as wide as the minimum distance ({:.4g}) would fill {:.3g} of the "
      "volume, "
      "random places reach {} at most; use a smaller minimum distance or fewer, or a part "
      "\"lattice\"",
      diameter, share(), dimension == 2 ? 0.55 : 0.38);
}

}  // namespace perrin::parts
