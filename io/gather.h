// Particle data in id order, as files want them, gathered on the device and copied out once.
#pragma once

#include "engine/core/particles.h"
#include "io/h5md_file.h"

namespace perrin::io {

class FrameGather {
 public:
  struct Wants {
    bool velocity = false, force = false, image = false, species = false;
    bool unwrapped = false;  // positions with image counters, not inside of the box
    bool fine = false;       // positions in double precision, to 2^-40 of the edges
  };
  FrameGather(const Device& device, std::int64_t n, const Wants& wants);
  /// Positions, box and what is wanted; step and time are left to the caller. Waits for the device.
  H5mdFrame operator()(Particles& particles);

 private:
  Wants wants_;
  Buffer<Vec3<float>> position_, velocity_, force_;
  Buffer<Vec3<double>> fine_position_;
  Buffer<Image> image_;
  Buffer<std::int32_t> species_;
};

}  // namespace perrin::io
