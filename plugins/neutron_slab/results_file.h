// The HDF5 file of a neutron_slab stage: rows of observables as in docs/guide/files.md, `step`
// being the number of histories.
#pragma once

#include <optional>
#include <vector>

#include "io/observable_file.h"
#include "results.h"

namespace neutron {

class ResultsFile {
 public:
  /// An empty path: no file. `energy_edges`: of the spectra, maybe none; nothing where neutrons are
  /// of one speed.
  ResultsFile(std::filesystem::path path, int depth_bins, int angle_bins, double thickness,
              std::optional<std::vector<double>> energy_edges, const perrin::Setup& setup);
  /// Makes the file, or trims that of a stopped run. Throws UserError.
  void open(bool resumed) { file_.open(resumed); }
  /// Queued; nothing where the last row has as many histories.
  void append(const Results& results);
  /// Waits until everything is on the disk.
  void flush() { file_.flush(); }
  void state(perrin::Archive& archive) { file_.state(archive); }

 private:
  int depth_bins_, angle_bins_;
  double thickness_;
  std::optional<std::vector<double>> energy_edges_;
  perrin::io::ObservableFile file_;
};

}  // namespace neutron
