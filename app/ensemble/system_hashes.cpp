#include "app/ensemble/system_hashes.h"

#include <type_traits>

#include "engine/components/force.h"
#include "engine/dynamics/simulation.h"
#include "engine/system/archive.h"
#include "engine/system/orientations.h"
#include "io/checksum.h"

namespace perrin {
namespace {

template <class T>
std::uint64_t hash_of_bytes(const std::vector<T>& values, std::uint64_t hash) {
  static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
  return io::xxh64(values.data(), values.size() * sizeof(T), hash);
}

}  // namespace

std::uint64_t hash_of(const std::string& text, std::uint64_t hash) {
  return io::xxh64(text.data(), text.size(), hash);
}
std::uint64_t hash_of(const std::vector<double>& values, std::uint64_t hash) {
  return hash_of_bytes(values, hash);
}

std::uint64_t types_hash(const Particles& p) {
  std::uint64_t hash = 0;
  for (const std::string& type : p.properties().types) hash = hash_of(type, hash + 1);
  return hash;
}

std::uint64_t attributes_hash(const Particles& p) {
  std::uint64_t hash = 0;
  for (const auto& [name, values] : p.properties().attributes)
    hash = hash_of(values, hash_of(name, hash + 1));
  return hash_of(p.properties().diameter, hash + 1);
}

std::uint64_t kinds_hash(const Particles& p) {
  std::vector<double> kinds;
  kinds.reserve(2 * std::size_t(p.size()));
  for (const Position& position : p.by_id(p.position())) kinds.push_back(position.type());
  for (const Real4& velocity : p.by_id(p.velocity())) kinds.push_back(velocity.w);
  if (p.orientations())
    for (const Real4& moment : p.by_id(p.orientations()->moment()))
      kinds.insert(kinds.end(), {moment.x, moment.y, moment.z});
  return hash_of(kinds) | 1;
}

std::uint64_t topology_hash(const Topology& t) {
  std::uint64_t hash = hash_of_bytes(t.bonds, 1);
  hash = hash_of_bytes(t.angles, hash + 1);
  hash = hash_of_bytes(t.dihedrals, hash + 1);
  hash = hash_of_bytes(t.impropers, hash + 1);
  std::vector<double> numbers;
  for (const Topology::Constraint& c : t.constraints)
    numbers.insert(numbers.end(), {double(c.a), double(c.b), c.length});
  for (const Vec3<double>& site : t.site) numbers.insert(numbers.end(), {site.x, site.y, site.z});
  hash = hash_of_bytes(t.body, hash + 1);
  hash = hash_of_bytes(t.molecule, hash + 1);
  return hash_of(numbers, hash + 1);
}

std::uint64_t forces_hash(Simulation& s) {
  std::uint64_t hash = 0;
  for (const Group& group : s.particles().properties().groups)
    if (!group.changes()) hash = hash_of_bytes(group.members(), hash_of(group.name(), hash + 1));
  for (const auto& force : s.forces()) {
    Archive archive = Archive::saving();
    force->state(archive);
    for (const auto& [name, record] : archive.records())
      hash = hash_of_bytes(record.bytes, hash_of(name, hash + 1));
  }
  return hash;
}

}  // namespace perrin
