// perrin-bench neighbors: the traversals of neighbor/ side by side, for a Lennard-Jones fluid of
// three densities and two temperatures (how fast lists go stale). Baseline: Verlet lists of memory
// indices, one row per particle.
#include "neighbor/neighbors.h"

#include "engine/simulation.h"
#include "integrators/velocity_verlet.h"
#include "tests/benchmarks/bench.h"
#include "tests/fluids.h"

namespace perrin::bench {

int neighbors(const Options& options) {
  const bool cuda = options.device.is_cuda();
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {cuda ? 256000 : 32000};
  struct Way {
    const char* traversal;
    bool sorted, reorder = true;
  };
  const std::vector<Way> ways = cuda ? std::vector<Way>{{"rows", false},
                                                        {"rows", false, false},
                                                        {"verlet", false},
                                                        {"clusters", false},
                                                        {"cells", true},
                                                        {"cells", false}}
                                     : std::vector<Way>{{"rows", false}, {"clusters", false}};
  for (const long size : sizes)
    for (const double density : {0.1, 0.4, 0.8442})
      for (const double temperature : {0.9, 4.0}) {
        const int cells = std::max(4, int(std::lround(std::cbrt(double(size) / 4))));
        Configuration start = fcc(cells, density);
        thermalize(start, 2 * temperature, 1);
        const double n = double(start.position.size());
        VelocityVerlet integrator({0.004});
        {
          Simulation s(options.device, start, lennard_jones<PlainCut>(options.device, 2.5));
          integrator.begin(s);
          s.advance(integrator, cuda ? 1000 : 100);
          start = s.particles.configuration();
        }
        double baseline = 0;
        for (const Way& way : ways) {
          NeighborSettings settings;
          settings.traversal = way.traversal;
          settings.interaction_sorting = way.sorted;
          settings.reorder = way.reorder;
          Simulation s(options.device, start, lennard_jones<PlainCut>(options.device, 2.5), 0,
                       settings);
          integrator.begin(s);
          s.advance(integrator, 20);
          const auto builds = s.neighbors->builds();
          const auto first = s.step();
          const auto chunk =
              std::max<std::int64_t>(20, std::int64_t(0.05 / (n * (cuda ? 1e-9 : 2e-7))));
          const double time =
              median_time(options.device, options.seconds, [&] { s.advance(integrator, chunk); }) /
              double(chunk);
          if (baseline == 0) baseline = time;
          print_line({{"subject", "neighbors"},
                      {"size", start.position.size()},
                      {"device", options.device.description()},
                      {"density", density},
                      {"temperature", s.temperature()},
                      {"traversal", way.traversal},
                      {"interaction_sorting", way.sorted},
                      {"reorder", way.reorder},
                      {"time_s", time},
                      {"rate", 1 / time},
                      {"rate_unit", "steps/s"},
                      {"steps_per_build",
                       double(s.step() - first) /
                           double(std::max<std::int64_t>(1, s.neighbors->builds() - builds))},
                      {"entries_per_particle", s.neighbors->mean_entries()},
                      {"baseline", "rows"},
                      {"ratio", baseline / time}});
        }
      }
  return 0;
}

}  // namespace perrin::bench
