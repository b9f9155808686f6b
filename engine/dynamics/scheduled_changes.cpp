#include "engine/dynamics/scheduled_changes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/components/attribute_reader.h"
#include "engine/components/bond_probe.h"
#include "engine/components/integrator.h"
#include "engine/components/stage_context.h"
#include "neighbor/neighbors.h"

namespace perrin {

ScheduledChanges::ScheduledChanges(StageContext& context, Calls calls)
    : context_(context), calls_(std::move(calls)) {}

std::int64_t ScheduledChanges::steps_to_next(std::size_t stage) const {
  const std::uint64_t step = context_.step();
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  if (bonds_) steps = bonds_->steps_to_event(step, stage);
  if (attributes_) steps = std::min(steps, attributes_->steps_to_event(step, stage));
  return steps;
}

bool ScheduledChanges::make(std::size_t stage) {
  const bool bonded = change_bonds(stage);
  const bool written = write_attributes(stage);
  return bonded || written;
}

bool ScheduledChanges::write_attributes(std::size_t stage) {
  StageContext& s = context_;
  if (!attributes_ || !attributes_->is_due(s.step(), stage)) return false;
  calls_.complete();
  const auto changed = attributes_->update(s.particles(), s.step(), s.time(), stage);
  for (const auto& force : s.forces()) force->follow_attributes(changed);
  if (auto* const reader = dynamic_cast<AttributeReader*>(s.bath()))
    reader->follow_attributes(changed);
  calls_.forget(false);
  s.ensure_forces();
  return true;
}

bool ScheduledChanges::change_bonds(std::size_t stage) {
  StageContext& s = context_;
  if (!bonds_ || !bonds_->is_due(s.step(), stage)) return false;
  calls_.complete();
  const Device host = s.device().is_cuda() ? Device::cpu(0) : s.device();
  const std::vector<Position> position = s.particles().by_id(s.particles().position());
  std::vector<double> force;
  if (bonds_->asks_for_forces(stage)) force = bond_forces(position);
  if (!bonds_->react(s.particles().change_properties().topology, position, s.particles().box(),
                     s.step(), stage, host, force))
    return false;
  follow_topology();
  return true;
}

/// Along each bond of the topology; positive: apart.
std::vector<double> ScheduledChanges::bond_forces(const std::vector<Position>& position) {
  const Device& device = context_.device();
  const std::vector<Topology::Bond>& bonds = context_.particles().properties().topology.bonds;
  if (bonds.empty()) return {};
  const Buffer<Topology::Bond> bond(device, bonds);
  const Buffer<Position> place(device, position);
  Buffer<double> force(device, std::vector<double>(bonds.size(), 0.0));
  const BondProbe probe{std::int64_t(bonds.size()), bond.data(), place.data(), force.data()};
  for (const auto& one : context_.forces()) one->add_bond_forces(context_, probe);
  return force.to_host();
}

void ScheduledChanges::follow_topology() {
  Particles& particles = context_.particles();
  const Topology& topology = particles.properties().topology;
  bool moved = false;
  for (const auto& force : context_.forces()) moved |= force->follow_topology(topology);
  particles.domain().require(particles.domain().needs(), topology, particles.box());
  if (context_.neighbors()) context_.neighbors()->follow_topology();
  calls_.forget(moved);
  context_.ensure_forces();
}

void ScheduledChanges::state(Archive& archive) {
  if (!bonds_ || !archive.has("dynamic_bonds/formed")) return;
  const Archive::Scope scope(archive, "dynamic_bonds");
  bonds_->state(archive);
}

}  // namespace perrin
