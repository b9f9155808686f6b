// perrin-bench metropolis-thesis: the tables of the Metropolis thesis: its dimers of unlike sites
// (all pairs, no cut-off), seconds for whole runs, set-up included, against the number of cycles
// (1000 atoms; tables 5.1 and 5.2) and against the number of atoms (100 cycles; 5.3 and 5.4), by
// the sequential, reduction and pipelined engines, in single and double precision.
//
// The sequential engine is one CPU thread. What does not fit into --seconds is extrapolated in the
// number of cycles; the line says how many were run.
#include <algorithm>
#include <string>

#include "plugins/metropolis/engine.h"
#include "tests/benchmarks/bench.h"
#include "tests/plugins/metropolis_models.h"

namespace perrin::bench {
namespace {

using namespace perrin::metropolis;

struct Timed {
  double seconds = 0;
  std::int64_t measured = 0;  // cycles
};

double since(const std::chrono::steady_clock::time_point& begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A whole run: the system brought to the device, its energy, the cycles, the energy back.
Timed whole_run(const std::string& engine, const Device& device, const Model& model, bool single,
                std::int64_t cycles, double seconds) {
  const Placement start = lattice(model);
  const auto begin = std::chrono::steady_clock::now();
  System system(device, model, start, 1);
  ChainOptions options{.seed = 1};
  options.single_precision = single;
  const auto e = make_engine(engine, system, options);
  e->set_sizes({0.03, 0.4});
  system.set_energies({e->totals()[0].energy});
  const double set_up = since(begin);
  const auto chain = std::chrono::steady_clock::now();
  std::int64_t done = 0;
  for (std::int64_t n = 1; done < cycles && (done == 0 || since(chain) < seconds); n *= 2) {
    const std::int64_t now = std::min(n, cycles - done);
    e->run(done, now);
    done += now;
    system.energies();  // waits
  }
  return {set_up + since(chain) * double(cycles) / double(done), done};
}

/// Of Table 5.3 and 5.4, as the project's records have them; the others are not at hand.
nlohmann::json published(long atoms, std::int64_t cycles, bool single) {
  if (atoms != 50000 || cycles != 100) return "not at hand";
  return {{"sequential_s", 22575},
          {"gpu_s", single ? 35.3 : 145.0},
          {"speed_up", single ? 640 : 172},
          {"gpu", "GTX 1080 Ti"}};
}

void row(const Options& options, const char* table, long atoms, std::int64_t cycles, bool single) {
  const Model model = unlike_dimers(std::size_t(atoms / 2));
  const auto cell = [&](const char* engine, const Device& device) {
    return whole_run(engine, device, model, single, cycles, options.seconds);
  };
  const Timed sequential = cell("sequential", Device::cpu(1));
  const Timed reduction = cell("reduction", options.device);
  const Timed pipelined = cell("pipelined", options.device);
  print_line({{"subject", "metropolis-thesis"},
              {"table", table},
              {"size", atoms},
              {"cycles", cycles},
              {"precision", single ? "single" : "double"},
              {"device", options.device.description()},
              {"sequential_s", sequential.seconds},
              {"reduction_s", reduction.seconds},
              {"pipelined_s", pipelined.seconds},
              {"cycles_run", {sequential.measured, reduction.measured, pipelined.measured}},
              {"speed_up_reduction", sequential.seconds / reduction.seconds},
              {"speed_up_pipelined", sequential.seconds / pipelined.seconds},
              {"published", published(atoms, cycles, single)}});
}

}  // namespace

int metropolis_thesis(const Options& options) {
  // What the first use of a kernel costs is none of the runs'.
  for (const char* engine : {"sequential", "reduction", "pipelined"})
    for (const bool single : {true, false})
      whole_run(engine, engine == std::string("sequential") ? Device::cpu(1) : options.device,
                unlike_dimers(50), single, 2, 0.1);
  for (const bool single : {true, false})
    for (const std::int64_t cycles : {100, 1000, 10000})
      row(options, single ? "against cycles, single" : "against cycles, double", 1000, cycles,
          single);
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) {
    sizes = {100, 500, 1000, 5000};
    if (options.device.is_cuda()) sizes.insert(sizes.end(), {10000, 50000});
  }
  for (const bool single : {true, false})
    for (const long atoms : sizes)
      row(options, single ? "against atoms, single" : "against atoms, double", atoms, 100, single);
  return 0;
}

}  // namespace perrin::bench
