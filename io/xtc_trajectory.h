// Observer "xtc": positions and box of all particles into a file of GROMACS's XTC format.
#pragma once

#include <string>

#include "engine/components/setup.h"
#include "io/frame_observer.h"
#include "io/xtc_file.h"

namespace perrin {

struct XtcSettings {
  std::string file = "trajectory.xtc", positions = "wrapped";
  std::int64_t stride = 1000;
  std::string group = "all";
  std::int32_t decimals = 3;
};

template <class D>
void describe(D& d, XtcSettings& s) {
  d.required("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("file", s.file, Any{}, "XTC file, relative to the output directory");
  d.optional("group", s.group, Any{}, "group of particles whose frames are written");
  d.optional("positions", s.positions, OneOf{"wrapped", "unwrapped"},
             "unwrapped: positions without jumps at periodic boundaries");
  d.optional("decimals", s.decimals, Between{0, 9},
             "decimal places of coordinates, in nm; in reduced units, in the unit of length, which "
             "readers take as 1 nm");
}

class XtcTrajectory : public io::FrameObserver<io::XtcFile> {
 public:
  XtcTrajectory(const XtcSettings& settings, Setup& setup);

 private:
  static void check_range(const XtcSettings& settings, Setup& setup);
};

}  // namespace perrin
