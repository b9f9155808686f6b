// "constraints" of a job, against integrators, boxes and forces that know nothing of them.
#include <fmt/format.h>

#include <algorithm>

#include "engine/components/box_mover.h"
#include "engine/components/decides_by_energies.h"
#include "engine/components/force.h"
#include "engine/components/integrator.h"
#include "engine/components/observer.h"
#include "engine/job/job.h"
#include "engine/run/md_stage.h"

namespace perrin {
void Job::check_constraints() {
  if (!settings_.constraints) return;
  if (settings_.dynamic_bonds) report("dynamic_bonds", "cannot be combined with constraints");
  if (!settings_.reservoir.empty()) report("reservoir", "cannot be combined with constraints");
  bool box_changes = false;
  for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
    const Stage* const stage = parts_.stages[k].get();
    const Integrator* const integrator = stage ? stage->integrator() : nullptr;
    if (!integrator) continue;
    const std::string& path = settings_.stages[k].path;
    const auto* const md = dynamic_cast<const MdStage*>(stage);
    if (!integrator->keeps_distances() && dynamic_cast<const DecidesByEnergies*>(integrator))
      report(path,
             "makes trial moves, of which none keeps the distances of \"constraints\": expected a "
             "stage md. For Monte Carlo of such molecules make them rigid with \"bodies\", which "
             "\"molecule\" moves, or give the bonds a bond_harmonic, in a job of its own");
    else if (!integrator->keeps_distances())
      report(path,
             "must have one integrator that keeps the distances of \"constraints\": "
             "velocity_verlet, bussi, nose_hoover, or langevin with the method baoab. To minimise "
             "energies, or for other dynamics, give the bonds a bond_harmonic in a job of its own");
    else if (!integrator->motion().moves_all(configuration_.types.size(),
                                             configuration_.box.dimension))
      report(path + ".integrator",
             "must move all particles along all axes, for constraints connect them");
    if (md && md->deformation())
      report(path, "deforms the box, which constraints do not follow: expected no deform or shear");
    box_changes |= integrator->box_mover() != nullptr;
  }
  // Particles move in units of the edges after cells have been filled.
  if (box_changes) require_lists("constrained particles");
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    const std::string type = parts_.observers[i] ? settings_.observers[i].type() : "";
    if (type == "profile" || type == "radial_profile")
      warn(settings_.observers[i].path,
           "the temperature counts all velocities of a particle as free ones, which those along "
           "constraints are not: it is too low");
  }
  const Topology& t = configuration_.topology;
  const auto look = [&](const std::vector<bool>& handled, const std::vector<std::string>& names,
                        const std::map<std::string, double>& constrained, std::size_t force) {
    for (std::size_t k = 0; k < names.size() && k < handled.size(); ++k)
      if (handled[k] && constrained.contains(names[k]))
        warn(settings_.forces[force].path,
             fmt::format("acts on \"{}\", which \"constraints\" keeps as it is: only its energy, "
                         "a constant, counts",
                         names[k]));
  };
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    if (!forces_[k]) continue;
    const Handled& handled = forces_[k]->traits().handled;
    look(handled.bond_types, t.bond_types, settings_.constraints->bonds, k);
    look(handled.angle_types, t.angle_types, settings_.constraints->angles, k);
  }
}

}  // namespace perrin
