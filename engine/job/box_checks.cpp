// Stages that change the box, against forces, observers and one another, as far as the job says it.
#include <fmt/format.h>

#include <algorithm>

#include "engine/components/box_mover.h"
#include "engine/components/box_user.h"
#include "engine/components/force.h"
#include "engine/components/integrator.h"
#include "engine/components/observer.h"
#include "engine/dynamics/deformation.h"
#include "engine/job/job.h"
#include "engine/run/md_stage.h"

namespace perrin {
namespace {

/// What a stage does to the box.
struct BoxChange {
  const BoxMover* barostat = nullptr;
  const Deformation* deformation = nullptr;
  bool any() const { return barostat || deformation; }
};

BoxChange box_change(const Stage* stage) {
  BoxChange change;
  if (!stage) return change;
  if (const Integrator* const integrator = stage->integrator())
    change.barostat = integrator->box_mover();
  if (const auto* const md = dynamic_cast<const MdStage*>(stage))
    change.deformation = md->deformation();
  return change;
}

const char* verb(const BoxChange& change) {
  return change.deformation ? "deforms the box" : "changes the box";
}

}  // namespace

void Job::check_boxes() {
  if (context_.resuming) return;  // checked at the start; stages that are done may not go any more
  if (parts_.stage_names.size() < parts_.stages.size()) return;  // a stage is refused as it is
  std::vector<BoxChange> changes;
  for (const auto& stage : parts_.stages) changes.push_back(box_change(stage.get()));
  check_tilts();
  check_deformations();
  for (std::size_t k = 0; k < changes.size(); ++k) {
    if (!changes[k].any()) continue;
    for (std::size_t i = 0; i < forces_.size(); ++i) {
      if (!forces_[i]) continue;
      if (changes[k].deformation ? forces_[i]->traits().deformation
                                 : forces_[i]->traits().follows(changes[k].barostat->axes()))
        continue;
      report(settings_.forces[i].path,
             fmt::format("cannot be combined with the stage \"{}\", which {}: expected a force "
                         "between particles{}",
                         parts_.stage_names.at(k), verb(changes[k]),
                         changes[k].deformation ? ""
                                                : " that derives from an energy, or a wall normal "
                                                  "to an axis that does not change"));
    }
  }
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    const auto* const user = dynamic_cast<const BoxUser*>(parts_.observers[i].get());
    if (!user || parts_.observers[i]->stride() <= 0) continue;
    const auto& called = parts_.observer_stages.at(i);
    std::size_t changed = changes.size();  // the first stage that moves the box by a barostat
    bool warned = false;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      if (changed == changes.size() && changes[k].any()) changed = k;
      if (changed > k || (!called.empty() && !called[k])) continue;
      if (changes[k].any() && !user->caveat().empty() && !warned) {
        warned = true;
        warn(settings_.observers[i].path,
             fmt::format("the stage \"{}\" {}: {}", parts_.stage_names[k],
                         changes[k].deformation ? "deforms the box"
                                                : "changes the box to keep the pressure",
                         user->caveat()));
      }
      if (changes[k].deformation ? user->follows_deformation() : user->follows_box()) continue;
      report(settings_.observers[i].path,
             fmt::format("{} is not measured in a box that changes, and the stage \"{}\" {}{}; "
                         "restrict it to other stages (\"stages\": […]), or leave it out",
                         settings_.observers[i].type(), parts_.stage_names[changed],
                         verb(changes[changed]), changed < k ? " before" : ""));
      break;
    }
  }
}

/// Boxes on the way, as far as they are known: up to a stage that changes the box otherwise.
void Job::check_deformations() {
  Box box = configuration_.box;
  double range = 0;
  for (const auto& force : forces_)
    if (force) range = std::max(range, force->traits().range());
  bool sheared = false;  // its tilt is not known
  for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
    const Stage* const stage = parts_.stages[k].get();
    const BoxChange change = box_change(stage);
    if (change.barostat || !dynamic_cast<const MdStage*>(stage)) return;
    if (has_problem_under(settings_.stages[k].path)) return;  // its targets may be none
    if (!change.deformation) continue;
    const bool shear = change.deformation->sheared_tilt() >= 0;
    if (sheared && !shear) return;
    sheared = sheared || shear;
    const std::string wrong = change.deformation->problem(
        box, std::int64_t(configuration_.position.size()), stage->integrator()->timestep(), range);
    if (wrong.empty()) continue;
    return report(join_path(settings_.stages[k].path, shear ? "shear" : "deform"), wrong);
  }
}

/// A shear needs a box without other tilts than its own when it begins.
void Job::check_tilts() {
  const Box& box = configuration_.box;
  const char* const names[3] = {"xy", "xz", "yz"};
  bool tilted[3] = {box.xy != 0, box.xz != 0, box.yz != 0};  // as far as it is known
  std::string by[3];
  for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
    const BoxChange change = box_change(parts_.stages[k].get());
    const std::string stage = fmt::format("the stage \"{}\"", parts_.stage_names.at(k));
    if (change.barostat && change.barostat->tilts())
      for (int t = 0; t < 3; ++t) tilted[t] = true, by[t] = stage;
    if (!change.deformation) continue;
    const int own = change.deformation->sheared_tilt();
    for (int t = 0; t < 3 && own >= 0; ++t)
      if (t != own && tilted[t])
        report(join_path(settings_.stages[k].path, "shear"),
               fmt::format("needs a box without the tilt {}, which {}; set it to 0 with \"deform\" "
                           "in an earlier stage",
                           names[t], by[t].empty() ? "the system's has" : by[t] + " leaves"));
    for (int t = 0; t < 3; ++t)
      if (const auto leaves = change.deformation->leaves_tilt(t))
        tilted[t] = *leaves, by[t] = stage;
  }
}

}  // namespace perrin
