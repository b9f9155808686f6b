#include "forces/field_faces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/components/setup.h"

namespace perrin {
namespace {

/// Fractions of the edges, with nothing in common with the periods that fields have.
constexpr double shares[] = {0.0137, 0.1713, 0.3391, 0.5, 0.6127, 0.7839, 0.9571};

struct Jump {
  double size = 0, time = 0;
  Vec3<double> place;  // on the lower face
};

/// From shares of the edges to what a field sees: along periodic axes of the image nearest to 0.
Vec3<double> seen(const Box& box, Vec3<double> share) {
  const Vec3<double> zero = box.fraction({0, 0, 0});
  const auto edges = box.edges();
  Vec3<double> r{};
  for (int axis = 0; axis < box.dimension; ++axis)
    r += (share[axis] - (box.periodic[std::size_t(axis)] ? 0.5 : zero[axis])) *
         edges[std::size_t(axis)];
  return r;
}

/// The largest difference between the two faces across an axis at a time, beside what the energy
/// varies by there and within the box.
Jump jump_at(const Box& box, int axis, double time,
             const std::function<double(Vec3<double>, double)>& energy) {
  Jump worst;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto look = [&](const Vec3<double>& r) {
    const double e = energy(r, time);
    if (std::isfinite(e)) low = std::min(low, e), high = std::max(high, e);
    return e;
  };
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  // Single precision rounds coordinates: stay off the faces by more than that.
  constexpr double inside = 1e-6;
  for (const double a : shares)
    for (const double b : shares) {
      Vec3<double> s;
      s[u] = a, s[v] = b;
      s[axis] = inside;
      const Vec3<double> place = seen(box, s);
      const double lower = look(place);
      s[axis] = 1 - inside;
      const double upper = look(seen(box, s));
      for (const double c : shares) {
        s[axis] = c;
        look(seen(box, s));
      }
      const double size = std::abs(upper - lower);
      if (size > worst.size) worst = {size, time, place};
    }
  const double scale = std::max(high - low, 1e-6 * std::max(std::abs(high), std::abs(low)));
  if (!(worst.size > 1e-3 * scale)) worst.size = 0;
  return worst;
}

}  // namespace

void warn_of_faces(Setup& setup, const std::string& key, bool timed,
                   const std::function<double(Vec3<double>, double)>& energy) {
  const Box& box = setup.configuration().box;
  std::vector<double> times{0};
  if (timed)
    for (double t = 0.1; t < 1.1e6; t *= std::sqrt(10.0)) times.push_back(t);
  for (int axis = 0; axis < box.dimension; ++axis) {
    if (!box.periodic[std::size_t(axis)]) continue;
    for (const double time : times) {
      const Jump jump = jump_at(box, axis, time, energy);
      if (jump.size == 0) continue;
      const char name = "xyz"[axis];
      setup.warn(
          key,
          fmt::format("the energy of this field jumps by {:.4g} from one face of the periodic axis "
                      "{} to the other (beside ({:.4g}, {:.4g}, {:.4g}){}): the energy of a "
                      "particle that crosses the face changes by this without work. Use a field "
                      "with the period of the box, such as sin(2*pi*{}/{:.6g}), or \"unwrapped\": "
                      "true, which takes unwrapped coordinates, or an axis that is not periodic",
                      jump.size, name, jump.place.x, jump.place.y, jump.place.z,
                      timed ? fmt::format(" at the time {:.3g}", jump.time) : "", name,
                      box.length[axis]));
      break;
    }
  }
}

}  // namespace perrin
