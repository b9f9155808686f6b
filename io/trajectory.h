// Observer "trajectory": frames of all particles into an H5MD file.
#pragma once

#include <memory>

#include "engine/run/observer.h"
#include "engine/run/setup.h"
#include "io/frame_file.h"
#include "io/gather.h"

namespace perrin {

struct TrajectorySettings {
  std::string file = "trajectory.h5";
  std::int64_t stride = 1000;
  std::vector<std::string> quantities{"position", "image"};
  std::string species = "static", compression = "none", author;
};

template <class D>
void describe(D& d, TrajectorySettings& s) {
  d.required("stride", s.stride, Positive{}, "steps from one frame to the next");
  d.optional("file", s.file, Any{}, "H5MD file, relative to the output directory");
  d.optional("quantities", s.quantities, OneOf{"position", "velocity", "force", "image"},
             "what a frame holds; positions are always written");
  d.optional("species", s.species, OneOf{"static", "time-dependent"},
             "types once per file (VMD), or in every frame (ZnH5MD)");
  d.optional("compression", s.compression, OneOf{"none", "deflate"},
             "deflate: three quarters of the size, at a fiftieth of the speed");
  d.optional("author", s.author, Any{}, "the author's name in the file; empty: the job's");
}

class Trajectory : public Observer {
 public:
  Trajectory(const TrajectorySettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(Simulation& simulation, bool resumed) override;
  void observe(Simulation& simulation) override;
  void end(Simulation& simulation) override;
  void state(Archive& archive) override;

 private:
  void open(Simulation& simulation, bool resumed);
  void tell_neighbors(const Simulation& simulation);

  TrajectorySettings settings_;
  io::FrameFile file_;
  std::unique_ptr<io::FrameGather> gather_;
  std::string neighbors_;  // what the file says of them
};

}  // namespace perrin
