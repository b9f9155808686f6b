#include "io/parts/start.h"

#include <algorithm>
#include <limits>

#include "engine/system/bond_graph.h"

namespace perrin::parts {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::uint32_t Start::named(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  const auto index = std::uint32_t(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return index;
}

std::uint32_t Start::type(const std::string& name) {
  const std::size_t before = types_.size();
  const std::uint32_t index = named(types_, name);
  if (index < before) return index;
  std::vector<double> distances;
  for (const std::string& other : types_) distances.push_back(distances_.between(name, other));
  occupied_.add_type(distances, distances_.smallest(name), distances_.largest(name));
  return index;
}

std::vector<std::uint32_t> Start::types(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> found;
  for (const std::string& name : names) found.push_back(type(name));
  return found;
}

void Start::end_molecule() { topology_.molecule.resize(size(), molecules_++); }

void Start::append(const Configuration& c, const std::vector<Vec3<double>>& places,
                   bool one_molecule) {
  const auto first = std::uint32_t(size());
  const auto type_of = types(c.types);
  for (std::size_t i = 0; i < places.size(); ++i) add(places[i], type_of[c.type[i]]);
  append_molecules(c, one_molecule);
  append_bonds(c.topology, first);
  const auto carry = [&](std::vector<double>& all, const std::vector<double>& own, double other) {
    if (own.empty()) return;
    all.resize(first, other);
    all.insert(all.end(), own.begin(), own.end());
  };
  carry(mass_, c.mass, 1);
  carry(charge_, c.charge, 0);
  carry(diameter_, c.diameter, 1);
  for (const auto& [name, own] : c.attributes) carry(attributes_[name], own, no_number);
}

void Start::append_molecules(const Configuration& c, bool one_molecule) {
  Topology t;
  t.molecule = c.topology.molecule, t.bonds = c.topology.bonds;
  if (!one_molecule) complete_molecules(t, c.position.size());
  if (t.molecule.empty() && one_molecule) return end_molecule();
  if (t.molecule.empty()) {
    for (std::size_t i = topology_.molecule.size(); i < size(); ++i)
      topology_.molecule.push_back(molecules_++);
    return;
  }
  std::map<std::uint32_t, std::uint32_t> renamed;  // in the order of first particles
  for (const std::uint32_t molecule : t.molecule) {
    const auto [found, is_new] = renamed.emplace(molecule, molecules_);
    if (is_new) ++molecules_;
    topology_.molecule.push_back(found->second);
  }
}

void Start::append_bonds(const Topology& t, std::uint32_t first) {
  std::vector<std::uint32_t> bonds, angles, dihedrals, impropers;
  for (const auto& name : t.bond_types) bonds.push_back(named(topology_.bond_types, name));
  for (const auto& name : t.angle_types) angles.push_back(named(topology_.angle_types, name));
  for (const auto& name : t.dihedral_types)
    dihedrals.push_back(named(topology_.dihedral_types, name));
  for (const auto& name : t.improper_types)
    impropers.push_back(named(topology_.improper_types, name));
  for (const auto& b : t.bonds)
    topology_.bonds.push_back({first + b.a, first + b.b, bonds[b.type]});
  for (const auto& a : t.angles)
    topology_.angles.push_back({first + a.a, first + a.b, first + a.c, angles[a.type]});
  const auto four = [first](const Topology::Dihedral& d, std::uint32_t type) {
    return Topology::Dihedral{first + d.a, first + d.b, first + d.c, first + d.d, type};
  };
  for (const auto& d : t.dihedrals) topology_.dihedrals.push_back(four(d, dihedrals[d.type]));
  for (const auto& d : t.impropers) topology_.impropers.push_back(four(d, impropers[d.type]));
}

Configuration Start::finish(const std::map<std::string, double>& masses) const {
  Configuration c;
  c.box = box_;
  c.types = types_;
  c.topology = topology_;
  c.warnings = warnings_;
  for (std::size_t id = 0; id < size(); ++id) {
    Image image;
    c.position.push_back(occupied_.wrapped(occupied_.position(id), &image));
    if (box_.dimension == 2) c.position.back().z = 0, image[2] = 0;
    c.image.push_back(image);
    c.type.push_back(occupied_.type(id));
  }
  const auto carry = [&](std::vector<double>& to, const std::vector<double>& from, double other) {
    to = from;
    if (!from.empty()) to.resize(size(), other);
  };
  carry(c.mass, mass_, 1);
  carry(c.charge, charge_, 0);
  carry(c.diameter, diameter_, 1);
  for (const auto& [name, numbers] : attributes_) carry(c.attributes[name], numbers, no_number);
  if (!masses.empty()) c.mass.resize(size(), 1);
  if (!masses.empty())
    for (std::size_t id = 0; id < size(); ++id)
      if (const auto found = masses.find(types_[c.type[id]]); found != masses.end())
        c.mass[id] = found->second;
  return c;
}

}  // namespace perrin::parts
