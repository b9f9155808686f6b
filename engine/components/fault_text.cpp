#include "engine/components/fault_text.h"

#include <fmt/format.h>

#include "engine/system/bond_checks.h"

namespace perrin {

void throw_fault(const Fault& f, const Topology& topology) {
  if (!f.claimed) return;
  switch (f.kind) {
    case FaultKind::not_finite:
      throw NotFiniteError(
          fmt::format("step {}: particle {}: the displacement is not a finite number (velocity or "
                      "force is NaN or infinite)",
                      f.step, f.id),
          f.id);
    case FaultKind::too_fast:
      throw RunError(fmt::format(
          "step {}: particle {} moved {:.6g} in one step: the simulation is unstable (limit {:.6g} "
          "per step). Particles overlap, or the time step is too long: add an energy minimisation "
          "as the first stage, {}, or use a shorter time step",
          f.step, f.id, f.value, f.limit, relax_stage));
    case FaultKind::left_the_box:
      throw RunError(
          fmt::format("step {}: particle {} left the box along {}, which is not periodic", f.step,
                      f.id, "xyz"[f.axis % 3]));
    case FaultKind::bond_too_long:
      throw RunError(fmt::format(
          "step {}: {} is {:.6g} long, the limit is {:.6g} (its maximum_length, or the last row of "
          "its table). If the initial configuration has such bonds, fix it, or run a job with "
          "bond_harmonic first; if the run stretches them, add an energy minimisation as the first "
          "stage, {}, use a shorter time step, or in the minimisation a smaller \"maximum_move\"",
          f.step, bond_text(topology, f.id, f.axis), f.value, f.limit, relax_stage));
    case FaultKind::box_too_fast:
      throw RunError(
          fmt::format("step {}: the box changes by a fraction of {:.3g} in one step: the "
                      "simulation is unstable (limit {:.3g} per step). The pressure is far from "
                      "the target pressure: equilibrate at constant volume first, or use a longer "
                      "tau, a smaller stride or a shorter time step",
                      f.step, f.value, f.limit));
    case FaultKind::box_too_small:
      throw RunError(
          fmt::format("step {}: half the shortest distance between opposite faces of the box has "
                      "become {:.6g}, less than the range of the forces, {:.6g}",
                      f.step, f.value, f.limit));
    case FaultKind::box_too_far:
      throw RunError(fmt::format(
          "step {}: the box has been deformed by a factor of {:.4g} since the job began; the wave "
          "vectors of the force ewald are chosen for at most {:.4g}: go on in a new job that "
          "begins "
          "with this box, or give ewald a \"mesh\"",
          f.step, f.value, f.limit));
    case FaultKind::not_constrained:
      throw RunError(fmt::format(
          "step {}: the constrained distance between particles {} and {}, now {:.6g}, cannot be "
          "kept at {:.6g}: the iterations of SHAKE or RATTLE have not converged. Particles "
          "overlap, or the time step is too long: use a shorter one, begin without overlaps, or "
          "allow more \"iterations\" in \"constraints\"",
          f.step, f.id, f.axis, f.value, f.limit));
    default:
      throw BugError("a fault without a kind");
  }
}

}  // namespace perrin
