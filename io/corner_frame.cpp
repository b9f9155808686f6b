#include "io/corner_frame.h"

#include "io/file_units.h"

namespace perrin::io {

double factor_to(const std::string& unit, const char* to, const std::string& where) {
  return unit.empty() ? 1 : convert_unit(unit, to, where);
}

CornerFrame corner_frame(const Frame& frame, const char* unit, const std::string& where) {
  const Configuration& c = frame.configuration;
  const double length = factor_to(length_unit(frame), unit, where);
  CornerFrame out;
  const auto edges = c.box.edges();
  for (std::size_t k = 0; k < 9; ++k) out.edges[k] = edges[k / 3][int(k % 3)] * length;
  out.position.reserve(3 * c.position.size());
  for (const Vec3<double>& at : c.position)
    for (int axis = 0; axis < 3; ++axis)
      out.position.push_back(c.box.dimension == 2 && axis == 2
                                 ? 0.5 * length
                                 : (at[axis] - c.box.origin[axis]) * length);
  return out;
}

}  // namespace perrin::io
