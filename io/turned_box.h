// Boxes whose edges point anywhere, turned to where Perrin has them.
#pragma once

#include <array>
#include <string>

#include "engine/system/configuration.h"

namespace perrin::io {

/// A box with its first edge along x and the second in the xy plane, and the rotation that brings
/// the edges of a file there.
struct TurnedBox {
  Box box;
  bool turned = false;               // false: the edges of the file lay there
  std::array<Vec3<double>, 3> axes;  // of the turned frame, in that of the file

  Vec3<double> operator()(const Vec3<double>& v) const;
  /// That of a particle, turned with the box.
  Quaternion operator()(const Quaternion& q) const;
};

/// Throws UserError, beginning with `where`, for edges that span no volume, or a left-handed box.
TurnedBox turn_box(const std::array<Vec3<double>, 3>& edges, const std::string& where);

}  // namespace perrin::io
