// perrin-bench metropolis: 100 cycles of rigid dimers without a cut-off, N atoms at a fixed
// density, in single and double precision: of like sites, and those of the Metropolis thesis, of
// unlike ones, which look their coefficients up for every pair. Baseline, in the same run: the
// sequential engine on one CPU thread, extrapolated with N² above 5 000 atoms. Then 1024 systems of
// 500 atoms at once, against one after the other.
#include <algorithm>
#include <string>

#include "plugins/metropolis/make_engine.h"
#include "tests/benchmarks/bench.h"
#include "tests/plugins/metropolis_models.h"

namespace perrin::bench {
namespace {

using namespace perrin::metropolis;

constexpr int cycles = 100;

MoveSizes sizes_of(const Model& model) { return {0.1 * model.pairs[0].a, 0.3}; }

/// Seconds of 100 cycles; `measured` cycles are run, repeated until `seconds` have passed.
double time_of(const std::string& engine, const Device& device, const Model& model, bool single,
               std::int64_t measured, double seconds, std::int64_t replicas = 1) {
  System system(device, model, lattice(model), replicas);
  ChainOptions options{.seed = 1};
  options.single_precision = single;
  const auto e = make_engine(engine, system, options);
  e->set_sizes(sizes_of(model));
  std::int64_t cycle = 0;
  const double t = median_time(device, seconds, [&] {
    e->run(cycle, measured);
    cycle += measured;
  });
  return t * cycles / double(measured);
}

Model dimers_of(std::size_t molecules, bool unlike) {
  return unlike ? unlike_dimers(molecules) : dimers(molecules, 0.3);
}

void time_dimers(const Options& options, long atoms_, bool single, bool unlike) {
  const bool cuda = options.device.is_cuda();
  const Model model = dimers_of(std::size_t(atoms_ / 2), unlike);
  const double n = double(atoms_) / 2;
  // Pair energies of a cycle: every molecule with every other, old and new, four pairs of sites.
  const double pairs = n * (n - 1) * 8;
  const long reference_atoms = std::min(atoms_, 5000L);
  const Model small = dimers_of(std::size_t(reference_atoms / 2), unlike);
  const double m = double(reference_atoms) / 2;
  const double reference_pairs = m * (m - 1) * 8;
  const auto few = [](double per_cycle, double rate) {
    return std::clamp<std::int64_t>(std::int64_t(rate / per_cycle), 1, cycles);
  };
  const double reference = time_of("sequential", Device::cpu(1), small, single,
                                   few(reference_pairs, 2e8), options.seconds / 4) *
                           pairs / reference_pairs;
  const double time = time_of("pipelined", options.device, model, single,
                              cuda ? cycles : few(pairs, 1e9), options.seconds / 2);
  print_line({{"subject", "metropolis"},
              {"size", atoms_},
              {"molecules", unlike ? "dimers of unlike sites, no cut-off" : "dimers, no cut-off"},
              {"precision", single ? "single" : "double"},
              {"engine", "pipelined"},
              {"device", options.device.description()},
              {"time_s", time},
              {"time_of", "100 cycles"},
              {"rate", pairs * cycles / time},
              {"rate_unit", "pair energies/s"},
              {"moves_per_s", n * cycles / time},
              {"baseline", reference_atoms < atoms_ ? "sequential, one CPU thread, extrapolated"
                                                    : "sequential, one CPU thread"},
              {"baseline_time_s", reference},
              {"ratio", reference / time}});
}

void replicas_of(const Options& options, bool single) {
  const bool cuda = options.device.is_cuda();
  const std::int64_t replicas = cuda ? 1024 : 2 * options.device.threads();
  const Model model = atoms(500, 0.6);
  const std::int64_t measured = cuda ? 20 : 5;
  const double together =
      time_of("pipelined", options.device, model, single, measured, options.seconds / 2, replicas);
  const double one =
      time_of("pipelined", options.device, model, single, 10 * measured, options.seconds / 4);
  const double reference =
      time_of("sequential", Device::cpu(1), model, single, 50, options.seconds / 4);
  const double moves = 500.0 * cycles;
  print_line({{"subject", "metropolis"},
              {"size", 500},
              {"replicas", replicas},
              {"molecules", "atoms, no cut-off"},
              {"precision", single ? "single" : "double"},
              {"device", options.device.description()},
              {"time_s", together},
              {"rate", moves * double(replicas) / together},
              {"rate_unit", "trial moves/s"},
              {"baseline", "one system after the other on the same device"},
              {"baseline_rate", moves / one},
              {"ratio", double(replicas) * one / together},
              {"cpu_thread_rate", moves / reference},
              {"ratio_to_cpu_thread", double(replicas) * reference / together}});
}

}  // namespace

int metropolis(const Options& options) {
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) {
    sizes = {100, 200, 500, 1000, 2000, 5000};
    if (options.device.is_cuda()) sizes.insert(sizes.end(), {10000, 20000, 50000});
  }
  for (const long n : sizes)
    for (const bool unlike : {false, true})
      for (const bool single : {true, false}) time_dimers(options, n, single, unlike);
  for (const bool single : {true, false}) replicas_of(options, single);
  return 0;
}

}  // namespace perrin::bench
