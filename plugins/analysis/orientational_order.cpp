#include "orientational_order.h"

#include <algorithm>
#include <cmath>

#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"

namespace perrin::analysis {

/// By the powers of the matrix, shifted so that its largest eigenvalue is the largest in magnitude.
LargestEigenvalue largest_eigenvalue(const std::array<double, 6>& m) {
  double scale = 0;
  for (const double x : m) scale = std::max(scale, std::abs(x));
  if (!(scale > 0)) return {0, {1, 0, 0}};
  const double shift = 3 * scale;
  std::array<double, 6> power{m[0] + shift, m[1] + shift, m[2] + shift, m[3], m[4], m[5]};
  for (int k = 0; k < 40; ++k) {  // the square each time
    const auto& a = power;
    std::array<double, 6> square{
        a[0] * a[0] + a[3] * a[3] + a[4] * a[4], a[3] * a[3] + a[1] * a[1] + a[5] * a[5],
        a[4] * a[4] + a[5] * a[5] + a[2] * a[2], a[0] * a[3] + a[3] * a[1] + a[4] * a[5],
        a[0] * a[4] + a[3] * a[5] + a[4] * a[2], a[3] * a[4] + a[1] * a[5] + a[5] * a[2]};
    const double trace = square[0] + square[1] + square[2];
    for (double& x : square) x /= trace;
    power = square;
  }
  // A projector: its longest column is the eigenvector.
  const Vec3<double> columns[3] = {{power[0], power[3], power[4]},
                                   {power[3], power[1], power[5]},
                                   {power[4], power[5], power[2]}};
  const Vec3<double> longest = *std::max_element(
      columns, columns + 3, [](const auto& a, const auto& b) { return dot(a, a) < dot(b, b); });
  const Vec3<double> v = (1 / std::sqrt(dot(longest, longest))) * longest;
  const Vec3<double> mv{m[0] * v.x + m[3] * v.y + m[4] * v.z, m[3] * v.x + m[1] * v.y + m[5] * v.z,
                        m[4] * v.x + m[5] * v.y + m[2] * v.z};
  return {dot(v, mv), v};
}

OrientationalOrder::OrientationalOrder(const OrientationalOrderSettings& settings, Setup& setup)
    : settings_(settings),
      file_(output_path(settings.file, setup),
            {{"nematic_order", {}, ""},
             {"director", {3}, ""},
             {"polar_order", {}, ""},
             {"autocorrelation", {}, ""}},
            setup) {
  if (setup.configuration().orientation.empty())
    setup.error("type", "needs particles that have orientations: add \"orientations\" to the job");
  if (const Group* const group = setup.fixed_group(settings.group, "group")) {
    members_ = group->ids();
    const Topology& topology = setup.configuration().topology;
    std::erase_if(members_, [&](std::uint32_t id) { return topology.is_site(id); });
    if (members_.empty()) setup.error("group", "has no particles with axes");
  }
}

void OrientationalOrder::begin(const Observation& seen, bool resumed) {
  file_.begin(seen, resumed);
}

void OrientationalOrder::observe(const Observation& s) {
  const Orientations& turning = *s.particles().orientations();
  const std::vector<Real4> orientation = s.particles().by_id(turning.orientation());
  std::vector<Vec3<double>> axes;
  axes.reserve(members_.size());
  for (const std::uint32_t id : members_)
    axes.push_back(rotate(to_quaternion(orientation[id]), Vec3<double>{1, 0, 0}));
  if (first_axes_.empty()) first_axes_ = axes;
  std::array<double, 6> q{};
  Vec3<double> sum{};
  double overlap = 0;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const Vec3<double>& u = axes[k];
    q[0] += u.x * u.x, q[1] += u.y * u.y, q[2] += u.z * u.z;
    q[3] += u.x * u.y, q[4] += u.x * u.z, q[5] += u.y * u.z;
    sum += u;
    overlap += dot(u, first_axes_[k]);
  }
  const double n = double(axes.size()), d = s.particles().box().dimension;
  for (std::size_t c = 0; c < 6; ++c) q[c] = (d * q[c] / n - (c < 3 ? 1 : 0)) / (d - 1);
  if (d == 2) q[2] = -1;  // out of the plane: below all others
  const LargestEigenvalue largest = largest_eigenvalue(q);
  file_.append(std::int64_t(s.step()), s.time(),
               {largest.value, largest.vector.x, largest.vector.y, largest.vector.z,
                std::sqrt(dot(sum, sum)) / n, overlap / n});
}

void OrientationalOrder::end(const Observation& seen) { file_.end(seen); }

void OrientationalOrder::state(Archive& archive) {
  file_.state(archive);
  archive("first_axes", first_axes_);
  archive.require(first_axes_.empty() || first_axes_.size() == members_.size(), "first_axes",
                  "an axis for every particle of the group");
  for (const Vec3<double>& u : first_axes_)
    archive.require(std::abs(dot(u, u) - 1) < 1e-3, "first_axes", "unit vectors");
}

void register_orientational_order(Registry& registry) {
  registry.add<Observer, OrientationalOrderSettings>(
      "orientational_order",
      "nematic and polar order of the particles' axes, and their autocorrelation",
      [](const OrientationalOrderSettings& s, Setup& setup) {
        return std::make_unique<OrientationalOrder>(s, setup);
      });
}

}  // namespace perrin::analysis
