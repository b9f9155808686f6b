// perrin-bench metropolis-check: what the Metropolis plug-in samples, beside published figures and
// an equation of state. Errors are standard errors from blocks: the means of independent replicas,
// or of ten parts of a run. Nothing is timed.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/metropolis/rdf.h"
#include "plugins/metropolis/sampler.h"
#include "plugins/metropolis/start.h"
#include "tests/benchmarks/bench.h"
#include "tests/plugins/metropolis_eos.h"
#include "tests/plugins/metropolis_models.h"

namespace perrin::bench {
namespace {

using namespace perrin::metropolis;

struct Mean {
  double value = 0, error = 0;
};
Mean mean_of(const std::vector<double>& x) {
  double sum = 0, sum2 = 0;
  for (const double v : x) sum += v, sum2 += v * v;
  const double n = double(x.size()), mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, sum2 / n - mean * mean) / (n - 1))};
}

struct Sampled {
  Mean energy, pressure;  // of the system
  std::vector<double> r, g;
  double acceptance = 0, translation = 0, rotation = 0, drift = 0;
};

/// Replicas are blocks, each divided into parts where there are few.
Sampled sample(const Device& device, const Model& model, const MoveSizes& sizes, int replicas,
               int equilibration, int cycles, bool single) {
  Prepared p;
  p.model = model;
  p.start = lattice_start(model, 1);
  p.sizes = sizes;
  p.kT.assign(std::size_t(replicas), model.kT);
  SamplerOptions options;
  options.chain.single_precision = single;
  options.equilibration = equilibration;
  options.tune = TuneSettings{0.4, 10};
  Sampler s(device, p, options);
  const auto advance_to = [&](std::int64_t cycle) {
    while (s.cycle() < cycle) s.advance(cycle - s.cycle());
  };
  advance_to(equilibration);
  s.acceptance();
  const int parts = replicas >= 8 ? 1 : 10;
  std::vector<double> energy, pressure;
  Rdf rdf(model, 200, std::min({model.box.x, model.box.y, model.box.z}) / 2);
  constexpr int interval = 10;
  for (int part = 0; part < parts; ++part) {
    std::vector<double> e(std::size_t(replicas), 0.0), w(e.size());
    const int rows = cycles / parts / interval;
    for (int row = 0; row < rows; ++row) {
      advance_to(s.cycle() + interval);
      const auto states = s.states();
      for (std::size_t r = 0; r < e.size(); ++r)
        e[r] += states[r].energy / rows, w[r] += states[r].pressure / rows;
      rdf.add(s.system());
    }
    energy.insert(energy.end(), e.begin(), e.end());
    pressure.insert(pressure.end(), w.begin(), w.end());
  }
  Sampled result{mean_of(energy), mean_of(pressure), {}, rdf.values(0)};
  for (int k = 0; k < rdf.bins(); ++k) result.r.push_back((k + 0.5) * rdf.width());
  const auto a = s.acceptance();
  result.acceptance = std::accumulate(a.begin(), a.end(), 0.0) / double(a.size());
  result.translation = s.sizes().translation;
  result.rotation = s.sizes().rotation;
  result.drift = s.drift();
  return result;
}

nlohmann::json line_of(const Options& options, const char* system, const Model& model,
                       const Sampled& s, double per) {
  const auto peak = std::max_element(s.g.begin(), s.g.end()) - s.g.begin();
  nlohmann::json g;
  for (std::size_t k = 0; k < s.r.size(); k += 4) g.push_back(std::round(s.g[k] * 1000) / 1000);
  return {{"subject", "metropolis-check"},
          {"device", options.device.description()},
          {"system", system},
          {"molecules", model.molecule.size()},
          {"kT", model.kT},
          {"energy", s.energy.value / per},
          {"energy_error", s.energy.error / per},
          {"pressure", s.pressure.value},
          {"pressure_error", s.pressure.error},
          {"g_peak_at", s.r[std::size_t(peak)]},
          {"g_peak", s.g[std::size_t(peak)]},
          {"g_every_4th_bin", g},
          {"bin", s.r[1] - s.r[0]},
          {"acceptance", s.acceptance},
          {"translation", s.translation},
          {"rotation", s.rotation},
          {"drift", s.drift}};
}

}  // namespace

