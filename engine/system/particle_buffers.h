// The arrays that all particles have, on their device.
#pragma once

#include <cstdint>

#include "engine/base/real.h"
#include "engine/device/buffer.h"

namespace perrin {

struct Configuration;

/// Index i is a place in memory, but for `index`: there it is an id. ParticleView says what they
/// hold.
class ParticleBuffers {
 public:
  /// Particles of a configuration, in the order of their ids.
  ParticleBuffers(const Device& device, const Configuration& configuration);

  Buffer<Position>& position() { return position_; }
  const Buffer<Position>& position() const { return position_; }
  Buffer<Real4>& velocity() { return velocity_; }
  const Buffer<Real4>& velocity() const { return velocity_; }
  Buffer<Real4>& force() { return force_; }
  const Buffer<Real4>& force() const { return force_; }
  Buffer<Image>& image() { return image_; }
  const Buffer<Image>& image() const { return image_; }
  Buffer<std::uint32_t>& id() { return id_; }
  const Buffer<std::uint32_t>& id() const { return id_; }
  Buffer<std::uint32_t>& index() { return index_; }
  const Buffer<std::uint32_t>& index() const { return index_; }

  std::int64_t size() const { return position_.size(); }
  const Device& device() const { return position_.device(); }

 private:
  Buffer<Position> position_;
  Buffer<Real4> velocity_, force_;
  Buffer<Image> image_;
  Buffer<std::uint32_t> id_, index_;
};

}  // namespace perrin
