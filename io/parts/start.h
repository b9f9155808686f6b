// A start while its parts are put into the box.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/system/configuration.h"
#include "io/parts/distances.h"
#include "io/parts/occupied.h"

namespace perrin::parts {

class Start {
 public:
  Start(const Box& box, const Distances& distances)
      : box_(box), distances_(distances), occupied_(box) {}

  const Box& box() const { return box_; }
  const Distances& distances() const { return distances_; }
  const Occupied& occupied() const { return occupied_; }
  std::size_t size() const { return occupied_.size(); }
  /// Not wrapped.
  Vec3<double> position(std::uint32_t id) const { return occupied_.position(id); }

  /// The number of a type; new names are added.
  std::uint32_t type(const std::string& name);
  std::vector<std::uint32_t> types(const std::vector<std::string>& names);
  const std::vector<std::string>& type_names() const { return types_; }

  /// No particle but `except` is nearer than the minimum distance of the two types.
  bool fits(Vec3<double> r, std::uint32_t type, std::span<const std::uint32_t> except = {}) const {
    return occupied_.conflict(r, type, except) < 0;
  }
  /// The particle is of the molecule that end_molecule() ends.
  void add(Vec3<double> r, std::uint32_t type) { occupied_.add(r, type); }
  void remove_last() { occupied_.remove_last(); }
  void end_molecule();

  std::uint32_t bond_type(const std::string& name) { return named(topology_.bond_types, name); }
  std::uint32_t angle_type(const std::string& name) { return named(topology_.angle_types, name); }
  std::uint32_t dihedral_type(const std::string& name) {
    return named(topology_.dihedral_types, name);
  }
  Topology& topology() { return topology_; }

  /// All of a configuration, its particles at other places; what has no molecules is one, or many
  /// where `one_molecule` is false. Does not look who is near.
  void append(const Configuration& c, const std::vector<Vec3<double>>& places, bool one_molecule);
  void warn(const std::string& what) { warnings_.push_back(what); }

  /// All of it. Masses by type overrule those of the particles. Attributes are not a number (NaN)
  /// for particles that were added without them.
  Configuration finish(const std::map<std::string, double>& masses) const;

 private:
  static std::uint32_t named(std::vector<std::string>& names, const std::string& name);
  void append_bonds(const Topology& t, std::uint32_t first);
  void append_molecules(const Configuration& c, bool one_molecule);

  Box box_;
  Distances distances_;
  Occupied occupied_;
  std::vector<std::string> types_;
  Topology topology_;
  std::uint32_t molecules_ = 0;
  std::vector<double> mass_, charge_, diameter_;  // shorter than all: 1, 0, 1 for the others
  std::map<std::string, std::vector<double>> attributes_;  // likewise: NaN
  std::vector<std::string> warnings_;
};

}  // namespace perrin::parts
