// What a job changes of its particles at set steps: bonds that are made and broken, and attributes
// that are written anew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/dynamics/attribute_updates.h"
#include "engine/dynamics/dynamic_bonds.h"

namespace perrin {

class StageContext;

class ScheduledChanges {
 public:
  /// What the simulation does for it.
  struct Calls {
    std::function<void()> complete;               // Simulation::complete()
    std::function<void(bool recordings)> forget;  // forces and totals; with true, recorded steps
  };
  ScheduledChanges(StageContext& context, Calls calls);

  void set(std::unique_ptr<DynamicBonds> bonds) { bonds_ = std::move(bonds); }
  void set(std::unique_ptr<AttributeUpdates> attributes) { attributes_ = std::move(attributes); }
  /// nullptr: bonds stay as they are.
  const DynamicBonds* bonds() const { return bonds_.get(); }

  /// Steps to the next one of this stage of the job at which something changes, at least 1; very
  /// many without one.
  std::int64_t steps_to_next(std::size_t stage) const;
  /// Makes and breaks bonds and writes attributes where that is due at this step of the stage, and
  /// has everything follow; forces are then the new ones. True: something has changed. Between
  /// steps, in all processes.
  bool make(std::size_t stage);
  void state(Archive& archive);

 private:
  bool change_bonds(std::size_t stage);
  bool write_attributes(std::size_t stage);
  void follow_topology();
  std::vector<double> bond_forces(const std::vector<Position>& position);

  StageContext& context_;
  Calls calls_;
  std::unique_ptr<DynamicBonds> bonds_;
  std::unique_ptr<AttributeUpdates> attributes_;
};

}  // namespace perrin
