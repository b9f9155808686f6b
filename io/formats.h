// File formats of configurations and trajectories: H5MD, GSD (schema hoomd), LAMMPS data, extended
// XYZ.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/configuration.h"

namespace perrin::io {

/// One frame of a file. configuration.step is the frame's step.
struct Frame {
  Configuration configuration;
  double time = 0;
};

class FrameReader {
 public:
  virtual ~FrameReader() = default;
  virtual std::int64_t frames() const = 0;
  /// 0 ≤ frame < frames(). Particles are in id order, wrapped into the box, checked (check_frame).
  /// Throws UserError naming file, place and what was expected.
  virtual Frame read(std::int64_t frame) = 0;
};

class FrameWriter {
 public:
  virtual ~FrameWriter() = default;
  /// Throws RunError where the disk is full, UserError where the format cannot hold the frame.
  virtual void write(const Frame& frame) = 0;
  /// The file is complete only after this.
  virtual void finish() = 0;
};

enum class Format { h5md, gsd, lammps, extended_xyz };
/// Names in jobs and on the command line: "h5md", "gsd", "lammps", "xyz".
const std::vector<std::string>& format_names();
Format format_of_name(const std::string& name);
/// By the extension (.h5 .h5md .hdf5, .gsd, .data .lmp .lammps, .xyz .extxyz), else for an existing
/// file by its first bytes. Throws UserError.
Format guess_format(const std::string& path, bool existing);

std::unique_ptr<FrameReader> open_frames(const std::string& path, Format format);
/// Negative frames count from the end. Throws UserError where there is none such.
Frame read_frame(FrameReader& reader, const std::string& path, std::int64_t frame);
/// `path` must not exist. Static data (types, masses, bonds) are those of `first`.
std::unique_ptr<FrameWriter> make_frame_writer(const std::string& path, Format format,
                                               const Frame& first);

std::unique_ptr<FrameReader> open_h5md(const std::string& path);
std::unique_ptr<FrameReader> open_gsd(const std::string& path);
std::unique_ptr<FrameReader> open_lammps_data(const std::string& path);
std::unique_ptr<FrameReader> open_extended_xyz(const std::string& path);
std::unique_ptr<FrameWriter> write_h5md(const std::string& path, const Frame& first);
std::unique_ptr<FrameWriter> write_gsd(const std::string& path, const Frame& first);
std::unique_ptr<FrameWriter> write_lammps_data(const std::string& path);
std::unique_ptr<FrameWriter> write_extended_xyz(const std::string& path);

/// Refuses what no run can start from (no particles, NaN, masses that are not positive, ids of
/// bonds out of range, particles beyond a non-periodic axis, a flat box), wraps particles along
/// periodic axes and adjusts their images, and puts a two-dimensional system to z = 0. `where`
/// names the file and the frame.
void check_frame(Configuration& configuration, const std::string& where);
/// A box from its edge vectors, the first along x, the second in the xy plane; throws UserError for
/// others.
Box box_from_edges(const std::array<Vec3<double>, 3>& edges, const std::string& where);
/// Type indices from arbitrary labels, in the order of first appearance.
std::uint32_t index_of(std::vector<std::string>& names, const std::string& name);

}  // namespace perrin::io
