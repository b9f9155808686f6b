// Trajectories in the DCD format of CHARMM, X-PLOR and NAMD: records of Fortran, each between two
// markers that hold its length. A header of 84 bytes ("CORD" and 20 integers), titles of 80 bytes,
// the number of particles; then frames: the unit cell (six doubles, where there is one), and
// coordinates x, y, z as single precision, each a record.
//
// The format: CHARMM documentation, dynamc and trajectory i/o; NAMD user's guide, "DCD trajectory
// output"; the meaning of unit cells as LAMMPS (dump dcd), OpenMM and MDAnalysis write and read it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perrin::io {

/// A unit of time of CHARMM (AKMA) in ps.
inline constexpr double dcd_time_unit = 4.88882129e-2;
inline constexpr std::size_t dcd_header_bytes = 84, dcd_title_bytes = 80, dcd_cell_bytes = 48;

/// Of the 20 integers after "CORD".
enum DcdNumber : std::size_t {
  dcd_frames = 0,
  dcd_first_step = 1,
  dcd_stride = 2,
  dcd_last_step = 3,
  dcd_fixed = 8,      // particles that frames after the first leave out
  dcd_timestep = 9,   // a float; X-PLOR: a double
  dcd_has_cell = 10,  // CHARMM's alone, as the next two
  dcd_has_fourth = 11,
  dcd_has_charges = 12,
  dcd_version = 19  // of CHARMM; 0: X-PLOR
};

/// What Perrin's own files say of their units, in the first title.
inline constexpr const char* dcd_unnamed = "Perrin: numbers without names of units";
inline constexpr const char* dcd_named = "Perrin: lengths in Angstrom, times in ps";

}  // namespace perrin::io
