// perrin-bench metropolis-thesis: Tables 5.1 to 5.5 of the Metropolis thesis, a line for each row,
// with the thesis's own figures in it. --parts 5.1 5.3 … chooses.
//
// 5.1 to 5.4: seconds of whole runs, set-up included, of its dimers of unlike sites (all pairs, no
// cut-off): against the number of cycles (1000 atoms; 5.1 single, 5.2 double precision) and against
// the number of atoms (100 cycles; 5.3 single, 5.4 double), by the sequential engine (one CPU
// thread), the reduction and the pipelined one. The pipelined engine does every cycle on a GPU.
// Else what does not fit into --seconds is extrapolated in the number of cycles: "extrapolated"
// names the engines, "cycles_run" says how many they did.
//
// 5.5: energy per atom of dimers, argon and benzene over 20 000 cycles, both as equation 3.10 has
// it, a mean over every trial move from the first on, and without the first 1000 cycles. On a CPU
// as many cycles as fit into --seconds ("cycles_run").
//
// --sizes chooses rows of 5.3, 5.4 and 5.5 by their number of atoms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "plugins/metropolis/make_engine.h"
#include "plugins/metropolis/sampler.h"
#include "plugins/metropolis/start.h"
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
  const auto cell = [&](const char* engine, const Device& device, double seconds) {
    return whole_run(engine, device, model, single, cycles, seconds);
  };
  const Timed sequential = cell("sequential", Device::cpu(1), options.seconds);
  const Timed reduction = cell("reduction", options.device, options.seconds);
  const Timed pipelined =
      cell("pipelined", options.device,
           options.device.is_cuda() ? std::numeric_limits<double>::infinity() : options.seconds);
  nlohmann::json line = {{"subject", "metropolis-thesis"},
                         {"table", table},
                         {"size", atoms},
                         {"cycles", cycles},
                         {"precision", single ? "single" : "double"},
                         {"device", options.device.description()},
                         {"limit_s", options.seconds},
                         {"published", published(atoms, cycles, single)}};
  nlohmann::json extrapolated = nlohmann::json::array();
  const auto add = [&](const char* engine, const char* theirs, const Timed& t) {
    line[std::string(engine) + "_s"] = t.seconds;
    line["cycles_run"][engine] = t.measured;
    if (t.measured < cycles) extrapolated.push_back(engine);
    if (line["published"].is_null()) return;
    line["published_over_ours"][engine] =
        line["published"][std::string(theirs) + "_s"].get<double>() / t.seconds;
  };
  add("sequential", "sequential", sequential);
  add("reduction", "basic", reduction);
  add("pipelined", "optimised", pipelined);
  line["extrapolated"] = extrapolated;
  line["speed_up_reduction"] = sequential.seconds / reduction.seconds;
  line["speed_up_pipelined"] = sequential.seconds / pipelined.seconds;
  print_line(line);
}

/// Table 5.5. The boxes have the densities of the captions: dimers 12.6 Å for 500 (the text gives
/// none; this is what its energies say), argon 3.62 nm for 1000, benzene 2.8132 nm for 150.
struct EnergyRow {
  const char* name;
  long atoms;
  double single[2], twice[2];  // published: E_avg, ±
};
constexpr EnergyRow energy_rows[] = {
    {"dimers", 1000, {-1.293, 0.020}, {-1.289, 0.018}},
    {"dimers", 5000, {-1.295, 0.008}, {-1.295, 0.009}},
    {"dimers", 10000, {-1.297, 0.007}, {-1.287, 0.007}},
    {"argon", 1000, {-6.016, 0.017}, {-6.013, 0.016}},
    {"argon", 5000, {-6.036, 0.008}, {-6.037, 0.007}},
    {"argon", 10000, {-6.039, 0.006}, {-6.039, 0.006}},
    {"benzene", 996, {-5.304, 0.033}, {-5.305, 0.034}},
    {"benzene", 4998, {-5.371, 0.014}, {-5.371, 0.014}},
    {"benzene", 9996, {-5.378, 0.010}, {-5.376, 0.010}},
};

