// Groups: named sets of particles on which integrators, forces and observers act.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/real.h"
#include "engine/device/buffer.h"

namespace perrin {

/// A set of particles, fixed while the job runs.
class Group {
 public:
  /// `member`[id]: 1 for a particle of the group, else 0.
  Group(std::string name, std::vector<std::uint8_t> member);

  const std::string& name() const { return name_; }
  std::int64_t count() const { return count_; }
  bool has(std::size_t id) const { return member_[id] != 0; }
  bool has_all() const { return count_ == std::int64_t(member_.size()); }
  /// In ascending order.
  std::vector<std::uint32_t> ids() const;
  /// How many members each type has; `type`: of each particle.
  std::vector<std::int64_t> count_by_type(const std::vector<std::uint32_t>& type,
                                          std::size_t types) const;
  const std::vector<std::uint8_t>& members() const { return member_; }

 private:
  std::string name_;
  std::vector<std::uint8_t> member_;  // [id]
  std::int64_t count_;
};

/// For kernels: whether a particle is in the group that they act on. By default all are.
struct GroupMask {
  const std::uint8_t* value = nullptr;  // [id]; nullptr: every particle is a member
  std::uint8_t member = 1;              // the value of members

  PERRIN_HD bool has(std::uint32_t id) const { return value == nullptr || value[id] == member; }
  PERRIN_HD explicit operator bool() const { return value != nullptr; }
};

/// Keeps what a GroupMask points to.
class GroupOnDevice {
 public:
  GroupOnDevice() = default;  // all particles
  GroupOnDevice(const Device& device, const Group& group) {
    if (!group.has_all()) member_ = {device, std::span<const std::uint8_t>(group.members())};
  }
  GroupMask mask() const { return {member_.data(), 1}; }

 private:
  Buffer<std::uint8_t> member_;  // [id]; empty: all particles
};

}  // namespace perrin
