#include "engine/dynamics/orientation_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/system/site_types.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

/// Uniform over all rotations: four normal numbers, normalised. In two dimensions about z.
Quaternion drawn(const RunKey& key, std::uint32_t id, int dimension) {
  auto g = keyed<Philox>(key, 0, id);
  if (dimension == 2) {
    const double half = M_PI * g.uniform<double>();
    return {0, 0, std::sin(half), std::cos(half)};
  }
  Quaternion q;
  do {
    q.x = g.normal<double>(), q.y = g.normal<double>();
    q.z = g.normal<double>(), q.w = g.normal<double>();
  } while (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w < 1e-6);
  return normalized(q);
}

}  // namespace

void resolve_orientations(
    const OrientationSettings& s, Configuration& c, std::uint64_t seed,
    const std::function<void(const std::string&, const std::string&)>& report) {
  const std::size_t n = c.position.size();
  if (s.start == "aligned") c.orientation.assign(n, {});
  if (s.start == "random" || (s.start == "default" && c.orientation.empty())) {
    const RunKey key(Purpose::initial_rotation, seed);
    c.orientation.resize(n);
    for (std::size_t id = 0; id < n; ++id)
      c.orientation[id] = drawn(key, std::uint32_t(id), c.box.dimension);
  }
  if (c.moment_of_inertia.empty()) c.moment_of_inertia.assign(n, {});
  const std::vector<std::uint8_t> sites = site_types(c);
  for (const auto& [type, moments] : s.moments_of_inertia) {
    const auto at = std::ranges::find(c.types, type);
    if (at == c.types.end()) {
      report(join_path("orientations.moments_of_inertia", type),
             fmt::format("unknown particle type; {}", suggest(type, c.types)));
      continue;
    }
    const auto index = std::uint32_t(at - c.types.begin());
    if (sites[index] != 0)
      report(join_path("orientations.moments_of_inertia", type),
             "is of sites of rigid bodies, which do not turn by themselves: expected the moments "
             "of the bodies, in \"bodies\"");
    for (std::size_t id = 0; id < n; ++id)
      if (c.type[id] == index) c.moment_of_inertia[id] = {moments[0], moments[1], moments[2]};
  }
  if (c.box.dimension == 2)
    for (std::size_t id = 0; id < n; ++id)
      if (const Quaternion& q = c.orientation[id]; q.x * q.x + q.y * q.y > 1e-8)
        return report("orientations",
                      fmt::format("particle {} is turned out of the plane of a system of two "
                                  "dimensions: expected a rotation about z, got the quaternion "
                                  "({:.6g}, {:.6g}, {:.6g}, {:.6g}) (w, x, y, z)",
                                  id, q.w, q.x, q.y, q.z));
}

void draw_angular_momenta(Configuration& c, double kt, std::uint64_t seed) {
  if (c.moment_of_inertia.empty()) return;
  const RunKey key(Purpose::initial_rotation, seed);
  c.angular_momentum.assign(c.position.size(), {});
  double twice_kinetic = 0;
  std::int64_t freedom = 0;
  for (std::size_t id = 0; id < c.position.size(); ++id) {
    if (is_absent(c.types[c.type[id]])) continue;
    auto g = keyed<Philox>(key, 1, std::uint32_t(id));
    for (int axis = c.box.dimension == 2 ? 2 : 0; axis < 3; ++axis) {
      const double moment = c.moment_of_inertia[id][axis], number = g.normal<double>();
      if (!(moment > 0)) continue;
      c.angular_momentum[id][axis] = std::sqrt(moment) * number;
      twice_kinetic += number * number;
      ++freedom;
    }
  }
  const double scale = twice_kinetic > 0 ? std::sqrt(double(freedom) * kt / twice_kinetic) : 0;
  for (auto& l : c.angular_momentum) l *= scale;
}

}  // namespace perrin
