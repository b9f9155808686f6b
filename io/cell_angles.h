// Boxes by the lengths of their edges and the angles between them.
#pragma once

#include <string>

#include "engine/system/box.h"

namespace perrin::io {

struct CellAngles {
  Vec3<double> length;  // of the edges a, b, c
  Vec3<double> cosine;  // of alpha (between b and c), beta (a and c), gamma (a and b)
};

CellAngles cell_angles(const Box& box);
/// In degrees.
double angle_of(double cosine);
/// Exactly 0 for 90.
double cosine_of(double degrees);
/// The corner is at 0. Throws UserError, beginning with `where`, for what is no box.
Box box_from_angles(const CellAngles& cell, const std::string& where);

}  // namespace perrin::io
