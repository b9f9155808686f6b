// Totals of groups of particles, for observers that ask for them.
#pragma once

#include <array>
#include <vector>

#include "engine/components/instant.h"
#include "engine/system/group.h"
#include "engine/system/momentum.h"

namespace perrin {

class StepContext;

namespace detail {
struct GroupSums {
  double v[19] = {};  // kinetic energy; momentum; force; virial (6); kinetic tensor (6)
  double heat = 0;    // no sum over particles
  PERRIN_HD GroupSums& operator+=(const GroupSums& b) {
    for (int k = 0; k < 19; ++k) v[k] += b.v[k];
    return *this;
  }
};
}  // namespace detail

/// Works for a TotalsMeter, whose rows it continues. Rows of the device: one of each group.
class GroupMeter {
 public:
  explicit GroupMeter(StepContext& context) : s_(context) {}

  /// These groups from here on; `most`: rows that are kept beside the one that is measured.
  void watch(const std::vector<Group>& groups, std::int64_t most);
  bool empty() const { return masks_.empty(); }
  /// Counts which velocities move, for the integrator of a stage that begins.
  void begin_stage(const Motion& motion);

  // Device work.
  /// Into the last row, with the forces and virials of the same instant: [place in memory], as in
  /// ForceOutput, and the heat that the stage's integrator has measured. `thermal`: particles whose
  /// velocities count in a pressure.
  void measure(const Real4* force, const Real* virial, const GroupMask& thermal);
  /// Copies the last row to the one with this number, which is on the device.
  void keep(const std::uint32_t* number);
  /// The row with this number, or, if that is negative, the last one; it is of the instant after
  /// so many steps. Waits.
  std::vector<GroupTotals> row(std::int64_t number, std::uint64_t steps);

 private:
  void count();

  StepContext& s_;
  std::vector<Group> groups_;
  std::vector<GroupOnDevice> masks_;
  Motion motion_;
  std::vector<std::uint32_t> type_;                  // [id]
  std::vector<std::int64_t> version_;                // of the groups that were counted
  std::vector<double> freedom_;                      // degrees of freedom of each
  std::vector<std::array<std::int64_t, 3>> moving_;  // members of each that move along an axis
  std::int64_t most_ = 0;
  Buffer<detail::GroupSums> rows_;  // [row][group]
  Buffer<detail::GroupSums> scratch_;
  std::vector<bool> has_heat_;  // the stage's integrators tell it
};

}  // namespace perrin
