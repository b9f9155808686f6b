// A running simulation: particles, forces and neighbours (StageContext), and who makes the steps.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/components/sampling.h"
#include "engine/components/stage_context.h"
#include "engine/components/stage_log.h"
#include "engine/dynamics/totals_meter.h"

namespace perrin {

class NeighborTuner;
class ScheduledChanges;
class Stepper;
struct NeighborSettings;
struct NeighborChoices;

class Simulation : public StageContext {
 public:
  /// The forces decide the range of the neighbour list and the padding of non-periodic axes.
  /// Throws UserError where the box is too small for them.
  Simulation(const Device& device, Configuration configuration,
             std::vector<std::unique_ptr<Force>> forces, std::uint64_t seed,
             const NeighborSettings& neighbor_settings);
  Simulation(const Device& device, Configuration configuration,
             std::vector<std::unique_ptr<Force>> forces, std::uint64_t seed = 0);
  ~Simulation();

  /// Of the job.
  StageLog& stages() { return stages_; }
  const StageLog& stages() const { return stages_; }
  /// Of bonds and attributes, between steps.
  ScheduledChanges& changes() { return *changes_; }
  const ScheduledChanges& changes() const { return *changes_; }

  /// Energy per unit of temperature, in the job's units; 1 until then.
  void set_k_boltzmann(double k_boltzmann) { k_boltzmann_ = k_boltzmann; }
  /// Whose totals Instant::groups has, in this order.
  void watch(const std::vector<Group>& groups) { totals_.watch(groups); }
  /// Before the first step: steps and time are counted from here.
  void begin_at(std::uint64_t step, double time);
  /// A stage begins whose heat and work are among the totals, until end_stage(); prepare() is done.
  /// `deformation` moves the box in place of what the integrator has; nullptr: the stage does not.
  /// In which of its steps slow parts of forces act: `slow`.
  void begin_stage(Integrator& integrator, BoxMover* deformation = nullptr,
                   const SlowForces& slow = {});
  void end_stage();
  void follow_groups(const Integrator& integrator, bool records_anew) override;
  /// Before integrator.begin() and by advance().
  void prepare(const Integrator& integrator) override;
  void ensure_forces() override;
  /// For who looks at forces: calls this while Particles::force() has the whole forces, of which
  /// slow parts act in some steps alone (slow_forces()). Between steps, in all processes; may wait.
  void with_whole_forces(const std::function<void()>& look);
  /// Runs n steps and throws RunError if one went wrong. Totals are sampled as `sampling` says, and
  /// told when the device is waited for, also before an error is thrown. With neighbors.traversal
  /// "auto" steps are timed, and the way in which pairs are found may change.
  void advance(Integrator& integrator, std::int64_t n, const Sampling& sampling = {});
  /// After steps with Sampling::unseen: the particles of all processes are here. All of them call
  /// it.
  void complete();
  /// After changing particles from the host, or when another integrator takes over.
  void invalidate();
  void particles_were_moved() override;

  /// How pairs are found, and why so; empty without a neighbour list.
  std::string neighbor_report() const;
  const Totals& totals() override { return totals_.measure(); }
  /// This moment with its totals, temperature and pressure.
  Instant now() { return totals_.now(); }
  /// Each particle's share of the virial of the current state, in memory order, as in ForceOutput:
  /// together totals().virial less tail corrections. Valid until the next step.
  const Buffer<Real>& particle_virials() {
    totals();
    return totals_.complete_virials();
  }

  /// Restored are the same bits. Where the settings that lists depend on, or the device, are
  /// others, lists begin anew with every particle where it was, and forces are computed afresh.
  void state(Archive& archive);

 private:
  void run(Integrator& integrator, std::int64_t n);
  void forget_forces(bool recordings);
  void use_neighbors(const NeighborSettings& settings, const NeighborChoices* choices = nullptr);
  void state_of_neighbors(Archive& archive);

  StageLog stages_;
  std::unique_ptr<ScheduledChanges> changes_;
  TotalsMeter totals_;
  std::unique_ptr<Stepper> stepper_;
  double longest_displacement_;  // the box allows it
  bool forces_valid_ = false;
  std::int64_t slow_stride_ = 1;  // with which they were computed
  double box_reserve_ = 0;

  std::unique_ptr<const NeighborSettings> neighbor_settings_;  // those of the job
  std::unique_ptr<NeighborTuner> tuner_;                       // neighbors.traversal "auto"
  struct {
    double seconds = 0;
    std::int64_t steps = 0;
  } window_;  // of "auto": steps under the same settings
};

}  // namespace perrin
