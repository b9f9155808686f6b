#include "engine/system/part.h"

#include <algorithm>

namespace perrin {
namespace {

template <class T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<std::uint32_t>& ids) {
  std::vector<T> some;
  if (all.empty()) return some;
  some.reserve(ids.size());
  for (const std::uint32_t id : ids) some.push_back(all[id]);
  return some;
}

constexpr std::uint32_t nowhere = 0xffffffffu;

/// Of those whose particles (each(bond, f)) are all members: with their new numbers.
template <class Bonded, class Each>
std::vector<Bonded> within(const std::vector<Bonded>& all, const std::vector<std::uint32_t>& number,
                           const Each& each) {
  std::vector<Bonded> some;
  for (Bonded one : all) {
    bool inside = true;
    each(one, [&](std::uint32_t& id) {
      id = number[id];
      inside = inside && id != nowhere;
    });
    if (inside) some.push_back(one);
  }
  return some;
}

}  // namespace

Topology part_of(const Topology& topology, std::size_t particles, const Group& group) {
  const std::vector<std::uint32_t> ids = group.ids();
  std::vector<std::uint32_t> number(particles, nowhere);
  for (std::size_t k = 0; k < ids.size(); ++k) number[ids[k]] = std::uint32_t(k);
  Topology t = topology;  // with the names of types
  t.molecule = chosen(topology.molecule, ids);
  t.body.clear(), t.site.clear();  // a part of a body is none
  t.constraints = within(t.constraints, number, [](auto& c, auto f) { f(c.a), f(c.b); });
  t.bonds = within(t.bonds, number, [](auto& b, auto f) { f(b.a), f(b.b); });
  t.angles = within(t.angles, number, [](auto& b, auto f) { f(b.a), f(b.b), f(b.c); });
  const auto four = [](auto& b, auto f) { f(b.a), f(b.b), f(b.c), f(b.d); };
  t.dihedrals = within(t.dihedrals, number, four);
  t.impropers = within(t.impropers, number, four);
  return t;
}

Configuration part_of(const Configuration& c, const Group& group) {
  const std::vector<std::uint32_t> ids = group.ids();
  Configuration part;
  part.box = c.box, part.types = c.types, part.step = c.step, part.time = c.time;
  part.position = chosen(c.position, ids), part.type = chosen(c.type, ids);
  part.velocity = chosen(c.velocity, ids), part.image = chosen(c.image, ids);
  part.mass = chosen(c.mass, ids), part.charge = chosen(c.charge, ids);
  part.diameter = chosen(c.diameter, ids), part.orientation = chosen(c.orientation, ids);
  part.angular_momentum = chosen(c.angular_momentum, ids);
  part.moment_of_inertia = chosen(c.moment_of_inertia, ids);
  for (const auto& [name, values] : c.attributes) part.attributes[name] = chosen(values, ids);
  part.id = chosen(c.id, ids);
  if (part.id.empty()) part.id = ids;
  part.topology = part_of(c.topology, c.position.size(), group);
  return part;
}

}  // namespace perrin
