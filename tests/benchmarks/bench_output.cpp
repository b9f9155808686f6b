// perrin-bench output, perrin-bench observers: the Lennard-Jones liquid (rho 0.8442, r_c 2.5, NVE
// near T 0.7) in whole jobs that write or measure something every 100 steps, steps per second; what
// is written is waited for. Baseline: the same job without, run just before.
#include <fmt/format.h>

#include <filesystem>

#include "app/commands.h"
#include "engine/components/chunk.h"
#include "engine/job/job.h"
#include "integrators/velocity_verlet.h"
#include "io/writer.h"
#include "plugins/analysis/register.h"
#include "tests/benchmarks/bench.h"

namespace perrin::bench {
namespace {

using nlohmann::json;

struct TimedSettings {
  double seconds = 0;
};
template <class D>
void describe(D& d, TimedSettings& s) {
  d.required("seconds", s.seconds, Positive{}, "how long to measure");
}

/// Melts the lattice unobserved, then runs as the stage "md" does.
class TimedStage : public Stage {
 public:
  TimedStage(double seconds, double& rate) : seconds_(seconds), rate_(rate) {}
  const Integrator* integrator() const override { return &integrator_; }
  void begin(Run& run, bool) override {
    Simulation& simulation = run.simulation();
    simulation.prepare(integrator_);
    integrator_.begin(simulation);
    simulation.advance(integrator_, simulation.device().is_cuda() ? 2000 : 300);
  }
  bool run(Run& run) override {
    advance(run, seconds_ / 4);
    const WallClock clock;
    const std::uint64_t first = run.simulation().step();
    advance(run, seconds_);
    rate_ = double(run.simulation().step() - first) / clock.seconds();
    return true;
  }

 private:
  void advance(Run& run, double seconds) {
    for (const WallClock clock; clock.seconds() < seconds;) {
      chunk_.run(chunk_.steps(), [&](std::int64_t most) { return run.advance(integrator_, most); });
      run.observe();
    }
    io::writer().wait();
    run.simulation().device().synchronize();
  }

  double seconds_;
  double& rate_;
  Chunk chunk_;
  VelocityVerlet integrator_{VelocityVerletSettings{0.005}};
};

/// Steps per second with these observers.
double rate(const Options& options, long size, const json& observers) {
  const auto cells = std::max(4L, std::lround(std::cbrt(double(size) / 4)));
  const json pair{{"types", {"A", "A"}}, {"epsilon", 1}, {"sigma", 1}};
  const json force{{"type", "lennard_jones"}, {"cutoff", 2.5}, {"pairs", json::array({pair})}};
  const json stage{{"type", "timed"}, {"seconds", options.seconds}};
  const json text{{"seed", 1},
                  {"system",
                   {{"type", "lattice"},
                    {"structure", "fcc"},
                    {"density", 0.8442},
                    {"cells", {cells, cells, cells}}}},
                  {"velocity", {{"temperature", 1.44}}},
                  {"forces", json::array({force})},
                  {"observers", observers},
                  {"stages", json::array({stage})}};
  double measured = 0;
  Components components;
  register_analysis(components.registry);
  components.registry.add<Stage, TimedSettings>(
      "timed", "md against the clock", [&](const TimedSettings& s, Setup&) {
        return std::make_unique<TimedStage>(s.seconds, measured);
      });
  const auto folder = std::filesystem::temp_directory_path() / "perrin-bench-output";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const JsonFile file = JsonFile::parse(text.dump(), "the benchmark's job");
  JobOptions job_options;
  job_options.device = options.device.name();
  job_options.threads = options.device.threads();
  job_options.output_directory = folder;
  job_options.quiet = true;
  {
    Job job(file, components.registry, components.plugins, job_options);
    Run run(job.take_parts(), job.control());
    run.execute();
  }
  std::filesystem::remove_all(folder);
  return measured;
}

struct Case {
  const char* name;
  json observers;
};

int measure(const char* subject, const Options& options, const std::vector<long>& sizes,
            const std::vector<Case>& cases) {
  for (const long size : options.sizes.empty() ? sizes : options.sizes)
    for (const auto& [name, observers] : cases) {
      const double without = rate(options, size, json::array());
      const double with = rate(options, size, observers);
      print_line({{"subject", subject},
                  {"what", name},
                  {"size", size},
                  {"device", options.device.description()},
                  {"time_s", 1 / with},
                  {"rate", with},
                  {"rate_unit", "steps/s"},
                  {"baseline", "the same job without, just before"},
                  {"baseline_rate", without},
                  {"ratio", with / without},
                  {"cost_of_a_time_s", 100 * (1 / with - 1 / without)}});
    }
  return 0;
}

}  // namespace

int output(const Options& options) {
  const json thermo{{"type", "thermo"}, {"stride", 100}};
  const json frames{{"type", "trajectory"}, {"stride", 100}};
  const json gsd{{"type", "gsd"}, {"stride", 100}}, xtc{{"type", "xtc"}, {"stride", 100}};
  return measure(
      "output", options,
      options.device.is_cuda() ? std::vector<long>{4000, 1000188} : std::vector<long>{4000, 32000},
      {{"thermo", json::array({thermo})},
       {"trajectory", json::array({frames})},
       {"thermo, trajectory", json::array({thermo, frames})},
       {"gsd", json::array({gsd})},
       {"xtc", json::array({xtc})}});
}

int observers(const Options& options) {
  std::vector<Case> cases;
  const auto add = [&](const char* type, json more = json::object()) {
    more["type"] = type;
    more["stride"] = 100;
    cases.push_back({type, json::array({more})});
  };
  add("rdf", {{"r_max", 2.5}});
  add("structure_factor", {{"k_max", 1}});
  add("mean_square_displacement");
  add("velocity_autocorrelation");
  add("stress_autocorrelation");
  add("bond_order", {{"distance", 1.5}});
  add("cluster_size", {{"distance", 1.1}});
  add("coordination", {{"distance", 1.5}});
  add("profile");
  add("radial_profile");
  add("pressure_profile");
  return measure(
      "observers", options,
      options.device.is_cuda() ? std::vector<long>{32000, 256000} : std::vector<long>{4000, 32000},
      cases);
}

}  // namespace perrin::bench
