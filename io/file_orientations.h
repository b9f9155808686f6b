// Orientations as files have them: angular momenta of HOOMD-blue, ellipsoids of LAMMPS.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin::io {

/// Whether a particle turns about any axis.
bool has_moments(const Configuration& c);

/// What is said where orientations have no place; empty: there are none.
std::string lost_orientations(const Configuration& c);

/// The same of rigid bodies that a file has, where they have no place.
std::string lost_bodies(const Configuration& c);

/// HOOMD-blue's angular momentum, the quaternion 2 q (0, L) as w, x, y, z, of L in the particle's
/// own frame; and back. q need not be of length 1.
std::array<double, 4> hoomd_angular_momentum(const Quaternion& q, const Vec3<double>& own);
Vec3<double> own_angular_momentum(const Quaternion& q, const std::array<double, 4>& hoomd);

/// Of a homogeneous ellipsoid: m/5 (b² + c²), …, as LAMMPS has it. `axes`: half of each.
Vec3<double> moments_of_ellipsoid(double mass, const Vec3<double>& axes);
/// The volume of one.
double volume_of_ellipsoid(const Vec3<double>& axes);

/// Ellipsoids that have the masses and the moments of inertia of particles.
struct Ellipsoids {
  explicit Ellipsoids(const Configuration& c);
  /// Half of each axis; (0, 0, 0) for particles without moments. Empty: there are none, or not all
  /// moments are those of ellipsoids.
  std::vector<Vec3<double>> axes;
  std::size_t points = 0;  // particles without moments
  std::string
      why_not;  // the particle whose moments are those of no ellipsoid; empty: there is none
};

/// Throws UserError, beginning with `where` and naming the particle, for quaternions that are no
/// rotations, moments of inertia below 0 and numbers that are not finite. Quaternions get length 1.
/// Angular momenta without orientations are left out with a warning.
void check_orientations(Configuration& c, const std::string& where);
/// The first particle that is turned out of the plane of two dimensions; -1: there is none.
std::int64_t first_out_of_plane(const Configuration& c);

}  // namespace perrin::io
