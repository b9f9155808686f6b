#include "stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/components/registry.h"
#include "engine/run/md_stage.h"
#include "monte_carlo.h"

namespace perrin::monte_carlo {
namespace {

std::unique_ptr<Stage> make(const MonteCarloSettings& s, Setup& setup) {
  check_ramp(s.ramp, "temperature", setup);
  setup.fixed_group(s.group, "group");
  const Configuration& c = setup.configuration();
  const Vec3<double> heights = c.box.heights();
  double least = std::min(heights.x, heights.y);
  if (c.box.dimension == 3) least = std::min(least, heights.z);
  if (s.translation.displacement > least / 4)
    setup.error("translation.displacement",
                fmt::format("must be at most a quarter of the box ({:.6g}), got {}", least / 4,
                            s.translation.displacement));
  return std::make_unique<MdStage>("sweeps", s.sweeps,
                                   std::make_unique<MonteCarlo>(s, setup.k_boltzmann()), setup);
}

}  // namespace

void register_stage(Registry& registry) {
  registry.add<Stage, MonteCarloSettings>(
      "monte_carlo", "Metropolis Monte Carlo of the job's particles with the job's forces", make);
}

}  // namespace perrin::monte_carlo
