// Measures the totals of a simulation: at once, or on the device for later.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/components/instant.h"
#include "engine/dynamics/group_meter.h"
#include "engine/system/particles.h"

namespace perrin {

class Clock;
class StepContext;

namespace detail {
/// potential; virial (6); kinetic tensor m v ⊗ v (6); momentum (3); kinetic energy of rotation
struct Sums {
  double v[17] = {};
  PERRIN_HD Sums& operator+=(const Sums& b) {
    for (int k = 0; k < 17; ++k) v[k] += b.v[k];
    return *this;
  }
  std::array<double, 6> six(int first) const {
    std::array<double, 6> values{};
    for (std::size_t c = 0; c < 6; ++c) values[c] = v[std::size_t(first) + c];
    return values;
  }
};

/// What a device writes of one instant.
struct TotalsRow {
  Sums pairs, all;  // with the forces that see pairs through the list; with the others, too
  double heat = 0, work = 0;
  Box box;                    // of this instant, if it moves
  std::uint64_t written = 0;  // at this step, plus 1
};
}  // namespace detail

/// Measures totals with forces of its own: those that the integrator uses stay as they are. Rows of
/// several instants may wait on the device until the host asks.
class TotalsMeter {
 public:
  TotalsMeter(StepContext& context, const Clock& clock);
  /// Groups whose totals are measured, too (Instant::groups).
  void watch(const std::vector<Group>& groups) { groups_.watch(groups, most), valid_ = false; }
  void begin_stage(const Motion& motion) { groups_.begin_stage(motion), valid_ = false; }
  /// Of the present state; measured once, until forget().
  const Totals& measure();
  void forget() { valid_ = false; }
  /// Each particle's share of the virial at the last measurement, as in ForceOutput.
  const Buffer<Real>& complete_virials();

  /// Launches a measurement of this instant, for collect(). A device that has been halted before
  /// does nothing. `lists_hold`: they have been looked after at these positions; then the host does
  /// not wait, and this may be recorded.
  void launch_sample(bool lists_hold);
  /// Of each that was launched: the number of steps done then.
  void note_sample(std::uint64_t step);
  /// Sampled and not collected yet: are there as many as there is room for?
  bool full() const { return std::ssize(sampled_) == most; }
  /// Waits for what was sampled, and forgets it: the instants that the device has come to, in
  /// order.
  std::vector<Instant> collect();
  /// The present one.
  Instant now();
  /// These are the present ones.
  void set(const Totals& totals, std::vector<GroupTotals> of_groups) {
    totals_ = totals;
    of_groups_ = std::move(of_groups);
    valid_ = true;
  }

 private:
  /// In the job's units, of totals after so many steps (Instant::temperature).
  double temperature_of(const Totals& totals, std::uint64_t steps) const;
  static constexpr int most = 256;
  void zero_own();
  void launch(bool lists_hold);
  /// Of what was measured after so many steps, in that box.
  Totals totals_of(const detail::TotalsRow& row, std::uint64_t steps, const Box& box) const;
  /// The instant after so many steps, in that box.
  Instant instant_of(std::uint64_t steps, const Box& box, const Totals& totals,
                     std::vector<GroupTotals> of_groups) const;

  StepContext& s_;
  const Clock& clock_;
  Buffer<Real4> force_;
  Buffer<Real> virial_;
  Buffer<detail::Sums> scratch_;
  Buffer<detail::TotalsRow> rows_;      // sampled ones, then the one that is being measured
  Buffer<std::uint32_t> written_;       // how many of the former
  std::vector<std::uint64_t> sampled_;  // steps
  GroupMeter groups_;
  Totals totals_;
  std::vector<GroupTotals> of_groups_;
  bool valid_ = false;
};

}  // namespace perrin
