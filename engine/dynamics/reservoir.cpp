#include "engine/dynamics/reservoir.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "engine/components/step_context.h"
#include "engine/dynamics/counted_tail.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

/// Fills up what is there for some particles; what is there for none stays so.
template <class T>
void pad(std::vector<T>& values, std::size_t n, const T& value) {
  if (!values.empty()) values.resize(n, value);
}

std::uint32_t index_of_type(Configuration& c, const std::string& name) {
  const auto at = std::ranges::find(c.types, name);
  const auto index = std::uint32_t(at - c.types.begin());
  if (at == c.types.end()) c.types.push_back(name);
  return index;
}

Vec3<double> random_place(const Box& box, std::uint64_t seed, std::size_t id) {
  // Steps have their own numbers (plugins/monte_carlo/insertion.cpp).
  auto random = keyed<Philox>(RunKey(Purpose::monte_carlo_insertion, seed), ~std::uint64_t(0),
                              std::uint32_t(id));
  Vec3<double> s;
  for (int axis = 0; axis < 3; ++axis) s[axis] = random.uniform<double>();
  Vec3<double> r = box.point(s);
  if (box.dimension == 2) r.z = 0;
  return r;
}

/// A number that differs among the particles of a type, and two values of it.
struct Difference {
  std::string name;
  double one, other;
};

std::optional<Difference> difference(const Configuration& c, std::uint32_t type) {
  std::optional<Difference> found;
  const auto look = [&](const std::string& name, std::span<const double> values) {
    std::optional<double> first;
    for (std::size_t id = 0; id < values.size() && !found; ++id) {
      if (c.type[id] != type) continue;
      if (!first) first = values[id];
      if (values[id] != *first) found = {name, *first, values[id]};
    }
  };
  look("mass", c.mass);
  look("charge", c.charge);
  look("diameter", c.diameter);
  for (const auto& [name, values] : c.attributes) look(name, values);
  return found;
}

/// A type, and those of the sites of its bodies.
std::set<std::uint32_t> types_with(const Configuration& c, std::uint32_t type) {
  std::set<std::uint32_t> all{type};
  for (std::size_t id = 0; id < c.type.size(); ++id)
    if (c.topology.is_site(id) && c.type[c.topology.body[id]] == type) all.insert(c.type[id]);
  return all;
}

}  // namespace

void add_reservoir(const ReservoirSettings& settings, std::uint64_t seed, Configuration& c) {
  for (const auto& [name, count] : settings) {
    const std::uint32_t type = index_of_type(c, name);
    // As the first of the type; masses of a source go by type.
    const auto like = std::size_t(std::ranges::find(c.type, type) - c.type.begin());
    const auto of_it = [&](const std::vector<double>& values, double otherwise) {
      return like < values.size() ? values[like] : otherwise;
    };
    const double mass = of_it(c.mass, 1), charge = of_it(c.charge, 0),
                 diameter = of_it(c.diameter, 1);
    const std::size_t before = c.position.size(), n = before + std::size_t(count);
    for (std::size_t id = before; id < n; ++id) c.position.push_back(random_place(c.box, seed, id));
    c.type.resize(n, type);
    pad(c.velocity, n, {});
    pad(c.image, n, {});
    pad(c.mass, n, mass);
    pad(c.charge, n, charge);
    pad(c.diameter, n, diameter);
    for (auto& [attribute, values] : c.attributes) pad(values, n, of_it(values, 0));
    auto& molecule = c.topology.molecule;
    if (molecule.empty()) continue;
    std::uint32_t next = *std::ranges::max_element(molecule) + 1;
    while (molecule.size() < n) molecule.push_back(next++);
  }
}

void take_away(const ReservoirSettings& settings, Configuration& c,
               const ReservoirMistake& mistake) {
  const Topology& t = c.topology;
  // Behind them are the sites of bodies alone.
  std::size_t first = c.position.size();
  for (std::size_t id = 0; id < c.position.size(); ++id) first -= t.is_site(id) ? 1 : 0;
  for (const auto& [name, count] : settings) first -= std::size_t(count);
  for (const auto& [name, count] : settings) {
    for (const std::uint32_t type : types_with(c, index_of_type(c, name)))
      if (const auto found = difference(c, type))
        mistake(name, fmt::format("the particles of {} have different values of \"{}\", {} and {}: "
                                  "expected a type whose particles are all alike",
                                  c.types[type] == name
                                      ? "this type"
                                      : fmt::format("the type \"{}\" in them", c.types[type]),
                                  found->name, found->one, found->other));
    const std::size_t end = first + std::size_t(count);
    const auto is_taken = [&](std::size_t id) { return id >= first && id < end; };
    for (std::size_t id = first; id < c.position.size(); ++id)
      if (is_taken(id) || (t.is_site(id) && is_taken(t.body[id])))
        c.type[id] = index_of_type(c, c.types[c.type[id]] + std::string(absent_ending));
    first = end;
  }
}

std::uint32_t first_absent_type(const std::vector<std::string>& types) {
  return std::uint32_t(std::ranges::find_if(types, is_absent) - types.begin());
}

bool has_absent(const Configuration& c) { return first_absent_type(c.types) < c.types.size(); }

std::optional<std::uint32_t> absent_type(const Configuration& c, std::uint32_t type) {
  const auto at = std::ranges::find(c.types, c.types[type] + std::string(absent_ending));
  if (at == c.types.end()) return std::nullopt;
  return std::uint32_t(at - c.types.begin());
}

Group::Members present_members(const Configuration& c) {
  const std::uint32_t absent = first_absent_type(c.types);
  Group::Members members(c.type.size());
  std::ranges::transform(c.type, members.begin(),
                         [&](std::uint32_t type) { return type < absent ? 1 : 0; });
  return members;
}

void count_present(StepContext& context, Group& present) {
  context.particles().domain().gather(true);  // lists that were built anew may have dealt them anew
  const Configuration now = context.particles().configuration();
  context.count_degrees_of_freedom(now);
  present.choose(present_members(now));
  for (const auto& force : context.forces())
    if (auto* const tail = dynamic_cast<CountedTail*>(force.get()))
      tail->set_counts(counts_of_types(now));
}

}  // namespace perrin
