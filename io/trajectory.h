// Observer "trajectory": frames of all particles into an H5MD file.
#pragma once

#include <string>
#include <vector>

#include "engine/run/setup.h"
#include "io/frame_file.h"
#include "io/frame_observer.h"

namespace perrin {

struct TrajectorySettings {
  std::string file = "trajectory.h5";
  std::int64_t stride = 1000;
  std::vector<std::string> quantities{"position", "image"};
  std::string positions = "wrapped", precision = "single";
  std::string species = "static", compression = "none", author;
  std::int32_t decimals = 3;
};

template <class D>
void describe(D& d, TrajectorySettings& s) {
  d.required("stride", s.stride, Positive{}, "steps from one frame to the next");
  d.optional("file", s.file, Any{}, "H5MD file, relative to the output directory");
  d.optional("quantities", s.quantities, OneOf{"position", "velocity", "force", "image"},
             "what a frame holds; positions are always written");
  d.optional("positions", s.positions, OneOf{"wrapped", "unwrapped"},
             "unwrapped: the path without jumps at the faces of the box, for mean square "
             "displacements; no images then");
  d.optional("precision", s.precision, OneOf{"single", "double"},
             "of positions; single has 7 digits: 0.0001 far out at 1000 box units, 0.1 at 10^6");
  d.optional("species", s.species, OneOf{"static", "time-dependent"},
             "types once per file (VMD), or in every frame (ZnH5MD)");
  d.optional("compression", s.compression, OneOf{"none", "deflate", "rounded"},
             "deflate: the same bits in three quarters of the size, slowly; rounded: positions to "
             "`decimals`, in half of the size (docs/guide/files.md)");
  d.optional("decimals", s.decimals, Between{0, 9},
             "digits after the point that rounded positions keep, in the file's unit of length");
  d.optional("author", s.author, Any{}, "the author's name in the file; empty: the job's");
}

class Trajectory : public io::FrameObserver<io::FrameFile> {
 public:
  Trajectory(const TrajectorySettings& settings, Setup& setup);
  std::string needs_velocities() const override {
    return wants_velocities() ? "\"velocity\" of frames" : "";
  }
  void begin(Simulation& simulation, bool resumed) override;
  void observe(Simulation& simulation) override;
  void end(Simulation& simulation) override;

 private:
  Trajectory(const TrajectorySettings& settings, const io::H5mdLayout& layout, Setup& setup);
  void tell_neighbors(const Simulation& simulation);

  std::string neighbors_;  // what the file says of them
};

}  // namespace perrin
