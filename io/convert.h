// `perrin convert IN OUT`: between H5MD, GSD, LAMMPS data, extended XYZ and DCD; from LAMMPS dumps;
// to XTC, PDB and GRO.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace perrin {

struct ConvertOptions {
  std::string in, out;
  std::string from = "auto", to = "auto";  // "auto", or one of io::format_names()
  std::optional<long long> frame;          // one frame, negative from the end; otherwise all
  bool overwrite = false;
  bool unwrapped = false;            // positions without jumps at the faces, instead of images
  std::string origin = "file";       // "file", "corner", "middle" (extended XYZ, LAMMPS data)
  std::vector<std::string> types;    // "old=new"
  std::vector<std::string> groups;   // of particles in IN, all where empty (H5MD)
  std::string atom_style;            // of LAMMPS data; empty: as IN says
  std::optional<int> dimension;      // 2, 3; as IN says
  std::vector<double> box;           // of IN, where it has none
  bool velocities = true;            // false: as if IN had none
  std::string precision = "file";    // "single", "double" (H5MD, GSD), or as in IN
  std::string compression = "none";  // "none", "deflate", "rounded" (H5MD)
  int decimals = 3;                  // that rounding keeps
  std::string chunk = "frame";       // "frame", "time" (H5MD)
  /// Takes what the output has no place for, one sentence each.
  std::function<void(const std::string&)> warn;
};

/// Returns the number of frames written. The output appears under its name when it is whole. A
/// format of one frame (LAMMPS data) gets the last one unless told otherwise. Throws UserError,
/// RunError.
long long convert(const ConvertOptions& options);

}  // namespace perrin
