// The trajectory of a metropolis stage: the sites of the first replica, in the form that
// docs/guide/files.md describes. `step` is the cycle, counted through equilibration.
#pragma once

#include "io/frame_file.h"
#include "system.h"

namespace perrin::metropolis {

class SitesFile {
 public:
  SitesFile(std::filesystem::path path, const Setup& setup, const Units& units);
  void open(bool resumed, const System& system);
  void append(std::int64_t cycle, const System& system);
  void flush() { file_.flush(); }
  void state(Archive& archive) { file_.state(archive); }

 private:
  io::FrameFile file_;
};

/// Cycles in place of times: without a unit.
Units counting_cycles(Units units);

}  // namespace perrin::metropolis
