#include "move.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/components/force.h"
#include "engine/components/setup.h"
#include "engine/components/step_context.h"
#include "engine/system/bond_graph.h"

namespace perrin::monte_carlo {
namespace {

/// The particles of a group for which leaves_out(id) is false; in a system with rigid bodies.
template <class LeavesOut>
GroupOnDevice part_of_group(const StepContext& s, const std::string& name,
                            const LeavesOut& leaves_out) {
  Group::Members members(s.particles().properties().topology.body.size(), 1);
  for (const Group& one : s.particles().properties().groups)
    if (one.name() == name) members = one.members();
  for (std::size_t id = 0; id < members.size(); ++id)
    if (leaves_out(id)) members[id] = 0;
  return {s.device(), Group("part of " + name, std::move(members))};
}

}  // namespace

const Group* moving_group(const std::string& name, const std::string& key, Setup& setup) {
  return name == "all" ? setup.group(name, key) : setup.fixed_group(name, key);
}

GroupOnDevice group_of(const StepContext& s, const std::string& name) {
  for (const Group& one : s.particles().properties().groups)
    if (one.name() == name) return {s.device(), one};
  return {};
}

GroupOnDevice free_particles_of(const StepContext& s, const std::string& name) {
  const std::vector<std::uint32_t>& body = s.particles().properties().topology.body;
  if (body.empty()) return group_of(s, name);
  return part_of_group(s, name, [&](std::size_t id) { return body[id] != Topology::no_body; });
}

GroupOnDevice moved_particles_of(const StepContext& s, const std::string& name) {
  const Topology& t = s.particles().properties().topology;
  if (t.body.empty()) return group_of(s, name);
  return part_of_group(s, name, [&](std::size_t id) { return t.is_site(id); });
}

double least_height(const Box& box) {
  const Vec3<double> heights = box.heights();
  const double least = std::min(heights.x, heights.y);
  return box.dimension == 3 ? std::min(least, heights.z) : least;
}

void check_displacement(const std::string& key, double displacement, Setup& setup) {
  const double most = least_height(setup.configuration().box) / 4;
  if (displacement > most)
    setup.error(key, fmt::format("must be at most a quarter of the box ({:.6g}), got {}", most,
                                 displacement));
}

bool has_trial_energies(const Force& force) {
  const ForceTraits& traits = force.traits();
  if (traits.reads == ForceTraits::Reads::everything) return false;
  return traits.range() > 0 ? traits.trials : traits.energy_share > 0;
}

bool has_partners(const Topology& t) {
  return !t.bonds.empty() || !t.angles.empty() || !t.dihedrals.empty() || !t.impropers.empty();
}

std::vector<bool> bonded_particles(const Configuration& c) {
  const Topology& t = c.topology;
  std::vector<bool> in(c.position.size());
  for (const auto& b : t.bonds) in[b.a] = in[b.b] = true;
  for (const auto& a : t.angles) in[a.a] = in[a.b] = in[a.c] = true;
  for (const auto* list : {&t.dihedrals, &t.impropers})
    for (const auto& d : *list) in[d.a] = in[d.b] = in[d.c] = in[d.d] = true;
  return in;
}

void require_periodic(const std::string& key, const std::string& why, Setup& setup) {
  const Box& box = setup.configuration().box;
  for (int axis = 0; axis < box.dimension; ++axis) {
    if (box.periodic[std::size_t(axis)]) continue;
    setup.error(key, fmt::format("{} a box that is periodic along all axes, and {} is not", why,
                                 "xyz"[axis]));
    return;
  }
}

void check_terms_within_molecules(const std::string& key, Setup& setup) {
  const Configuration& c = setup.configuration();
  const Topology& t = c.topology;
  const std::vector<std::uint32_t> molecule = BondGraph(c.position.size(), t.bonds).molecules();
  const auto look = [&](const char* what, std::size_t k, std::initializer_list<std::uint32_t> ids) {
    for (const std::uint32_t id : ids)
      if (molecule[id] != molecule[*ids.begin()]) {
        setup.error(key, fmt::format("moves molecules with all their terms, and {} {} is of the "
                                     "particles {}, which bonds do not connect",
                                     what, k, fmt::join(ids, ", ")));
        return true;
      }
    return false;
  };
  for (std::size_t k = 0; k < t.angles.size(); ++k)
    if (look("angle", k, {t.angles[k].a, t.angles[k].b, t.angles[k].c})) return;
  for (std::size_t k = 0; k < t.dihedrals.size(); ++k) {
    const auto& d = t.dihedrals[k];
    if (look("dihedral", k, {d.a, d.b, d.c, d.d})) return;
  }
  for (std::size_t k = 0; k < t.impropers.size(); ++k) {
    const auto& d = t.impropers[k];
    if (look("improper", k, {d.a, d.b, d.c, d.d})) return;
  }
}

void archive_counts(Archive& archive, TrialCounts& counts) {
  archive("tried", counts.tried);
  archive("accepted", counts.accepted);
  archive.require(counts.accepted >= 0 && counts.accepted <= counts.tried, "accepted",
                  "at most as many as were tried");
}

}  // namespace perrin::monte_carlo
