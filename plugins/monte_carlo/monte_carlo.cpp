#include "monte_carlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/force.h"
#include "engine/dynamics/simulation.h"

namespace perrin::monte_carlo {

MonteCarlo::MonteCarlo(const MonteCarloSettings& settings, double k_boltzmann)
    : settings_(settings), k_boltzmann_(k_boltzmann), translation_(settings.translation) {}

void MonteCarlo::begin(Simulation& simulation) {
  simulation.ensure_forces();
  if (ramp_start_ < 0) ramp_start_ = std::int64_t(simulation.step());
  translation_.begin(simulation, settings_.group);
}

void MonteCarlo::steps(StepContext& context, int) {
  // A step that was halted by a full list has made its sweep.
  if (!context.device().skipping()) {
    context.particles.domain.gather_all();  // each of several processes does the whole
    translation_.sweep(context, RunKey(Purpose::monte_carlo, context.seed),
                       ramp().at(context.step()));
    ++done_;
    tune();
  }
  context.update_neighbors();
  context.compute_forces();
}

/// By what was accepted since it was done last.
void MonteCarlo::tune() {
  constexpr std::int64_t every = 10;
  if (!settings_.tune || done_ > settings_.tune->sweeps) return;
  if (done_ % every != 0 && done_ != settings_.tune->sweeps) return;
  const TrialCounts now = translation_.counts();
  const auto tried = double(now.tried - tuned_.tried);
  if (!(tried > 0)) return;
  const double accepted = double(now.accepted - tuned_.accepted) / tried;
  const double factor = std::clamp(accepted / settings_.tune->acceptance, 0.5, 1.5);
  translation_.set_displacement(
      std::min(translation_.displacement() * factor, translation_.largest()));
  tuned_ = now;
}

Motion MonteCarlo::motion() const {
  Motion motion;
  motion.velocities = VelocityRole::bath;
  return motion;
}

std::string MonteCarlo::report(Simulation&) {
  const TrialCounts counts = translation_.counts();
  if (counts.tried == 0) return "no trial moves";
  return fmt::format("translation: {:.4g} of {} trials accepted, displacement {:.6g}",
                     double(counts.accepted) / double(counts.tried), counts.tried,
                     translation_.displacement());
}

std::string MonteCarlo::shortcoming(Simulation&) {
  const TrialCounts counts = translation_.counts();
  if (counts.tried == 0)
    return "no particle was ever tried: all have bonds to particles of other active cells";
  if (counts.accepted == 0) return "no trial move was accepted: try a smaller displacement";
  return {};
}

std::string MonteCarlo::objection(const Force& force) const {
  const ForceTraits& traits = force.traits();
  const bool local = traits.reads != ForceTraits::Reads::everything;
  if (local && (traits.range() > 0 ? traits.trials : traits.energy_share > 0)) return {};
  return "has no energies of single moves, as many-body potentials and restraints of groups: "
         "expected forces between pairs, on bonds, angles and dihedrals, and fields";
}

void MonteCarlo::state(Archive& archive) {
  const std::int64_t now = ramp_start_;  // as begin() has set it
  archive("ramp_start", ramp_start_);
  archive.require(now < 0 || (ramp_start_ >= 0 && ramp_start_ <= now), "ramp_start",
                  "a step that the run has made");
  archive("sweeps", done_);
  archive("tuned_tried", tuned_.tried);
  archive("tuned_accepted", tuned_.accepted);
  archive.require(done_ >= 0, "sweeps", "at least 0");
  archive.require(tuned_.accepted >= 0 && tuned_.accepted <= tuned_.tried, "tuned_accepted",
                  "at most as many as were tried");
  {
    const Archive::Scope scope(archive, "translation");
    translation_.state(archive);
  }
  const TrialCounts all = counts();
  archive.require(tuned_.tried <= all.tried && tuned_.accepted <= all.accepted, "tuned_tried",
                  "at most those of the stage");
}

}  // namespace perrin::monte_carlo
