// The arrays that all particles have, on their device.
#pragma once

#include <cstdint>

#include "engine/base/real.h"
#include "engine/device/buffer.h"

namespace perrin {

/// Index i is a place in memory, but for `index`: there it is an id.
struct ParticleBuffers {
  Buffer<Position> position;
  Buffer<Real4> velocity, force;
  Buffer<Image> image;
  Buffer<std::uint32_t> id, index;

  std::int64_t size() const { return position.size(); }
  const Device& device() const { return position.device(); }
};

}  // namespace perrin
