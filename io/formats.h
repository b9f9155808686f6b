// File formats of configurations and trajectories: H5MD, GSD (schema hoomd), LAMMPS data, extended
// XYZ, DCD; LAMMPS dumps are only read, XTC, PDB and GRO only written.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin::io {

/// What a file says of its units, as text ("nm", "ps", "nm ps-1"); empty where it says nothing.
struct FrameUnits {
  std::string length, time, velocity, mass;
  /// Where a file names it; empty: mass length velocity.
  std::string angular_momentum{};
  double charge = 1;     // of the unit of charges, in elementary charges
  bool reduced = false;  // it says that it is in reduced units
  bool empty() const { return length.empty() && time.empty() && velocity.empty() && mass.empty(); }
  friend bool operator==(const FrameUnits&, const FrameUnits&) = default;
};

/// As one text, where there is one of its own, else of the others; empty where these are missing.
std::string angular_momentum_unit(const FrameUnits& units);
std::string moment_of_inertia_unit(const FrameUnits& units);

/// One frame of a file. configuration.step is the frame's step, if it has one; configuration.time
/// is left alone.
struct Frame {
  Configuration configuration;
  bool has_step = false;
  double time = 0;
  FrameUnits units;
  /// What numbers of a file without units are in by the convention of its format; empty: none.
  FrameUnits convention;
  /// Where a file has these instead of velocities: read() divides them by the masses.
  std::vector<Vec3<double>> momentum;
  /// What the file has in other frames, and not in this one, with the place: velocities (angular
  /// momenta), images, orientations.
  std::string no_velocities, no_images, no_orientations;
  /// Attributes, charge and diameter among them, of which an H5MD file has numbers of each frame.
  std::set<std::string> changing_attributes;
  /// What the file has besides and no conversion keeps, a sentence each.
  std::vector<std::string> dropped;
  bool repeats = false;      // bonds, angles may be there twice: each counts
  bool may_be_flat = false;  // two dimensions are not marked as such in this format
  /// Positions and velocities that the file has in double precision, where it could have them in
  /// single.
  bool fine = false, fine_velocity = false;
  bool has_box = true;
  std::string box_remedy{};  // what else gives the file a box, for the message
};

/// The unit of lengths that a file names, or has by convention; empty: none.
std::string length_unit(const Frame& frame);
/// The same of times.
std::string time_unit(const Frame& frame);

/// What the user says of a file before it is opened.
struct OpenOptions {
  std::vector<std::string>
      groups;              // of particles, under /particles (H5MD); empty: as they are there
  std::string atom_style;  // LAMMPS data; empty: as the file says
};

/// What the user wants otherwise than the file says.
struct ReadOptions {
  std::optional<std::array<bool, 3>> periodic;
  std::map<std::string, double> masses;  // by the name of the type in the file
  /// False: as if the file had none; angular momenta go with velocities.
  bool velocities = true, images = true;
  std::optional<std::int32_t> dimension;
  /// Edges, or edges and the three tilts, in the unit of the file; the corner at 0.
  std::vector<double> box;
};

/// What the user wants otherwise than a format has it. Not every format can do everything.
struct WriteOptions {
  bool unwrapped = false;            // frames hold paths, and no images
  bool fine = false;                 // in double precision: positions (H5MD), everything (GSD)
  bool fine_velocity = false;        // the same of velocities (H5MD)
  std::string compression = "none";  // "none", "deflate", "rounded" (H5MD)
  int decimals = 3;                  // of rounded positions
  bool time_chunks = false;          // laid out for the paths of single particles (H5MD)
  std::int64_t frames = 1;           // number of frames that will be written
};

class FrameReader {
 public:
  explicit FrameReader(std::string path) : path_(std::move(path)) {}
  virtual ~FrameReader() = default;
  virtual std::int64_t frames() const = 0;
  /// 0 ≤ frame < frames(). Particles are in id order, wrapped into the box, checked (check_frame).
  /// Throws UserError naming file, place and what was expected.
  Frame read(std::int64_t frame, const ReadOptions& options = {});

 protected:
  /// The frame as the file has it.
  virtual Frame get(std::int64_t frame) = 0;
  std::string path_;
};

