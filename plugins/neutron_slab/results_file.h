// The HDF5 file of a neutron_slab stage: rows of observables as in docs/files.md, `step` being the
// number of histories.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/run/setup.h"
#include "plugins/neutron_slab/results.h"

namespace neutron {

class ResultsFile {
 public:
  /// Makes the file, or trims that of a stopped run to `rows`. Throws UserError.
  ResultsFile(const std::string& path, int depth_bins, int angle_bins, double thickness,
              const perrin::JobRecord& record, const perrin::Units& units, bool overwrite,
              bool resumed, std::int64_t rows, std::int64_t last_step);
  ~ResultsFile();
  /// Queued: the writer's thread does it.
  void append(const Results& results);
  /// Waits until everything is on the disk.
  void flush();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace neutron
