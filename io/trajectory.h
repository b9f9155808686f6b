// Observer "trajectory": frames of all particles into an H5MD file.
#pragma once

#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "io/frame_file.h"
#include "io/frame_observer.h"

namespace perrin {

struct TrajectorySettings {
  std::string file = "trajectory.h5";
  std::int64_t stride = 1000;
  std::string group = "all";
  std::vector<std::string> quantities{"position", "image"};
  std::string positions = "wrapped", precision = "single";
  std::string species = "static", compression = "none", author;
  std::int32_t decimals = 3;
};

template <class D>
void describe(D& d, TrajectorySettings& s) {
  d.required("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("file", s.file, Any{}, "H5MD file, relative to the output directory");
  d.optional("group", s.group, Any{}, "group of particles whose frames are written");
  d.optional(
      "quantities", s.quantities,
      OneOf{"position", "velocity", "force", "image", "orientation", "angular_momentum", "torque"},
      "quantities in a frame; positions are always written. orientation: quaternions w, x, y, z; "
      "angular_momentum: in the frame of each particle; torque: in space");
  d.optional("positions", s.positions, OneOf{"wrapped", "unwrapped"},
             "unwrapped: positions without jumps at periodic boundaries, for mean square "
             "displacements; without images");
  d.optional("precision", s.precision, OneOf{"single", "double"},
             "precision of positions; single has 7 digits: an error of 0.0001 at a coordinate of "
             "1000, of 0.1 at 10^6");
  d.optional("species", s.species, OneOf{"static", "time-dependent"},
             "types once per file (VMD), or in every frame (ZnH5MD)");
  d.optional("compression", s.compression, OneOf{"none", "deflate", "rounded"},
             "deflate: lossless, 3/4 of the size, slow; rounded: positions with `decimals` digits, "
             "1/2 of the size (docs/guide/files.md)");
  d.optional("decimals", s.decimals, Between{0, 9},
             "decimal places of rounded positions, in the file's unit of length");
  d.optional("author", s.author, Any{}, "author's name in the file; empty: the job's");
}

class Trajectory : public io::FrameObserver<io::FrameFile> {
 public:
  Trajectory(const TrajectorySettings& settings, Setup& setup);
  std::string needs_velocities() const override { return wanted_velocities(); }
  void begin(const Observation& seen, bool resumed) override;
  void observe(const Observation& seen) override;
  void end(const Observation& seen) override;

 private:
  Trajectory(const TrajectorySettings& settings, const io::H5mdLayout& layout, Setup& setup);
  void tell_neighbors(const Observation& seen);

  std::string neighbors_;  // what the file says of them
};

}  // namespace perrin
