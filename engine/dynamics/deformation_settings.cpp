#include "engine/dynamics/deformation_settings.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/components/setup.h"

namespace perrin {

std::optional<Vec3<double>> tilts_of(const Vec3<double>& length, const Vec3<double>& angles) {
  double cosine[3];
  for (int k = 0; k < 3; ++k) {
    if (!(angles[k] > 0 && angles[k] < 180)) return std::nullopt;
    cosine[k] = angles[k] == 90 ? 0 : std::cos(angles[k] * M_PI / 180);
  }
  // The third edge, of length 1: its first two coordinates from the angles, the third from them.
  const double sine = std::sqrt(1 - cosine[2] * cosine[2]);
  const double x = cosine[1], y = (cosine[0] - cosine[1] * cosine[2]) / sine;
  const double rest = 1 - x * x - y * y;
  if (!(rest > 1e-6)) return std::nullopt;
  const double edge = length.z / std::sqrt(rest);
  return Vec3<double>{length.y * cosine[2] / sine, edge * x, edge * y};
}

void check(const DeformSettings& s, std::int64_t steps, Setup& setup) {
  const Box& box = setup.configuration().box;
  const auto wrong = [&](const std::string& key, const std::string& what) {
    setup.error("deform." + key, what);
  };
  const bool lengths = s.x || s.y || s.z;
  if (s.volume && s.density) wrong("density", "give either volume or density");
  if ((s.volume || s.density) && lengths)
    wrong(s.volume ? "volume" : "density", "give either this or lengths of edges");
  const bool tilts = s.xy || s.xz || s.yz;
  if (!s.volume && !s.density && !lengths && !tilts && !s.angles)
    setup.error("deform",
                "has no target: give one or more of x, y, z, xy, xz, yz, angles, volume, density");
  if (s.angles && tilts) wrong("angles", "give either angles or tilts");
  if (s.angles && !tilts_of({1, 1, 1}, *s.angles))
    wrong("angles", fmt::format("must be three angles between 0 and 180 degrees that edges can "
                                "have, got {}, {}, {}",
                                s.angles->x, s.angles->y, s.angles->z));
  if (s.angles && box.dimension == 2 && (s.angles->x != 90 || s.angles->y != 90))
    wrong("angles", "in two dimensions the first two must be 90");
  const auto check_axis = [&](bool given, const std::string& key, int axis) {
    if (!given) return;
    if (axis >= box.dimension)
      wrong(key, "the system has two dimensions");
    else if (!box.periodic[std::size_t(axis)])
      wrong(key, fmt::format("the box is not periodic along {}", "xyz"[axis]));
  };
  check_axis(s.x.has_value(), "x", 0), check_axis(s.y.has_value(), "y", 1);
  check_axis(s.z.has_value(), "z", 2);
  check_axis(s.xy.has_value(), "xy", 0), check_axis(s.xy.has_value(), "xy", 1);
  check_axis(s.xz.has_value(), "xz", 0), check_axis(s.xz.has_value(), "xz", 2);
  check_axis(s.yz.has_value(), "yz", 1), check_axis(s.yz.has_value(), "yz", 2);
  for (int axis = 0; axis < box.dimension; ++axis) check_axis(s.angles.has_value(), "angles", axis);
  for (int axis = 0; axis < box.dimension; ++axis)
    check_axis(s.volume || s.density, s.volume ? "volume" : "density", axis);
  if ((s.form == "oscillating") != s.period.has_value())
    wrong("period",
          s.period ? "is for the form oscillating" : "is missing: the period of the oscillation");
  if (s.steps && *s.steps > steps)
    wrong("steps", fmt::format("must be at most those of the stage, {}, got {}", steps, *s.steps));
}

void check(const ShearSettings& s, Setup& setup) {
  const Box& box = setup.configuration().box;
  if (s.flow == s.gradient)
    setup.error("shear.gradient",
                "must follow flow in the order x, y, z; got " + s.gradient + " twice");
  for (const auto& [name, key] :
       {std::pair{s.flow, "shear.flow"}, {s.gradient, "shear.gradient"}}) {
    const int axis = name[0] - 'x';
    if (axis >= box.dimension)
      setup.error(key, "the system has two dimensions");
    else if (!box.periodic[std::size_t(axis)])
      setup.error(key, "the box is not periodic along " + name);
  }
}

}  // namespace perrin
