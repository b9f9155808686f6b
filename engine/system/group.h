// Groups: named sets of particles on which integrators, forces and observers act.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/real.h"
#include "engine/device/buffer.h"

namespace perrin {

/// A set of particles. Copies are the same group: where it is chosen anew while the job runs, all
/// of them have its new members.
class Group {
 public:
  using Members = std::vector<std::uint8_t>;  // [id]: 1 for a particle of the group, else 0
  /// `every`: chosen anew in steps that are multiples of this; 0: never.
  Group(std::string name, Members members, std::int64_t every = 0);

  const std::string& name() const { return state_->name; }
  std::int64_t every() const { return state_->every; }
  /// Whether it is chosen anew while the job runs.
  bool changes() const { return every() > 0; }
  std::int64_t count() const { return state_->count; }
  bool has(std::size_t id) const { return state_->members[id] != 0; }
  bool has_all() const { return count() == std::int64_t(state_->members.size()); }
  /// In ascending order.
  std::vector<std::uint32_t> ids() const;
  /// How many members each type has; `type`: of each particle.
  std::vector<std::int64_t> count_by_type(const std::vector<std::uint32_t>& type,
                                          std::size_t types) const;
  const Members& members() const { return state_->members; }

  /// Chooses it anew, on devices, too. Waits.
  void choose(Members members);
  /// How often that was done.
  std::int64_t version() const { return state_->version; }

 private:
  friend class GroupOnDevice;
  struct State {
    std::string name;
    Members members;
    std::int64_t count, every, version = 0;
    std::vector<std::weak_ptr<Buffer<std::uint8_t>>> on_devices;
  };
  std::shared_ptr<State> state_;
};

/// For kernels: whether a particle is in the group that they act on. By default all are.
struct GroupMask {
  const std::uint8_t* value = nullptr;  // [id]; nullptr: every particle is a member
  std::uint8_t member = 1;              // the value of members

  PERRIN_HD bool has(std::uint32_t id) const { return value == nullptr || value[id] == member; }
  PERRIN_HD explicit operator bool() const { return value != nullptr; }
};

/// Keeps what a GroupMask points to, which stays where it is.
class GroupOnDevice {
 public:
  GroupOnDevice() = default;  // all particles
  GroupOnDevice(const Device& device, const Group& group);
  GroupMask mask() const { return {member_ ? member_->data() : nullptr, 1}; }

 private:
  std::shared_ptr<Buffer<std::uint8_t>> member_;  // [id]; nullptr: all particles
};

}  // namespace perrin
