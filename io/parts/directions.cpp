#include "io/parts/directions.h"

#include <cmath>

#include "rng/distributions.h"
#include "rng/math.h"

namespace perrin::parts {

Vec3<double> direction_at(std::uint32_t turn) {
  const auto [sine, cosine] = exact::sincos_turn<double>(turn);
  return {cosine, sine, 0};
}

Vec3<double> random_direction(Philox& stream, int dimension) {
  const Vec3<double> around = direction_at(stream.next());
  if (dimension == 2) return around;
  const double z = stream.symmetric<double>(), radius = std::sqrt(1 - z * z);
  return {radius * around.x, radius * around.y, z};
}

/// K. Shoemake, Graphics Gems III (1992): a quaternion anywhere on the sphere in four dimensions.
Rotation random_rotation(Philox& stream, int dimension) {
  const Vec3<double> a = direction_at(stream.next());
  if (dimension == 2) return {a, {-a.y, a.x, 0}, {0, 0, 1}};
  const Vec3<double> b = direction_at(stream.next());
  const double u = stream.uniform<double>(), p = std::sqrt(1 - u), q = std::sqrt(u);
  const double x = p * a.y, y = p * a.x, z = q * b.y, w = q * b.x;
  return {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
          {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
          {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
}

}  // namespace perrin::parts
