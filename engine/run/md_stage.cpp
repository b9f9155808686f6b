#include "engine/run/md_stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/components/chunk.h"
#include "engine/components/force_remark.h"
#include "engine/components/registry.h"
#include "engine/dynamics/group_integrators.h"
#include "engine/dynamics/reservoir.h"
#include "engine/dynamics/resolution.h"
#include "engine/dynamics/scheduled_changes.h"
#include "engine/dynamics/slow_force_warning.h"
#include "engine/run/run.h"
#include "engine/settings/settings_schema.h"

namespace perrin {

namespace {

std::unique_ptr<Integrator> make_integrator(const MdSettings& settings, Setup& setup) {
  if (bool(settings.integrator) == !settings.integrators.empty()) {
    setup.error(settings.integrator ? "integrators" : "integrator",
                "a stage needs either integrator or integrators");
    return nullptr;
  }
  if (!settings.integrators.empty() && has_absent(setup.configuration())) {
    setup.error("integrators", "cannot be combined with a \"reservoir\": expected one integrator");
    return nullptr;
  }
  if (!settings.integrators.empty()) return GroupIntegrators::make(settings.integrators, setup);
  const std::string group = record_component(settings.integrator).value("group", "");
  if (!group.empty() && group != "all")
    setup.error("integrator.group", "is for several integrators: use \"integrators\": [{…}, …]");
  auto integrator = setup.make(settings.integrator);
  if (integrator && integrator->prescribes_motion() && !(integrator->timestep() > 0))
    setup.error("integrator.timestep", "is missing: no other integrator has one");
  if (!integrator || !has_absent(setup.configuration())) return integrator;
  return GroupIntegrators::of_present(std::move(integrator), settings.integrator.type(), setup);
}

}  // namespace

MdStage::MdStage(const MdSettings& settings, Setup& setup)
    : path_(setup.path()),
      steps_(settings.steps),
      slow_force_stride_(settings.slow_force_stride),
      integrator_(make_integrator(settings, setup)),
      deformation_(Deformation::make(settings.deform, settings.shear, settings.steps,
                                     integrator_.get(), setup)) {
  if (slow_force_stride_ > 1) check_slow_forces(setup);
}

MdStage::MdStage(const std::string& unit, std::int64_t steps,
                 std::unique_ptr<Integrator> integrator, const Setup& setup)
    : path_(setup.path()), unit_(unit), steps_(steps), integrator_(std::move(integrator)) {}

/// Impulses are those of r-RESPA under some integrators alone, in a box that stays.
void MdStage::check_slow_forces(Setup& setup) const {
  const char* const key = "slow_force_stride";
  if (steps_ % slow_force_stride_ != 0)
    setup.warn("steps",
               fmt::format("is no multiple of slow_force_stride, {}: the stage ends within "
                           "a cycle, and its last velocities have more or less of the "
                           "slow force than belongs to them",
                           slow_force_stride_));
  if (!integrator_) return;
  if (!integrator_->takes_impulses())
    setup.error(key,
                fmt::format("must be 1 with this integrator, got {}: velocity_verlet, bussi, "
                            "nose_hoover and langevin take a slow force n-fold in every n-th step",
                            slow_force_stride_));
  else if (!setup.configuration().topology.constraints.empty())
    setup.error(key, fmt::format("must be 1 with \"constraints\", whose forces would answer to the "
                                 "n-fold ones, got {}",
                                 slow_force_stride_));
  else if (integrator_->box_mover() || deformation_)
    setup.error(key, fmt::format("must be 1 in a box that changes, got {}: the pressure would be "
                                 "taken from velocities within a cycle",
                                 slow_force_stride_));
}

void MdStage::begin(Run& run, bool resumed) {
  Simulation& simulation = run.simulation();
  // Another integrator takes over; a resumed one goes on with the forces that it had.
  if (!resumed && run.stage_index() > 0) simulation.invalidate();
  const std::int64_t start = simulation.stages().steps().at(run.stage_index());
  auto* const of_groups = dynamic_cast<GroupIntegrators*>(integrator_.get());
  if (of_groups && first_absent_type(simulation.particles().properties().types) <
                       simulation.particles().properties().types.size())
    of_groups->follow_present(simulation);
  simulation.begin_stage(*integrator_, deformation_.get(),
                         {slow_force_stride_, std::uint64_t(std::max<std::int64_t>(start, 0))});
  if (deformation_ && resumed)
    deformation_->resume(simulation, *integrator_);
  else if (deformation_)
    deformation_->begin(simulation, *integrator_);
  integrator_->begin(simulation);
  if (integrator_->prescribes_motion()) simulation.ensure_forces();
  if (deformation_ && !resumed) deformation_->begin_work();
  warn_of_resolution(run);
}

/// Bonds, and attributes that are written anew. The work of a deformation goes on from the virial
/// that they then have.
void MdStage::change(Simulation& simulation, std::size_t stage) {
  if (simulation.changes().make(stage) && deformation_) deformation_->begin_work();
}

/// On the console, once. Returns all of it.
std::string MdStage::warn_of_resolution(Run& run) {
  auto lines = resolution_warnings(run.simulation(), *integrator_);
  if (std::string line = slow_force_warning(run.simulation(), *integrator_); !line.empty())
    lines.push_back(std::move(line));
  for (const auto& line : lines)
    if (!warned_) run.print("warning: " + line);
  warned_ = warned_ || !lines.empty();
  return fmt::format("{}", fmt::join(lines, "; "));
}

void MdStage::totals_are_known(Run& run, const Instant& instant) {
  Simulation& simulation = run.simulation();
  const auto done = std::int64_t(instant.step) - simulation.stages().steps().at(run.stage_index());
  watch_.add(simulation, instant, *integrator_, done, steps_);
}

/// Of a barostat of which no step came; empty: it has moved the box. `start`: of the stage.
std::string MdStage::idle_box_mover(std::int64_t start) const {
  const BoxMover* const mover = integrator_->box_mover();
  if (!mover || done_ == 0) return {};
  const std::int64_t stride = std::max<std::int64_t>(1, mover->stride());
  if ((start + done_) / stride > start / stride) return {};
  return fmt::format(
      "the barostat never changed the box: it does so in {0} that are multiples of {1}, and the "
      "stage has had none ({2} to {3}): expected a \"stride\" of at most {4}, or a longer stage",
      unit_, stride, start + 1, start + done_, done_);
}

/// At its end: on the console, and for its files.
void MdStage::say_what_is_short(Run& run) {
  Simulation& simulation = run.simulation();
  // Also velocities that were 0 at the start are known now.
  std::string remark = warn_of_resolution(run);
  std::vector<std::string> all{integrator_->shortcoming(), watch_.verdict(simulation),
                               idle_box_mover(simulation.stages().steps().at(run.stage_index()))};
  for (const auto& force : simulation.forces())
    if (const auto* const one = dynamic_cast<const ForceRemark*>(force.get()))
      all.push_back(one->remark(simulation.particles().box()));
  for (const std::string& what : all) {
    if (what.empty()) continue;
    run.print(fmt::format("warning: stage {}: {}", run.stage_name(), what));
    remark += (remark.empty() ? "" : "; ") + what;
  }
  simulation.stages().remark(run.stage_index(), remark);
}

bool MdStage::run(Run& run) {
  Simulation& simulation = run.simulation();
  run.start_progress(unit_, done_, steps_);
  run.observe();
  Chunk chunk = simulation.device().role().batch ? Chunk::fixed(4096) : Chunk();
  // finished() is asked at fixed steps: where the stage ends must not depend on the chunks.
  const std::int64_t stride = integrator_->finish_stride();
  // A minimiser changes no bonds and attributes: its steps are no time.
  const bool changes = integrator_->timestep() > 0;
  while (done_ < steps_) {
    if (stride > 0 && done_ % stride == 0) {
      simulation.complete();
      if (integrator_->finished(simulation)) break;
    }
    if (run.stop_requested()) {
      simulation.complete();
      run.progress(done_);
      return false;
    }
    std::int64_t n = std::min(chunk.steps(), steps_ - done_);
    if (stride > 0) n = std::min(n, stride - done_ % stride);
    if (changes) n = std::min(n, simulation.changes().steps_to_next(run.stage_index()));
    done_ += chunk.run(n, [&](std::int64_t most) { return run.advance(*integrator_, most, true); });
    if (changes) change(simulation, run.stage_index());
    run.observe();
    run.progress(done_);
  }
  simulation.complete();
  run.finish_progress(done_, integrator_->report());
  say_what_is_short(run);
  return true;
}

void MdStage::end(Run&) {
  if (deformation_) deformation_->end();
  integrator_->end();
}

void MdStage::state(Archive& archive) {
  archive("done", done_);
  archive.require(done_ >= 0, "done", "at least 0");
  if (done_ > steps_)
    throw UserError(
        fmt::format("{}.{}: must be at least {}, the {} of this stage in the checkpoint, got {}",
                    path_, unit_, done_, unit_, steps_));
  watch_.state(archive);
  if (deformation_) deformation_->state(archive);
  const Archive::Scope scope(archive, "integrator");
  integrator_->state(archive);
}

void register_md_stage(Registry& registry) {
  registry.add<Stage, MdSettings>(
      "md", "run an integrator for a number of time steps",
      [](const MdSettings& s, Setup& setup) { return std::make_unique<MdStage>(s, setup); });
}

}  // namespace perrin
