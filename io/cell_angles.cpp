#include "io/cell_angles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "engine/base/error.h"

namespace perrin::io {

CellAngles cell_angles(const Box& box) {
  const auto e = box.edges();
  CellAngles cell;
  for (int k = 0; k < 3; ++k) {
    const auto& edge = e[std::size_t(k)];
    cell.length[k] = std::sqrt(dot(edge, edge));
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double product = dot(e[std::size_t(i)], e[std::size_t(j)]);
    cell.cosine[k] = std::clamp(product / (cell.length[i] * cell.length[j]), -1.0, 1.0);
  }
  return cell;
}

double angle_of(double cosine) {
  return cosine == 0 ? 90 : std::acos(cosine) * 180 / std::numbers::pi;
}

double cosine_of(double degrees) {
  return degrees == 90 ? 0 : std::cos(degrees * std::numbers::pi / 180);
}

Box box_from_angles(const CellAngles& cell, const std::string& where) {
  const auto& [a, b, c] = std::array{cell.length.x, cell.length.y, cell.length.z};
  const Vec3<double>& cosine = cell.cosine;
  for (const double length : {a, b, c})
    if (!(length > 0) || !std::isfinite(length))
      throw UserError(
          fmt::format("{}: the edges of the box are {}, {}, {} long, expected positive numbers",
                      where, a, b, c));
  Box box;
  box.origin = {0, 0, 0};
  box.xy = b * cosine.z, box.xz = c * cosine.y;
  box.length.x = a;
  box.length.y = std::sqrt(b * b - box.xy * box.xy);
  box.yz = (b * c * cosine.x - box.xy * box.xz) / box.length.y;
  const double height2 = c * c - box.xz * box.xz - box.yz * box.yz;
  // NaN, too.
  if (!(box.length.y > 1e-6 * b) || !(height2 > 1e-12 * c * c))
    throw UserError(
        fmt::format("{}: the cosines of the angles of the box are {}, {}, {}: no box has these",
                    where, cosine.x, cosine.y, cosine.z));
  box.length.z = std::sqrt(height2);
  return box;
}

}  // namespace perrin::io
