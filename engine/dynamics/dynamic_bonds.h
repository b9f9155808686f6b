// Bonds that are made and broken while a job runs, at steps that are multiples of a stride.
//
// An event, on the host, from fixed-point positions, types and the topology alone, so that CPU, GPU
// and any number of processes decide alike where positions are equal (forces along bonds are
// computed on the device, with its rounding):
//  1. Every bond of a type that breaks, longer than the rule's length and with a force larger than
//     the rule's, breaks with the rule's probability. Angles and dihedrals that run along it, and
//     impropers that have both its particles, go with it.
//  2. Every pair of particles of the types of a "form" rule is a candidate that have a valence left
//     each, are not bonded, did not break their bond in this event, and are near enough. It is
//     chosen with the rule's probability.
//  3. Chosen pairs are bonded in random order. A particle takes part in one new bond an event.
//     Where a rule names an angle, the new bond makes one with every other bond at its ends.
// Random numbers are keyed by seed, step, rule and ids (rng/keyed.h). Networks of bead models are
// linked by distance since E. R. Duering, K. Kremer, G. S. Grest, J. Chem. Phys. 101, 8169 (1994).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/device/device.h"
#include "engine/dynamics/bond_rules.h"
#include "engine/system/archive.h"
#include "engine/system/configuration.h"

namespace perrin {

class DynamicBonds {
 public:
  DynamicBonds(BondRules rules, std::uint64_t seed, std::size_t bond_types)
      : rules_(std::move(rules)), seed_(seed), formed_(bond_types), broken_(bond_types) {}

  const BondRules& rules() const { return rules_; }
  /// Does any rule act in this stage of the job?
  bool act_in(std::size_t stage) const;
  /// From `step` to the next event of the stage, at least 1; very many without one.
  std::int64_t steps_to_event(std::uint64_t step, std::size_t stage) const;
  bool is_due(std::uint64_t step, std::size_t stage) const;
  /// Does a rule of the stage ask for the forces along bonds?
  bool asks_for_forces(std::size_t stage) const;
  /// The event of a step. Positions, with types, are by id; `host`: a CPU; `force`: along each
  /// bond, if it is asked for. True: the topology is another one. Throws RunError where the box has
  /// become too small for a distance.
  bool react(Topology& topology, const std::vector<Position>& position, const Box& box,
             std::uint64_t step, std::size_t stage, const Device& host,
             const std::vector<double>& force = {});

  /// Bonds of each type that have been made and broken since the job began.
  const std::vector<std::int64_t>& formed() const { return formed_; }
  const std::vector<std::int64_t>& broken() const { return broken_; }
  /// How many events of this process have changed the topology.
  std::int64_t changes() const { return changes_; }
  void state(Archive& archive);

 private:
  BondRules rules_;
  std::uint64_t seed_;
  std::vector<std::int64_t> formed_, broken_;  // [type]
  std::int64_t changes_ = 0;
};

}  // namespace perrin
