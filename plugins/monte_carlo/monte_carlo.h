// Metropolis Monte Carlo of the job's particles: a step is a sweep.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "chain_moves.h"
#include "cluster.h"
#include "engine/components/decides_by_energies.h"
#include "engine/components/gibbs_box.h"
#include "engine/components/integrator.h"
#include "engine/settings/settings.h"
#include "gibbs_trials.h"
#include "hybrid.h"
#include "insertion.h"
#include "integrators/barostat.h"
#include "integrators/ramp.h"
#include "molecule.h"
#include "move.h"
#include "reptation.h"
#include "rotation.h"
#include "swap.h"
#include "translation.h"

namespace perrin::monte_carlo {

struct TuneSettings {
  double acceptance = 0.4;
  std::int64_t sweeps = 0;
};

template <class D>
void describe(D& d, TuneSettings& s) {
  d.required("sweeps", s.sweeps, Positive{},
             "from the beginning of the stage; after them sizes stay what they are");
  d.optional("acceptance", s.acceptance, Between{0.01, 0.99}, "part of trials to be accepted");
}

struct MonteCarloSettings {
  std::int64_t sweeps = 0;
  double temperature = 1;
  RampSettings ramp;
  std::optional<TranslationSettings> translation;
  std::optional<RotationSettings> rotation;
  std::optional<MoleculeSettings> molecule;
  std::optional<PivotSettings> pivot;
  std::optional<CrankshaftSettings> crankshaft;
  std::optional<ReptationSettings> reptation;
  std::optional<SwapSettings> swap;
  std::optional<ClusterSettings> cluster;
  std::vector<InsertionSettings> insertion;
  std::optional<HybridSettings> hybrid;
  std::optional<BarostatSettings> barostat;
  std::optional<TuneSettings> tune;
  std::string group = "all", name = "monte_carlo";
};

template <class D>
void describe(D& d, MonteCarloSettings& s) {
  d.example("{\"sweeps\": 1000, \"temperature\": 1, \"translation\": {\"displacement\": 0.1}}");
  d.required("sweeps", s.sweeps, NonNegative{}, "number of sweeps");
  d.required("temperature", s.temperature, Positive{}, "temperature");
  describe_ramp(d, s.ramp, "temperature", Positive{});
  d.optional("translation", s.translation, Any{},
             "moves of single particles; where one force between pairs is all that acts, which "
             "does not depend on orientations, and the box is periodic along all axes, each cell "
             "makes all its trials as a chain, on a GPU in one launch, else one trial at a time: "
             "the log says which, and why");
  d.optional("rotation", s.rotation, Any{}, "particles with orientations are turned");
  d.optional("molecule", s.molecule, Any{}, "moves of whole molecules");
  d.optional("pivot", s.pivot, Any{}, "arms of molecules are turned about a bond's end");
  d.optional("crankshaft", s.crankshaft, Any{},
             "inner parts of chains are turned about the line through their ends");
  d.optional("reptation", s.reptation, Any{}, "linear chains go along themselves by one bond");
  d.optional("swap", s.swap, Any{}, "two particles exchange their places");
  d.optional("cluster", s.cluster, Any{},
             "clusters of particles are reflected about a point: for mixtures of large and small");
  d.optional("insertion", s.insertion, Any{},
             "particles are inserted and removed: the grand canonical ensemble, of each type with "
             "an activity");
  d.optional("hybrid", s.hybrid, Any{}, "trajectories of all particles");
  d.optional("barostat", s.barostat, Any{},
             "constant pressure: changes of the box, by the whole energy before and after; a sweep "
             "is its unit of time");
  d.optional("tune", s.tune, Any{}, "change the sizes of moves until trials are accepted as often");
  d.optional("group", s.group, Any{}, "particles that move");
  d.optional("name", s.name, Any{}, "name of the stage in output");
  d.any_of({"translation", "rotation", "molecule", "pivot", "crankshaft", "reptation", "swap",
            "cluster", "insertion", "hybrid"});
}

/// Constant temperature. Velocities stay what they are; those that a temperature or a pressure asks
/// for are those of the heat bath.
class MonteCarlo : public Integrator, public GibbsStage, public DecidesByEnergies {
 public:
  /// `moving`: which particles move; nullptr: all. `barostat`: nullptr at constant volume.
  /// `present`: where particles come and go, the group of those that are there.
  MonteCarlo(const MonteCarloSettings& settings, double k_boltzmann,
             std::shared_ptr<const Motion::OfEach> moving, std::unique_ptr<Barostat> barostat,
             std::optional<Group> present);

  void begin(StageContext& context) override;
  void steps(StepContext& context, int n) override;
  double timestep() const override { return 0; }  // sweeps take no time
  bool recordable() const override { return false; }
  void settle(StepContext& context) override;
  double typical_displacement(const StepContext&) const override;
  Motion motion() const override;
  std::optional<double> bath_kt(std::uint64_t steps) const override { return ramp().after(steps); }
  std::string report() override;
  std::string shortcoming() override;
  std::string objection(const Force& force) const override;
  GroupMask thermal() const override { return group_.mask(); }
  bool acts_on_groups() const override { return false; }
  bool turns_particles() const override { return settings_.molecule || settings_.rotation; }
  bool follows_deformation() const override { return false; }
  BoxMover* box_mover() const override { return barostat_.get(); }
  std::string gibbs_objection() const override;
  GibbsBox* gibbs_box() override { return gibbs_ ? &*gibbs_ : nullptr; }
  void state(Archive& archive) override;

  /// That it makes, in the order of a sweep.
  const std::vector<std::unique_ptr<Move>>& moves() const { return moves_; }
  /// nullptr: constant volume.
  const Barostat* barostat() const { return barostat_.get(); }

 private:
  Ramp ramp() const {
    return settings_.ramp.ramp(settings_.temperature, k_boltzmann_, ramp_start_);
  }
  std::string objection_to_coupled(const CoupledTrials& trials) const;
  void tune();
  double factor_since(TrialCounts& then, const TrialCounts& now) const;
  TrialCounts box_counts() const { return {barostat_->tried(), barostat_->accepted()}; }

  MonteCarloSettings settings_;
  double k_boltzmann_;
  std::int64_t ramp_start_ = -1;  // step at which the stage began; -1: not yet
  std::int64_t done_ = 0;         // sweeps
  std::vector<std::unique_ptr<Move>> moves_;
  std::vector<TrialCounts> tuned_;  // of each move: when its size was changed last …
  TrialCounts tuned_box_;           // … and of the box
  std::shared_ptr<const Motion::OfEach> moving_;
  GroupOnDevice group_;
  std::unique_ptr<Barostat> barostat_;
  std::optional<Group> present_;
  std::optional<GibbsTrials> gibbs_;  // where particles come and go
  StageContext* context_ = nullptr;
  bool settled_ = true;  // lists and forces are those of the present positions
};

}  // namespace perrin::monte_carlo
