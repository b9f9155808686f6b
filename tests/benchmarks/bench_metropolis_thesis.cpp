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

/// Tables 5.1 to 5.4 of the thesis, seconds on a Core i7-5960X and a GTX 1080 Ti: sequential; basic
/// kernels; optimised kernel. Null where it has no such row.
nlohmann::json published(long atoms, std::int64_t cycles, bool single) {
  struct Row {
    long atoms, cycles;
    double single[3], twice[3];
  };
  static constexpr Row rows[] = {{1000, 100, {9.3, 3.2, 0.5}, {10.1, 3.7, 0.9}},
                                 {1000, 200, {18.2, 6.2, 0.8}, {20.2, 6.6, 1.6}},
                                 {1000, 500, {45.4, 15.5, 1.8}, {50.5, 16.2, 3.7}},
                                 {1000, 1000, {91.0, 31.0, 3.6}, {100.8, 32.3, 7.3}},
                                 {1000, 2000, {181.6, 62.3, 7.0}, {201.8, 64.4, 14.6}},
                                 {1000, 4000, {362.6, 122.2, 14.0}, {403.6, 130.7, 29.1}},
                                 {1000, 6000, {545.0, 181.6, 21.0}, {605.3, 193.3, 43.7}},
                                 {1000, 8000, {727.2, 247.4, 28.0}, {806.6, 259.3, 58.2}},
                                 {1000, 10000, {906.1, 314.8, 35.0}, {1010.4, 326.4, 72.7}},
                                 {100, 100, {0.1, 0.4, 0.2}, {0.1, 0.5, 0.2}},
                                 {200, 100, {0.4, 0.7, 0.2}, {0.4, 0.7, 0.3}},
                                 {500, 100, {2.4, 1.7, 0.3}, {2.6, 1.8, 0.5}},
                                 {2000, 100, {37.5, 6.4, 0.8}, {40.2, 6.7, 1.6}},
                                 {5000, 100, {232.7, 16.9, 1.9}, {250.1, 18.1, 4.0}},
                                 {10000, 100, {911.0, 34.1, 3.7}, {1002.5, 43.8, 9.4}},
                                 {20000, 100, {3619.7, 74.0, 9.7}, {4002.5, 91.2, 27.4}},
                                 {50000, 100, {22574.8, 244.3, 35.3}, {25087.6, 341.3, 145.3}}};
  for (const Row& r : rows)
    if (r.atoms == atoms && r.cycles == cycles) {
      const double* t = single ? r.single : r.twice;
      return {{"sequential_s", t[0]},
              {"basic_s", t[1]},
              {"optimised_s", t[2]},
              {"speed_up_basic", t[0] / t[1]},
              {"speed_up_optimised", t[0] / t[2]},
              {"gpu", "GTX 1080 Ti"}};
    }
  return nullptr;
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
    for (const std::int64_t cycles : {100, 200, 500, 1000, 2000, 4000, 6000, 8000, 10000})
      row(options, single ? "against cycles, single" : "against cycles, double", 1000, cycles,
          single);
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) {
    sizes = {100, 200, 500, 1000, 2000, 5000};
    if (options.device.is_cuda()) sizes.insert(sizes.end(), {10000, 20000, 50000});
  }
  for (const bool single : {true, false})
    for (const long atoms : sizes)
      row(options, single ? "against atoms, single" : "against atoms, double", atoms, 100, single);
  return 0;
}

}  // namespace perrin::bench
