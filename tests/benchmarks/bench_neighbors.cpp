// perrin-bench neighbors: the traversals of neighbor/ side by side, for a Lennard-Jones fluid of
// three densities and two temperatures (how fast lists go stale). Baseline: Verlet lists of memory
// indices, one row per particle.
#include "neighbor/neighbors.h"

#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/pair_loop.h"
#include "tests/benchmarks/bench.h"
#include "tests/fluids.h"

namespace perrin::bench {
namespace {

/// Counts, for every particle, whom the traversal lets it meet, and who of them is in range.
struct CountBody {
  static constexpr int sums = 2, odd = 0;
  static constexpr bool has_extra = false;
  Real range2, far2;
  Real* result;  // [met, in range][particle]
  std::int64_t n;
  struct Own {};
  PERRIN_HD Own own(std::int64_t) const { return {}; }
  PERRIN_HD void pair(const Own&, Real3 d, std::uint32_t, const Real4&, bool real,
                      Real (&term)[sums]) const {
    // Lanes without a particle are put far away by some traversals.
    term[0] = real && dot(d, d) < far2 ? Real(1) : Real(0);
    term[1] = real && dot(d, d) < range2 ? Real(1) : Real(0);
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    result[i] = sum[0], result[n + i] = sum[1];
  }
};

/// The share of the candidates of the traversal that are in range.
double useful_share(Simulation& s) {
  const std::int64_t n = s.particles().size();
  Buffer<Real> result(s.device(), 2 * n);
  const double range = s.neighbors()->range(), far = 4 * range;
  s.neighbors()->update();
  pair_loop("count", *s.neighbors(),
            CountBody{Real(range * range), Real(far * far), result.data(), n});
  const auto counts = result.to_host();
  double met = 0, in_range = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    met += double(counts[std::size_t(i)]);
    in_range += double(counts[std::size_t(n + i)]);
  }
  return in_range / met;
}

}  // namespace

int neighbors(const Options& options) {
  const bool cuda = options.device.is_cuda();
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {cuda ? 256000 : 32000};
  struct Way {
    const char *traversal, *sorting = "auto";
    bool reorder = true;
  };
  const std::vector<Way> ways = cuda ? std::vector<Way>{{"verlet_list"},
                                                        {"verlet_list", "auto", false},
                                                        {"tiles"},
                                                        {"cells", "x"},
                                                        {"cells", "none"}}
                                     : std::vector<Way>{{"verlet_list"},
                                                        {"clusters"},
                                                        {"cells", "axes"},
                                                        {"cells", "x"},
                                                        {"cells", "none"}};
  for (const long size : sizes)
    for (const double density : {0.1, 0.4, 0.8442})
      for (const double temperature : {0.9, 4.0}) {
        const int cells = std::max(4, int(std::lround(std::cbrt(double(size) / 4))));
        Configuration start = fcc(cells, density);
        thermalize(start, 2 * temperature, 1);
        const double n = double(start.position.size());
        VelocityVerlet integrator({0.004});
        {
          Simulation s(options.device, start, lennard_jones(options.device, 2.5));
          integrator.begin(s);
          s.advance(integrator, cuda ? 1000 : 100);
          start = s.particles().configuration();
        }
        double baseline = 0;
        for (const Way& way : ways) {
          NeighborSettings settings;
          settings.traversal = way.traversal;
          settings.interaction_sorting = way.sorting;
          settings.reorder = way.reorder;
          Simulation s(options.device, start, lennard_jones(options.device, 2.5), 0, settings);
          integrator.begin(s);
          s.advance(integrator, 20);
          const auto builds = s.neighbors()->builds();
          const auto first = s.step();
          const auto chunk =
              std::max<std::int64_t>(20, std::int64_t(0.05 / (n * (cuda ? 1e-9 : 2e-7))));
          const double time =
              median_time(options.device, options.seconds, [&] { s.advance(integrator, chunk); }) /
              double(chunk);
          if (baseline == 0) baseline = time;
          nlohmann::json line = {{"subject", "neighbors"},
                                 {"size", start.position.size()},
                                 {"device", options.device.description()},
                                 {"density", density},
                                 {"temperature", s.now().temperature},
                                 {"traversal", way.traversal},
                                 {"interaction_sorting", way.sorting},
                                 {"reorder", way.reorder},
                                 {"time_s", time},
                                 {"rate", 1 / time},
                                 {"rate_unit", "steps/s"},
                                 {"steps_per_build", double(s.step() - first) /
                                                         double(std::max<std::int64_t>(
                                                             1, s.neighbors()->builds() - builds))},
                                 {"entries_per_particle", s.neighbors()->mean_entries()},
                                 {"baseline", "verlet_list"},
                                 {"ratio", baseline / time}};
          // What a GPU tests without lists no Body sees.
          if (!cuda || way.traversal != std::string("cells"))
            line["useful_share"] = useful_share(s);
          print_line(line);
        }
      }
  return 0;
}

}  // namespace perrin::bench
