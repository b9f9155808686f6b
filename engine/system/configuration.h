// The initial particles as a Source makes them: plain host data in double precision, in id order.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/system/box.h"
#include "engine/system/group.h"
#include "engine/system/quaternion.h"

namespace perrin {

/// Bonded particles, by id. Types index the name lists.
struct Topology {
  struct Bond {
    std::uint32_t a, b, type;
  };
  struct Angle {  // b is the vertex
    std::uint32_t a, b, c, type;
  };
  struct Dihedral {  // of the planes a, b, c and b, c, d; impropers are defined by the same angle
    std::uint32_t a, b, c, d, type;
  };
  std::vector<std::string> bond_types, angle_types, dihedral_types, improper_types;
  std::vector<Bond> bonds;
  std::vector<Angle> angles;
  std::vector<Dihedral> dihedrals, impropers;
  std::vector<std::uint32_t> molecule;  // of each particle; empty: none
  /// Rigid bodies: of each particle the id of its body's centre, and where it is in the frame of
  /// that (length); no_body: in none. Empty: there are none.
  static constexpr std::uint32_t no_body = 0xffffffffu;
  std::vector<std::uint32_t> body;
  std::vector<Vec3<double>> site;
  /// Distances that stay as they are, in each connected cluster in the order in which they are met.
  struct Constraint {
    std::uint32_t a, b;
    double length;
  };
  std::vector<Constraint> constraints;
  /// Carried by a centre, and moved with it.
  bool is_site(std::size_t id) const {
    return !body.empty() && body[id] != no_body && body[id] != id;
  }
};

/// How many of each there are, or can be.
struct BondedCounts {
  std::int64_t bonds = 0, angles = 0, dihedrals = 0, impropers = 0;
};

/// A configuration: N particles with ids 0 … N-1. `velocity`, `image` and `mass` are empty where
/// the source has none (then: drawn or zero, zero, 1).
struct Configuration {
  Box box;
  std::vector<std::string> types;      // names; a particle's type indexes them
  std::vector<Vec3<double>> position;  // inside the box where periodic
  std::vector<std::uint32_t> type;
  std::vector<Vec3<double>> velocity;
  std::vector<Image> image;
  std::vector<double> mass;
  std::vector<double> charge, diameter;  // carried for outputs and plug-ins; empty: none
  std::map<std::string, std::vector<double>> attributes;  // others, by their names
  /// Which way particles look; empty: they have no orientations. The other two are in the frame of
  /// each particle; empty: 0.
  std::vector<Quaternion> orientation;
  std::vector<Vec3<double>> angular_momentum, moment_of_inertia;
  /// Formulas of the time t and of attributes at the start, by the names of attributes that change.
  std::map<std::string, std::string> attribute_changes;
  /// Between which numbers attributes are that the job writes anew, by their names.
  std::map<std::string, std::array<double, 2>> attribute_between;
  Topology topology;
  std::vector<Group> groups;  // of the job, in no order
  /// Of a part of a system (part_of()): its ids there. Empty: 0 … N-1.
  std::vector<std::uint32_t> id;
  /// Of the frame it was read from; a job's system: where its steps and its time begin.
  std::int64_t step = 0;
  double time = 0;
  /// What the source has to say of it, a sentence each.
  std::vector<std::string> warnings;
  /// What the source has besides and Perrin has no place for, and how many: "constraints", ….
  std::map<std::string, std::int64_t> left_out;
};

/// Particles that are not there, which Monte Carlo may insert (engine/dynamics/reservoir.h), have a
/// type of their own: its name is that of the type that they are of when they are there, and this.
inline constexpr std::string_view absent_ending = " (absent)";
inline bool is_absent(const std::string& type) { return type.ends_with(absent_ending); }

/// [type]: whether potentials act on a type only where the job gives its pairs: all its particles
/// are centres of rigid bodies, or they are not there.
inline std::vector<bool> silent_types(const Configuration& c) {
  std::vector<bool> silent(c.types.size(), false);
  const std::vector<std::uint32_t>& body = c.topology.body;
  for (std::size_t id = 0; id < body.size(); ++id)
    if (body[id] == id) silent[c.type[id]] = true;
  for (std::size_t id = 0; id < body.size(); ++id)
    if (body[id] != id) silent[c.type[id]] = false;
  for (std::size_t t = 0; t < c.types.size(); ++t)
    if (is_absent(c.types[t])) silent[t] = true;
  return silent;
}

}  // namespace perrin
