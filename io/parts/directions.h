// Random directions and orientations, with the same bits on every machine (rng/math.h).
#pragma once

#include <cstdint>

#include "engine/base/real.h"
#include "rng/philox.h"

namespace perrin::parts {

/// Of length 1, every direction equally likely; in two dimensions within the plane.
Vec3<double> random_direction(Philox& stream, int dimension);

/// At this angle from x in the plane, of 2^32 in a turn.
Vec3<double> direction_at(std::uint32_t turn);

/// A turn: the images of the three axes.
struct Rotation {
  Vec3<double> x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  Vec3<double> operator()(Vec3<double> r) const { return r.x * x + r.y * y + r.z * z; }
};
/// Any, equally likely; in two dimensions about z.
Rotation random_rotation(Philox& stream, int dimension);

}  // namespace perrin::parts
