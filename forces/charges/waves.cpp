#include "forces/charges/waves.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace perrin {

std::vector<WaveNumbers> waves_within(const Box& cell, double k_max) {
  struct Found {
    double length;
    WaveNumbers n;
  };
  std::vector<Found> found;
  // n = h k / 2π: at most the length of an edge times k_max.
  std::array<std::int32_t, 3> most{};
  const auto edges = cell.edges();
  for (std::size_t a = 0; a < 3; ++a)
    most[a] =
        std::int32_t(std::floor(k_max * std::sqrt(dot(edges[a], edges[a])) / (2 * M_PI) + 1e-9));
  if (cell.dimension == 2) most[2] = 0;
  const double longest = k_max * (1 + 1e-12);
  for (std::int32_t x = 0; x <= most[0]; ++x)
    for (std::int32_t y = x > 0 ? -most[1] : 0; y <= most[1]; ++y)
      for (std::int32_t z = x > 0 || y > 0 ? -most[2] : 1; z <= most[2]; ++z) {
        const Vec3<double> k = wave_vector(cell, x, y, z);
        // Rounded, so that lengths that are equal by symmetry compare so.
        const double length = std::sqrt(dot(k, k));
        if (length <= longest) found.push_back({double(float(length)), {x, y, z}});
      }
  std::ranges::sort(found, {},
                    [](const Found& f) { return std::tuple(f.length, f.n.x, f.n.y, f.n.z); });
  std::vector<WaveNumbers> waves;
  for (const Found& f : found) waves.push_back(f.n);
  return waves;
}

double count_waves(const Box& cell, double k_max) {
  if (cell.dimension == 2) return k_max * k_max * cell.volume() / (8 * M_PI);
  return k_max * k_max * k_max * cell.volume() / (12 * M_PI * M_PI);
}

}  // namespace perrin
