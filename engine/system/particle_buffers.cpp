#include "engine/system/particle_buffers.h"

#include <numeric>
#include <vector>

#include "engine/base/error.h"
#include "engine/system/configuration.h"

namespace perrin {

ParticleBuffers::ParticleBuffers(const Device& device, const Configuration& c) {
  const std::size_t n = c.position.size();
  PERRIN_ASSERT(n < (std::size_t(1) << 32) && c.type.size() == n);
  PERRIN_ASSERT(c.types.size() <= Position::type_count);
  // One array after another: each is twice in memory while it is made.
  const auto make = [&](auto& buffer, const auto& host) {
    buffer = {device, std::int64_t(n)};
    buffer.assign(host);
  };
  {
    std::vector<Image> images = c.image;
    images.resize(n);
    std::vector<Position> positions(n);
    for (std::size_t i = 0; i < n; ++i)
      positions[i] = c.box.fixed(c.position[i], c.type[i], &images[i]);
    make(position_, positions);
    make(image_, images);
  }
  {
    std::vector<Real4> velocities(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3<double> v = c.velocity.empty() ? Vec3<double>{} : c.velocity[i];
      const double mass = c.mass.empty() ? 1.0 : c.mass[i];
      velocities[i] = {Real(v.x), Real(v.y), Real(v.z), Real(1.0 / mass)};
    }
    make(velocity_, velocities);
  }
  {
    std::vector<std::uint32_t> ids(n);
    std::iota(ids.begin(), ids.end(), std::uint32_t(0));
    make(id_, ids);
    make(index_, ids);
  }
  force_ = {device, std::int64_t(n)};
}

}  // namespace perrin
