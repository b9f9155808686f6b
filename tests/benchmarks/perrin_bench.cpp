// perrin-bench SUBJECT: measures, and prints one line of JSON per measurement.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/settings/settings_parse.h"
#include "tests/benchmarks/bench.h"
#include "tests/benchmarks/bench_short_sort.h"

namespace {

perrin::NeighborSettings parse_neighbors(const std::string& text) {
  using namespace perrin;
  NeighborSettings settings;
  const Catalogue none("perrin-bench");
  const JsonFile file = JsonFile::parse(text, "--neighbors");
  SettingsParser parser(none, [](const std::string& path, const std::string& what) {
    throw UserError("--neighbors: " + path + ": " + what);
  });
  parser.parse(file.value(), "", settings);
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace perrin;
  CLI::App app("Benchmarks of Perrin: one JSON object per line.");
  std::string device = "auto";
  int threads = 0;
  bench::Options options;
  app.add_option("--device", device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--threads", threads, "CPU threads; 0: all");
  app.add_option("--sizes", options.sizes, "numbers of particles, instead of the subject's own");
  app.add_option("--seconds", options.seconds, "measuring time per line")->capture_default_str();
  std::string neighbors = "{}";
  app.add_option("--neighbors", neighbors,
                 "lj: settings of neighbour lists, as in a job, e.g. {\"skin\": 0.3}");
  std::string ensemble = "nve";
  app.add_option(
         "--ensemble", ensemble,
         "lj: what runs in turns with constant energy: Langevin dynamics (nve), or constant "
         "pressure (npt)")
      ->check(CLI::IsMember({"nve", "npt"}));
  app.add_option("--generators", options.generators,
                 "oscillators: these alone, e.g. lcg,hybrid_taus (default: all)")
      ->delimiter(',');
  app.add_option("--seeding", options.seeding,
                 "oscillators: how states are seeded: unrelated, seed_plus_id, consecutive, "
                 "evenly_divided, or several of these")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--words", options.words,
                 "oscillators: words of a step, 1 (inversion) or 4 (Box and Muller)")
      ->check(CLI::IsMember({1, 4}))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "oscillators: the most steps")->capture_default_str();
  app.add_flag("--series", options.series, "oscillators: print <R(t)> and <R(t)R(0)> themselves");
  app.add_option("--parts", options.parts,
                 "neutron-text: limits threads raw merit; metropolis-thesis: 5.1 5.2 5.3 5.4 5.5");
  bool list = false;
  app.add_flag("--list", list, "print the subjects and stop");
  app.require_subcommand(0, 1);
  app.fallthrough();
  struct Subject {
    const char *name, *help;
    int (*run)(const bench::Options&);
  };
  const Subject subjects[] = {
      {"lj", "the Lennard-Jones liquid, steps per second", bench::lj},
      {"busy", "the same on the CPU, with busy processes beside it", bench::busy},
      {"totals", "forces, energies and virials, a barostat's virial; one type and two, seconds",
       bench::totals},
      {"output", "tables and trajectories every 100 steps, steps per second", bench::output},
      {"observers", "other observers every 100 steps, steps per second", bench::observers},
      {"neighbors", "the ways to find pairs, side by side, steps per second", bench::neighbors},
      {"interaction-sort", "sorted interactions against whole cells, particles per second",
       bench::interaction_sort},
      {"uneven", "droplet, slab, polymer, mixtures: pairs in range per second", bench::uneven},
      {"rng", "random numbers per second", bench::rng},
      {"brownian", "overdamped motion, particle-steps per second", bench::brownian},
      {"brownian-profile", "two steps with every generator, for a profiler",
       bench::brownian_profile},
      {"langevin", "Langevin dynamics, particle-steps per second", bench::langevin_dynamics},
      {"neutron-slab", "neutrons through a slab, histories per second", bench::neutron_slab},
      {"neutron-check", "the same, against the deterministic solution", bench::neutron_check},
      {"neutron-text", "step limits, streams, figures of merit: the text's questions",
       bench::neutron_text},
      {"dpd", "dissipative particle dynamics, steps per second", bench::dpd},
      {"a3b7", "the block copolymer of Phillips et al., their Fig. 4, steps per second",
       bench::a3b7},
      {"dpd-noise", "random numbers of pairs, keyed against stateful", bench::dpd_noise},
      {"bd-noise", "random numbers of particles, keyed against stateful", bench::bd_noise},
      {"oscillators", "Brownian oscillators with every generator, against theory",
       bench::oscillators},
      {"state-words", "words of state that a thread reads and writes to draw 1, 3, 4 numbers",
       bench::state_words},
      {"lcg-cycle", "Brownian oscillators through the LCG's whole cycle", bench::lcg_cycle},
      {"metropolis", "Monte Carlo of rigid molecules, pair energies per second", bench::metropolis},
      {"metropolis-check", "what it samples, beside published figures", bench::metropolis_check},
      {"metropolis-thesis", "whole runs of its dimers by three engines, seconds",
       bench::metropolis_thesis},
      {"metropolis-checkerboard", "Monte Carlo of many atoms, trial moves per second",
       bench::metropolis_checkerboard},
      {"short-sort", "sorts of very many short arrays, keys per second", bench::short_sort},
      {"short-sort-latency", "one batch, by length and number of arrays: rank sorts and others",
       bench::short_sort_latency}};
  for (const auto& s : subjects) app.add_subcommand(s.name, s.help);
  CLI11_PARSE(app, argc, argv);
  if (list || app.get_subcommands().empty()) {
    for (const auto& s : subjects) std::printf("%s\n", s.name);
    return list ? 0 : 2;
  }
  try {
    options.device = Device::parse(device, threads).with({.least_share = 1});  // however few
    options.neighbors = parse_neighbors(neighbors);
    options.npt = ensemble == "npt";
    for (const auto& s : subjects)
      if (app.got_subcommand(s.name)) return s.run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "perrin-bench: %s\n", e.what());
    return 2;
  }
  return 0;
}
