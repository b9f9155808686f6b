// What a run says about itself in the files it writes. Filled by the job, read by the observers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace perrin {

/// H5MD unit strings (the "units" module: "nm", "kJ mol-1", "nm ps-1", …); all empty: reduced units,
/// and the files then carry no unit at all.
struct UnitNames {
  std::string length, time, velocity, force, energy, mass, temperature, pressure, charge, momentum;
};

struct RunInfo {
  std::string job_json;   // the job as run: every setting with its value, seed included
  std::uint64_t seed = 0;
  std::string version;    // of Perrin
  std::string build;      // build tag: compiler, CUDA version, precision
  std::string device;     // Device::description()
  std::string precision;  // "mixed" or "double"
  std::string author;     // H5MD author; empty: "N/A"
  UnitNames units;
  bool overwrite = false;  // existing output files may be replaced
  bool quiet = false;      // nothing on the console but errors
  bool resuming = false;   // output files exist and are to be continued
  double earlier_wall_time = 0;  // seconds, before the run was resumed

  /// Writes a checkpoint of the whole run to this file (see io/checkpoint.h); set by the run, empty
  /// while a job is only validated.
  std::function<void(const std::string& path)> save_checkpoint;
  /// Prints one line to the console without tearing the progress line; empty: std::cout.
  std::function<void(const std::string& line)> print;
};

}  // namespace perrin
