// Trajectories in H5MD 1.1, laid out so that MDAnalysis, VMD, GROMACS and plain HDF5 tools all read
// them (docs/guide/files.md). One cadence for all particle data of a file.
//
// P. de Buyl, P. Colberg, F. Höfling, Comput. Phys. Commun. 185 (2014) 1546; H5MD 1.1.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/device/outgoing.h"
#include "engine/system/configuration.h"
#include "io/file_units.h"
#include "io/frame_array.h"
#include "io/h5md_bonds.h"
#include "io/open_when_used.h"
#include "io/run_record.h"

namespace perrin::io {

/// What one frame holds. Coordinates lie in [0, L): the lower corner of the box is taken off,
/// because H5MD 1.1 has no place for it and its readers put it at 0.
/// Unwrapped ones lie wherever the particles have gone from there.
struct H5mdFrame {
  std::int64_t step = 0;
  double time = 0;
  std::uint32_t stage = 0;         // of the job, from 0
  std::array<double, 9> edges{};   // rows: edge vectors
  std::array<double, 3> origin{};  // lower corner, kept under /parameters/perrin
  // In id order, 3 per particle; species 1. Empty: not written. Positions are in one of the two,
  // and so are velocities.
  FrameArray<float> position, velocity, force;
  FrameArray<double> fine_position, fine_velocity;
  FrameArray<std::int32_t> image, species, id;  // id: -1 for who is not there
  /// Unit quaternions as w, x, y, z, angular momenta in the frame of each particle, and torques in
  /// space.
  FrameArray<float> orientation, angular_momentum, torque;
  /// [name][particle], of the attributes that the layout says change.
  std::vector<FrameArray<double>> attributes;
  /// Of the particles of the frame, where bonds are made and broken; nullptr: as at the start.
  std::shared_ptr<const Topology> topology;
  Arrival arrival;  // of the arrays, where they are still being copied from a device

  void set_box(const Box& box);
  std::size_t bytes() const;
  /// Itself, when all of it is there. For readers of the arrays, on any thread.
  const H5mdFrame& arrived() const {
    arrival.wait();
    return *this;
  }
};

struct H5mdLayout {
  bool velocity = false, force = false, image = true, moving_species = false;
  bool moving_ids = false;  // particles come and go
  bool orientation = false, angular_momentum = false, torque = false;
  bool unwrapped = false;
  bool fine_positions = false, fine_velocities = false;  // float64
  /// Names, in the order of their letters, of attributes (charge and diameter among them) that
  /// every frame has numbers of; all others are written once.
  std::vector<std::string> changing_attributes{};
  /// Bonds are in every frame, so many at most; nothing: once, as they are at the start.
  std::optional<BondedCounts> dynamic_bonds{};
  /// Where numbers are rounded, these are the positions; everything else is deflated then.
  Packing packing{};
  /// Frames and particles (0: all) in a chunk.
  hsize_t chunk_frames = 1, chunk_particles = 0;
};

/// Units of what a trajectory holds; nothing in reduced units.
struct H5mdUnits {
  H5mdUnits() = default;
  H5mdUnits(const Units& units);
  FileUnit length, time, velocity, force, angular_momentum, torque, moment_of_inertia;
  std::string mass;
  bool named() const { return !length.name.empty() || !time.name.empty(); }
};

class H5mdWriter final : OpenWhenUsed {
 public:
  /// Makes the file with all that does not change. It appears under its name when it is whole.
  static void create(const std::string& path, const Configuration& configuration,
                     const H5mdLayout& layout, const JobRecord& record, const H5mdUnits& units,
                     bool overwrite);
  /// For a resumed run, whose record it takes: trims every series to `frames`, of which the last
  /// must be that of `last_step`. Throws UserError if the file has fewer.
  static void trim(const std::string& path, const JobRecord& record, std::int64_t frames,
                   std::int64_t last_step);

  /// Opens for appending.
  explicit H5mdWriter(const std::string& path);
  ~H5mdWriter();
  void append(const H5mdFrame& frame) { append(std::span(&frame, 1)); }
  void append(std::span<const H5mdFrame> frames);
  /// How pairs are found and why, as known by now: Simulation::neighbor_report(). While the file is
  /// closed this waits for the next frame, and so do stages (LateRecord).
  void write_neighbors(const std::string& report);
  void write_stage(std::size_t stages, std::size_t k, std::int64_t step, const std::string& remark);
  void flush_to_disk() { sync(); }
  void close();

 private:
  void open_parts(const Node& root) override;
  void close_parts() override;
  void write_late();

  LateRecord late_;
  Series step_, time_, edges_, origin_, velocity_, force_, image_, species_, id_, orientation_,
      angular_momentum_, torque_, position_;
  std::vector<Series> attributes_;  // that change, in the order of their names
  MovingBonds bonds_;
  Node wall_time_;
  bool has_velocity_ = false, has_force_ = false, has_image_ = false, has_species_ = false;
  bool has_id_ = false;
  bool has_orientation_ = false, has_angular_momentum_ = false, has_torque_ = false;
  bool fine_ = false, fine_velocity_ = false;
  // What the numbers of the job are multiplied by, as the file says.
  double length_factor_ = 1, time_factor_ = 1, velocity_factor_ = 1, force_factor_ = 1,
         angular_momentum_factor_ = 1, torque_factor_ = 1;
  double wall_before_ = 0;
  std::chrono::steady_clock::time_point opened_;
};

}  // namespace perrin::io