class FrameWriter {
 public:
  virtual ~FrameWriter() = default;
  /// Throws RunError where the disk is full, UserError where the format cannot hold the frame, or
  /// not together with the frames before.
  virtual void write(const Frame& frame) = 0;
  /// The file is complete only after this.
  virtual void finish() = 0;
  /// After finish(): what of the frames together has no place in the file, a sentence each.
  virtual std::vector<std::string> lost_between() const { return {}; }
};

/// All that is known of a file format. It is defined behind its reader; io/formats.cpp lists all.
struct FileFormat {
  std::string name;                     // in jobs and on the command line
  std::vector<std::string> extensions;  // with their dots
  bool one_frame, names_units;          // a file holds one frame; says what its units are
  /// From the first bytes of a file (255 at most).
  bool (*recognizes)(std::string_view head);
  /// nullptr: is only written.
  std::unique_ptr<FrameReader> (*open)(const std::string& path, const OpenOptions& options);
  /// `path` must not exist; `first` is what is going to be written first. nullptr: is only read.
  std::unique_ptr<FrameWriter> (*create)(const std::string& path, const Frame& first,
                                         const WriteOptions& options);
  /// What of a frame has no place in it, one sentence each: "bonds are left out". Units and
  /// whatever Perrin itself leaves out are looked after by losses(). nullptr: is only read.
  std::vector<std::string> (*losses)(const Frame& frame);
};
using Format = const FileFormat*;

/// Those that can be read; `written`: those that can be written.
std::vector<std::string> format_names(bool written = false);
/// The same, and "auto" before them.
std::vector<std::string> format_choices(bool written = false);
Format format_of_name(const std::string& name);
/// By the extension, else for an existing file by its first bytes. Throws UserError.
Format guess_format(const std::string& path, bool existing);

std::unique_ptr<FrameReader> open_frames(const std::string& path, Format format,
                                         const OpenOptions& options = {});
/// Negative frames count from the end. Throws UserError where there is none such.
Frame read_frame(FrameReader& reader, const std::string& path, std::int64_t frame,
                 const ReadOptions& options = {});
// Writers that have a file of their own.
std::unique_ptr<FrameWriter> write_h5md(const std::string& path, const Frame& first,
                                        const WriteOptions& options = {});
std::unique_ptr<FrameWriter> write_gsd(const std::string& path, const Frame& first,
                                       const WriteOptions& options = {});
std::unique_ptr<FrameWriter> write_dcd(const std::string& path, const Frame& first,
                                       const WriteOptions& options = {});
std::unique_ptr<FrameWriter> write_lammps_data(const std::string& path, const Frame& first,
                                               const WriteOptions& options = {});

/// What of a frame has no place in a format, one sentence each.
std::vector<std::string> losses(const Frame& frame, Format format);

/// Refuses what no run can start from (no particles, NaN, masses that are not positive, ids of
/// bonds out of range, bonds given twice, orientations that are no rotations, particles beyond a
/// non-periodic axis or with an image along one, a flat box, types without a name), wraps particles
/// along periodic axes and adjusts their images, takes images that the file has not from bonds
/// (engine/system/bond_images.h), and puts a two-dimensional system to z = 0. `where` names the
/// file and the frame. `repeats`: bonds given twice count twice.
void check_frame(Configuration& configuration, const std::string& where, bool repeats = false);
/// Whether it looks like two dimensions of LAMMPS: all particles at the same height of a low box.
bool looks_flat(const Configuration& configuration);
/// A box from its edge vectors, the first along x, the second in the xy plane; throws UserError for
/// others.
Box box_from_edges(const std::array<Vec3<double>, 3>& edges, const std::string& where);
/// New names of types, by the old ones; two types may become one. Throws UserError where there is
/// no such type.
void rename_types(Configuration& c, const std::map<std::string, std::string>& names,
                  const std::string& where);
/// Type indices from arbitrary labels, in the order of first appearance. For short lists.
std::uint32_t index_of(std::vector<std::string>& names, const std::string& name);
/// Throws UserError where a name would not be read back as one word of a text file.
void check_words(const std::vector<std::string>& names, const std::string& where);

}  // namespace perrin::io
