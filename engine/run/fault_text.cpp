#include "engine/run/fault_text.h"

#include <fmt/format.h>

#include "engine/core/error.h"
#include "engine/run/bond_checks.h"

namespace perrin {

void throw_fault(const Fault& f, const Topology& topology) {
  if (!f.claimed) return;
  switch (f.kind) {
    case FaultKind::not_finite:
      throw RunError(
          fmt::format("step {}: particle {}: a displacement that is not a finite number "
                      "(velocity or force is NaN or infinite)",
                      f.step, f.id));
    case FaultKind::too_fast:
      throw RunError(
          fmt::format("step {}: particle {} moved {:.6g} in one step; more than {:.6g} is "
                      "taken as an explosion (overlapping particles, or the time step is "
                      "too long)",
                      f.step, f.id, f.value, f.limit));
    case FaultKind::left_the_box:
      throw RunError(
          fmt::format("step {}: particle {} left the box along {}, which is not periodic", f.step,
                      f.id, "xyz"[f.axis % 3]));
    case FaultKind::bond_too_long:
      throw RunError(fmt::format(
          "step {}: {} is {:.6g} long, and must stay below {:.6g} (its maximum_length, or the last "
          "row of its table). Where the start has such bonds, mend it, or let a bond_harmonic pull "
          "them together in a job before; where the run tears them, begin with a stage that "
          "minimises the energy, {}, take a shorter time step, or in that stage a smaller "
          "\"maximum_move\"",
          f.step, bond_text(topology, f.id, f.axis), f.value, f.limit, relax_stage));
    case FaultKind::box_too_fast:
      throw RunError(fmt::format(
          "step {}: the box changes by a share of {:.3g} in one step; more than {:.3g} "
          "is taken as an explosion (the pressure is far from the one asked for: bring "
          "the system near it first, or take a longer tau, a smaller stride or time step)",
          f.step, f.value, f.limit));
    case FaultKind::box_too_small:
      throw RunError(
          fmt::format("step {}: half the smallest height of the box has become {:.6g}; the forces "
                      "reach {:.6g}, which must fit",
                      f.step, f.value, f.limit));
    default:
      throw BugError("a fault without a kind");
  }
}

}  // namespace perrin
