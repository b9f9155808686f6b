#include "engine/system/orientations.h"

#include <cmath>
#include <span>

namespace perrin {
namespace {

Real4 word(const Vec3<double>& v) { return {Real(v.x), Real(v.y), Real(v.z), Real(0)}; }
Vec3<double> vector(const Real4& v) { return {double(v.x), double(v.y), double(v.z)}; }

}  // namespace

Orientations::Orientations(const Device& device, const Configuration& c, ParticleArrays& extra) {
  const std::size_t n = c.orientation.size();
  std::vector<Real4> q(n), l(n), i(n);
  for (std::size_t k = 0; k < n; ++k) {
    q[k] = to_real4(normalized(c.orientation[k]));
    if (!c.angular_momentum.empty()) l[k] = word(c.angular_momentum[k]);
    if (!c.moment_of_inertia.empty()) i[k] = word(c.moment_of_inertia[k]);
    if (c.box.dimension == 2) i[k].x = i[k].y = 0;
    if (!(i[k].x > Real(0))) l[k].x = 0;
    if (!(i[k].y > Real(0))) l[k].y = 0;
    if (!(i[k].z > Real(0))) l[k].z = 0;
  }
  orientation_ = {device, std::span<const Real4>(q)};
  angular_momentum_ = {device, std::span<const Real4>(l)};
  moment_ = {device, std::span<const Real4>(i)};
  torque_ = {device, std::int64_t(n)};
  torque_.zero();
  const auto moves = [&](Buffer<Real4>& array) {
    return extra.add(array.data(), sizeof(Real4), IndexedBy::memory);
  };
  arrays_ = {moves(orientation_), moves(angular_momentum_), moves(moment_), moves(torque_)};
}

std::int64_t Orientations::degrees_of_freedom(const Buffer<std::uint32_t>& id,
                                              const GroupMask& group) const {
  const auto moments = moment_.to_host();
  const auto ids = id.to_host();
  std::vector<std::uint8_t> member(moments.size(), 0);
  if (group) id.device().memory().copy_out(member.data(), group.value, member.size());
  std::int64_t freedom = 0;
  for (std::size_t k = 0; k < moments.size(); ++k) {
    if (group && member[ids[k]] != group.member) continue;
    for (const Real of : {moments[k].x, moments[k].y, moments[k].z}) freedom += of > Real(0);
  }
  return freedom;
}

void Orientations::put_into(Configuration& c, const std::vector<std::uint32_t>& id) const {
  const auto q = orientation_.to_host(), l = angular_momentum_.to_host(), i = moment_.to_host();
  c.orientation.resize(id.size());
  c.angular_momentum.resize(id.size()), c.moment_of_inertia.resize(id.size());
  for (std::size_t k = 0; k < id.size(); ++k) {
    c.orientation[id[k]] = to_quaternion(q[k]);
    c.angular_momentum[id[k]] = vector(l[k]);
    c.moment_of_inertia[id[k]] = vector(i[k]);
  }
}

void Orientations::state(Archive& archive, const std::vector<std::uint32_t>& id) {
  const auto by_id = [&](const char* name, Buffer<Real4>& array) {
    std::vector<Real4> values(id.size());
    if (archive.is_saving()) {
      const auto in_memory = array.to_host();
      for (std::size_t k = 0; k < id.size(); ++k) values[id[k]] = in_memory[k];
    }
    archive(name, values);
    if (archive.is_saving()) return;
    archive.require(values.size() == id.size(), name, "a word for every particle");
    std::vector<Real4> in_memory(id.size());
    for (std::size_t k = 0; k < id.size(); ++k) in_memory[k] = values[id[k]];
    array.assign(in_memory);
  };
  by_id("orientation", orientation_);
  by_id("angular_momentum", angular_momentum_);
  by_id("torque", torque_);
  by_id("moment", moment_);  // particles may be in another order in memory by now
  if (archive.is_saving()) return;
  const auto finite = [](const Real4& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z) && std::isfinite(v.w);
  };
  for (const Real4& q : orientation_.to_host()) {
    const Real square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    archive.require(std::abs(square - 1) < Real(1e-3), "orientation", "unit quaternions");
  }
  for (const Real4& l : angular_momentum_.to_host())
    archive.require(finite(l), "angular_momentum", "finite numbers");
  for (const Real4& i : moment_.to_host())
    archive.require(finite(i) && i.x >= 0 && i.y >= 0 && i.z >= 0, "moment",
                    "numbers that are not negative");
  for (const Real4& t : torque_.to_host()) archive.require(finite(t), "torque", "finite numbers");
}

}  // namespace perrin