Prepared prepared(const EnergyRow& row) {
  Prepared p;
  const std::string name = row.name;
  if (name == "argon") {
    p.model = argon(std::size_t(row.atoms));
    p.sizes = {0.03, 0};
  } else if (name == "benzene") {
    const long n = row.atoms / 6;
    p.model = benzene(std::size_t(n), 2.8132 * std::cbrt(double(n) / 150));
    p.sizes = {0.03, 0.3};
  } else {
    p.model = unlike_dimers(std::size_t(row.atoms / 2));
    const double edge = 1.26 * std::cbrt(double(row.atoms) / 1000);
    p.model.box = {edge, edge, edge};
    p.sizes = {0.05, 0.5236};
    const double radius[] = {0.0345, 0.015};  // min_r of listing 3.1
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        p.model.pairs[std::size_t(2 * a + b)].core = radius[a] + radius[b];
  }
  // Liquids of larger molecules have no room for a random start; the lattice melts at once.
  p.start = name == "dimers" ? random_start(p.model, 1) : lattice_start(p.model, 1);
  p.kT = {p.model.kT};
  return p;
}

void energy_row(const Options& options, const EnergyRow& row, bool single) {
  constexpr std::int64_t cycles = 20000, first = 1000;
  const auto begin = std::chrono::steady_clock::now();
  const Prepared p = prepared(row);
  SamplerOptions sampler_options;
  sampler_options.chain.single_precision = single;
  Sampler s(options.device, p, sampler_options);
  const bool whole = options.device.is_cuda();
  double sum = 0, sum2 = 0, early = 0;
  std::int64_t rows = 0;
  for (std::int64_t done = 0;
       done < cycles && (whole || done == 0 || since(begin) < options.seconds); done += 10) {
    while (s.cycle() < done + 10) s.advance(done + 10 - s.cycle());
    if (s.cycle() == first) early = s.step_mean().energy[0] * double(first);
    if (s.cycle() <= first) continue;
    const double e = s.energies()[0] / double(row.atoms);
    sum += e, sum2 += e * e, ++rows;
  }
  const double* theirs = single ? row.single : row.twice;
  const double all = s.step_mean().energy[0], n = double(rows);
  nlohmann::json line = {{"subject", "metropolis-thesis"},
                         {"table", "5.5"},
                         {"system", row.name},
                         {"size", row.atoms},
                         {"precision", single ? "single" : "double"},
                         {"device", options.device.description()},
                         {"unit", "kJ/mol per atom"},
                         {"cycles", cycles},
                         {"cycles_run", s.cycle()},
                         {"E_avg", all / double(row.atoms)},
                         {"acceptance", s.acceptance_since_start()[0]},
                         {"time_s", since(begin)},
                         {"published_E_avg", theirs[0]},
                         {"published_spread", theirs[1]}};
  line["E_avg_less_published"] = all / double(row.atoms) - theirs[0];
  if (rows > 1) {
    line["E_avg_after_1000_cycles"] =
        (all * double(s.cycle()) - early) / double(s.cycle() - first) / double(row.atoms);
    line["spread"] = std::sqrt(std::max(0.0, sum2 / n - sum / n * (sum / n)));
  }
  print_line(line);
}

}  // namespace

int metropolis_thesis(const Options& options) {
  const Parts parts(options, {"5.1", "5.2", "5.3", "5.4", "5.5"});
  // What the first use of a kernel costs is none of the runs'.
  for (const char* engine : {"sequential", "reduction", "pipelined"})
    for (const bool single : {true, false})
      whole_run(engine, engine == std::string("sequential") ? Device::cpu(1) : options.device,
                unlike_dimers(50), single, 2, 0.1);
  for (const bool single : {true, false})
    for (const std::int64_t cycles : {100, 200, 500, 1000, 2000, 4000, 6000, 8000, 10000})
      if (parts.want(single ? "5.1" : "5.2"))
        row(options, single ? "5.1" : "5.2", 1000, cycles, single);
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000};
  for (const bool single : {true, false})
    for (const long atoms : sizes)
      if (parts.want(single ? "5.3" : "5.4"))
        row(options, single ? "5.3" : "5.4", atoms, 100, single);
  for (const EnergyRow& r : energy_rows) {
    const bool chosen =
        options.sizes.empty() || std::find(sizes.begin(), sizes.end(), r.atoms) != sizes.end();
    for (const bool single : {true, false})
      if (chosen && parts.want("5.5")) energy_row(options, r, single);
  }
  return 0;
}

}  // namespace perrin::bench
