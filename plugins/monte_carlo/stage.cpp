#include "stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/components/registry.h"
#include "engine/dynamics/reservoir.h"
#include "engine/run/md_stage.h"
#include "monte_carlo.h"

namespace perrin::monte_carlo {
namespace {

/// Where a part of the particles moves; else nullptr.
std::shared_ptr<const Motion::OfEach> moving(const Group* group, const Configuration& c) {
  if (group == nullptr || group->has_all()) return nullptr;
  auto each = std::make_shared<Motion::OfEach>();
  for (int axis = 0; axis < c.box.dimension; ++axis)
    each->moving[std::size_t(axis)] = group->count();
  for (const std::uint8_t member : group->members())
    each->axes.push_back(member ? std::uint8_t((1 << c.box.dimension) - 1) : std::uint8_t(0));
  return each;
}

/// Sites must stay where their bodies are.
void check_moves_of_bodies(const MonteCarloSettings& s, Setup& setup) {
  const auto refuse = [&](const char* key, bool given) {
    if (given)
      setup.error(key,
                  "cannot be combined with rigid bodies: expected \"molecule\", which moves "
                  "and turns them, and \"translation\" of particles beside them");
  };
  refuse("pivot", s.pivot.has_value());
  refuse("crankshaft", s.crankshaft.has_value());
  refuse("reptation", s.reptation.has_value());
  refuse("swap", s.swap.has_value());
  refuse("cluster", s.cluster.has_value());
  refuse("hybrid", s.hybrid.has_value());
  if (s.rotation && !s.molecule)
    setup.error("rotation",
                "turns particles that belong to no rigid body: expected \"molecule\" beside it, "
                "which moves and turns the bodies");
  if (!s.insertion.empty() && !s.molecule)
    setup.error("insertion",
                "of a system with rigid bodies, which must move and turn: expected \"molecule\" "
                "beside it");
  const Topology& t = setup.configuration().topology;
  if (s.translation && std::ranges::count(t.body, Topology::no_body) == 0)
    setup.error("translation",
                "would move single particles, and all belong to rigid bodies: "
                "expected \"molecule\"");
}

/// Where particles come and go; others keep lists of who moves.
void check_moves_of_reservoir(const MonteCarloSettings& s, Setup& setup) {
  const auto refuse = [&](const char* key, bool given) {
    if (given)
      setup.error(key,
                  "cannot be combined with a reservoir: expected translation, molecule, swap and "
                  "insertion");
  };
  refuse("rotation", s.rotation.has_value());
  refuse("pivot", s.pivot.has_value());
  refuse("crankshaft", s.crankshaft.has_value());
  refuse("reptation", s.reptation.has_value());
  refuse("cluster", s.cluster.has_value());
  refuse("hybrid", s.hybrid.has_value());
  refuse("barostat", s.barostat.has_value());
}

/// What tuning cannot do.
void check_tuning(const MonteCarloSettings& s, const MonteCarlo& made, Setup& setup) {
  if (!s.tune) return;
  const bool any = std::ranges::any_of(made.moves(), [](const auto& m) { return m->size() > 0; });
  if (!any && !made.barostat())
    setup.warn("tune", "changes nothing: no move of the stage has a size that is tuned");
  if (s.tune->sweeps >= s.sweeps)
    setup.warn("tune.sweeps",
               fmt::format("is not below the sweeps of the stage, {}: sizes change until it ends, "
                           "which disturbs averages, and the next stage has sizes of its own; got "
                           "{}",
                           s.sweeps, s.tune->sweeps));
}

std::unique_ptr<Stage> make(const MonteCarloSettings& s, Setup& setup) {
  check_ramp(s.ramp, "temperature", setup);
  const bool comes_and_goes = has_absent(setup.configuration());
  const Group* const group = moving_group(s.group, "group", setup);
  if (s.translation)
    check_displacement("translation.displacement", s.translation->displacement, setup);
  if (s.rotation) check_rotation(s.group, setup);
  if (s.molecule) check_molecules(*s.molecule, s.group, setup);
  if (s.pivot) check_chains("pivot", s.group, setup);
  if (s.crankshaft) check_chains("crankshaft", s.group, setup);
  if (s.reptation) check_reptation(*s.reptation, s.group, !s.translation && !s.hybrid, setup);
  if (s.swap) check_swap(*s.swap, s.group, setup);
  if (s.cluster) check_cluster(*s.cluster, s.group, setup);
  for (std::size_t k = 0; k < s.insertion.size(); ++k) check_insertion(s.insertion, k, setup);
  if (comes_and_goes) check_moves_of_reservoir(s, setup);
  if (s.barostat && s.group != "all")
    setup.error("barostat",
                "acts on all particles: expected no \"group\" beside it, got \"" + s.group + "\"");
  if (!setup.configuration().topology.body.empty()) check_moves_of_bodies(s, setup);
  auto barostat = Barostat::make(s.barostat, false, setup);
  auto made = std::make_unique<MonteCarlo>(
      s, setup.k_boltzmann(), comes_and_goes ? nullptr : moving(group, setup.configuration()),
      std::move(barostat), comes_and_goes && group ? std::optional(*group) : std::nullopt);
  check_tuning(s, *made, setup);
  return std::make_unique<MdStage>("sweeps", s.sweeps, std::move(made), setup);
}

}  // namespace

void register_stage(Registry& registry) {
  registry.add<Stage, MonteCarloSettings>(
      "monte_carlo", "Metropolis Monte Carlo of the job's particles with the job's forces", make);
}

}  // namespace perrin::monte_carlo