int metropolis_check(const Options& options) {
  const bool cuda = options.device.is_cuda();
  const int replicas = cuda ? 64 : 8;
  const int equilibration = cuda ? 2000 : 100, cycles = cuda ? 4000 : 200;
  int wrong = 0;
  const double points[][2] = {{1.5, 0.3}, {2.0, 0.6}, {1.2, 0.75}};
  for (const auto& point : points) {
    Model model = atoms(500, point[1], point[0], 4.0);
    model.tail = true;
    const Sampled s =
        sample(options.device, model, {0.15, 0}, replicas, equilibration, cycles, true);
    auto line = line_of(options, "Lennard-Jones, r_c = 4, tail; per atom", model, s, 500);
    const auto exact = johnson_equation(point[0], point[1]);
    line["density"] = point[1];
    line["equation_energy"] = exact.energy;
    line["equation_pressure"] = exact.pressure;
    wrong += std::abs(s.energy.value / 500 - exact.energy) > 0.015 + 5 * s.energy.error / 500;
    wrong += std::abs(s.pressure.value - exact.pressure) > 0.025 + 5 * s.pressure.error;
    print_line(line);
  }
  {
    // nm, kJ/mol, K. The original work: -6.01 ± 0.02 kJ/mol per atom, all pairs.
    Model argon = atoms(1000, 1, 84.4 * 0.00831446261815324);
    argon.pairs[0] = {PairKind::lennard_jones, 0.3345, 1.045, 0, 0, 0};
    argon.box = {3.62, 3.62, 3.62};
    const Sampled s =
        sample(options.device, argon, {0.03, 0}, cuda ? 16 : 1, equilibration, cycles, true);
    auto line =
        line_of(options, "argon, 84.4 K, 3.62 nm, no cut-off; kJ/mol per atom", argon, s, 1000);
    line["published"] = "-6.01 ± 0.02";
    wrong += std::abs(s.energy.value / 1000 + 6.01) > 0.02 + 5 * s.energy.error / 1000;
    print_line(line);
  }
  for (const int n : {150, 166}) {
    const Model model = benzene(std::size_t(n), 2.8132 * std::cbrt(n / 150.0));
    const Sampled s =
        sample(options.device, model, {0.03, 0.3}, cuda ? 16 : 1, 2 * equilibration, cycles, true);
    auto line = line_of(options, "benzene, 298 K, no cut-off; kJ/mol per site", model, s, 6.0 * n);
    line["published"] = "-5.30 ± 0.03 (166 molecules)";
    if (n == 166)
      wrong += std::abs(s.energy.value / (6 * n) + 5.30) > 0.03 + 5 * s.energy.error / (6 * n);
    line["kJ_mol_per_molecule"] = s.energy.value / n;
    print_line(line);
  }
  {
    const Model model = dimers(500, 0.35, 3);
    Mean other;  // single precision samples the same
    for (const bool single : {true, false}) {
      const Sampled s =
          sample(options.device, model, {0.1, 0.4}, cuda ? 16 : 1, equilibration, cycles, single);
      auto line =
          line_of(options, "dimers, bond 0.5 sigma, kT 3, no cut-off; per molecule", model, s, 500);
      line["precision"] = single ? "single" : "double";
      if (!single)
        wrong +=
            std::abs(s.energy.value - other.value) > 5 * std::hypot(s.energy.error, other.error);
      other = s.energy;
      print_line(line);
    }
  }
  print_line({{"subject", "metropolis-check"}, {"wrong", wrong}});
  return wrong == 0 ? 0 : 1;
}

}  // namespace perrin::bench
