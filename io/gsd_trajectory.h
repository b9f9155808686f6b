// Observer "gsd": frames of all particles into a GSD file with the schema hoomd.
#pragma once

#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "io/frame_observer.h"
#include "io/gsd_file.h"

namespace perrin {

struct GsdSettings {
  std::string file = "trajectory.gsd", positions = "wrapped", precision = "single";
  std::int64_t stride = 1000;
  std::string group = "all";
  std::vector<std::string> quantities{"position", "image"};
};

template <class D>
void describe(D& d, GsdSettings& s) {
  d.required("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("file", s.file, Any{}, "GSD file, relative to the output directory");
  d.optional("group", s.group, Any{}, "group of particles whose frames are written");
  d.optional("quantities", s.quantities,
             OneOf{"position", "velocity", "image", "orientation", "angular_momentum"},
             "quantities in a frame; positions are always written, and orientations where angular "
             "momenta are");
  d.optional("positions", s.positions, OneOf{"wrapped", "unwrapped"},
             "unwrapped: positions without jumps at periodic boundaries; without images");
  d.optional("precision", s.precision, OneOf{"single", "double"},
             "precision of positions and box; double uses schema 2.0, which readers support since "
             "2026 (gsd 5, HOOMD 7, OVITO 3.15.2)");
}

class GsdTrajectory : public io::FrameObserver<io::GsdFile> {
 public:
  GsdTrajectory(const GsdSettings& settings, Setup& setup);
  std::string needs_velocities() const override { return wanted_velocities(); }

 private:
  GsdTrajectory(const GsdSettings& settings, const io::GsdLayout& layout, Setup& setup);
};

}  // namespace perrin
