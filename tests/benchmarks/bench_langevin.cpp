// perrin-bench brownian, langevin: particle-steps per second without interactions.
//
// Cases of `brownian`: free; trap (harmonic, fused into the step, forces kept in memory after every
// eight steps);
// trap_forces_not_kept; trap_through_memory (a kernel of its own); leimkuhler_matthews;
// uniform_noise, normals_box_muller, normals_polar, normals_ziggurat (free); no_noise (temperature
// 0, free). Then every generator, in the trap, forces not kept, and no noise there; with the bytes
// that states in memory take, of all particles, and, on a GPU, `time_synchronised_s`: a step after
// which the host waits for the device. Cases of `langevin`: free and trap, BAOAB with and without
// the tally of heat, and the velocity-Verlet form.
//
// Baseline of a line: a copy on the same device, in the same run, of as many bytes as the step must
// read and write at least (the state of a generator not counted). `ratio_to_state`: against the
// Saru stream with its state in memory, the papers' comparison.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "engine/components/registry.h"
#include "engine/dynamics/simulation.h"
#include "forces/harmonic_trap.h"
#include "plugins/langevin/noise.h"
#include "plugins/langevin/register.h"
#include "tests/benchmarks/bench.h"

namespace perrin::bench {
namespace {

using Forces = std::vector<std::unique_ptr<Force>>;
using Json = nlohmann::json;

Configuration gas(std::int64_t n) {
  Configuration c;
  c.box.length = {100, 100, 100};
  c.box.origin = {-50, -50, -50};
  c.types = {"A"};
  c.type.assign(std::size_t(n), 0);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> place(-50, 50);
  for (std::int64_t i = 0; i < n; ++i)
    c.position.push_back({place(random), place(random), place(random)});
  return c;
}

Forces trap(const Device& device) {
  Forces forces;
  HarmonicTrapSettings s;
  s.stiffness = {1, 1, 1};
  forces.push_back(std::make_unique<HarmonicTrap>(s, device, 1, std::vector<std::uint32_t>{}));
  return forces;
}

/// Seconds of one call of `work`, from batches long enough that starting them and waiting for them
/// does not count.
double time_each(const Options& options, double seconds,
                 const std::function<void(std::int64_t)>& work) {
  const double rough = median_time(options.device, 0, [&] { work(16); }) / 16;
  const auto batch = std::int64_t(std::clamp(0.02 / rough, 16.0, 1e5));
  return median_time(options.device, seconds, [&] { work(batch); }) / double(batch);
}

class Subject {
 public:
  Subject(const Options& options, std::string name) : options_(options), name_(std::move(name)) {
    langevin::register_langevin(registry_);
    langevin::register_brownian(registry_);
  }

  /// Seconds of a step; `settings` completes {"type", "timestep", "temperature", "friction"}.
  double step_time(Simulation& simulation, const Configuration& c, const Json& settings,
                   double seconds) {
    const auto mover = begin(simulation, c, settings);
    return time_each(options_, seconds,
                     [&](std::int64_t steps) { simulation.advance(*mover, steps); });
  }
  /// The same where the host waits for the device after every step.
  double synchronised_step_time(Simulation& simulation, const Configuration& c,
                                const Json& settings, double seconds) {
    const auto mover = begin(simulation, c, settings);
    return time_each(options_, seconds, [&](std::int64_t steps) {
      for (std::int64_t k = 0; k < steps; ++k) {
        simulation.advance(*mover, 1);
        options_.device.synchronize();
      }
    });
  }
  void few_steps(Simulation& simulation, const Configuration& c, const Json& settings,
                 std::int64_t steps) {
    const auto mover = begin(simulation, c, settings);
    simulation.advance(*mover, steps);
    options_.device.synchronize();
  }

  /// Copies per second of as many bytes as n particles read and write in a step.
  double copy_rate(std::int64_t n, int bytes) {
    double& known = copies_[{n, bytes}];
    if (known > 0) return known;
    Buffer<std::byte> a(options_.device, n * bytes / 2), b(options_.device, n * bytes / 2);
    return known = 1 / time_each(options_, 0.1, [&](std::int64_t times) {
                     for (std::int64_t k = 0; k < times; ++k) a.copy_from(b);
                   });
  }

  void line(const std::string& what, std::int64_t n, int bytes, double time, Json more = {}) {
    const double copies = copy_rate(n, bytes);
    Json json = {{"subject", name_},
                 {"case", what},
                 {"size", n},
                 {"device", options_.device.description()},
                 {"time_s", time},
                 {"rate", double(n) / time},
                 {"rate_unit", "particle-steps/s"},
                 {"bytes_per_particle", bytes},
                 {"baseline", "copy of the same bytes"},
                 {"baseline_rate", double(n) * copies},
                 {"ratio", 1 / time / copies}};
    if (!more.empty()) json.update(more);
    print_line(json);
  }

 private:
  std::unique_ptr<Integrator> begin(Simulation& simulation, const Configuration& c,
                                    const Json& settings) {
    Json json = {{"type", name_}, {"timestep", 0.001}, {"temperature", 1}, {"friction", 1}};
    json.update(settings);
    SetupContext context;
    context.configuration = &c;
    context.device = options_.device;
    auto mover = make_component<Integrator>(registry_, json.dump(), context);
    simulation.invalidate();
    mover->begin(simulation);
    return mover;
  }

  const Options& options_;
  std::string name_;
  std::map<std::pair<std::int64_t, int>, double> copies_;
  Registry registry_{"langevin"};
};

std::vector<long> sizes_of(const Options& options) {
  if (!options.sizes.empty()) return options.sizes;
  if (options.device.is_cuda()) return {1000, 10000, 100000, 1000000, 10000000};
  return {1000, 10000, 100000};
}

constexpr int word = sizeof(Real4), place = sizeof(Position);

/// Bytes that the states of n particles take, three words to be drawn in a step. One per particle:
/// from two small streams, since large ones take long to seed.
std::int64_t state_bytes(const std::string& rng, const std::string& scheme, std::int64_t n) {
  return langevin::with_noise(rng, scheme, [&](auto type) -> std::int64_t {
    using Stream = typename decltype(type)::type;
    if constexpr (requires(Stream & s) { s.bytes(); }) {
      const auto bytes = [](std::int64_t particles) {
        return Stream(Device::cpu(1), Purpose::benchmark, 1, particles, 3).bytes();
      };
      if (rng == "lagged_fibonacci") return bytes(n);
      const std::int64_t each = (bytes(2000) - bytes(1000)) / 1000;
      return bytes(1000) + (n - 1000) * each;
    } else {
      return 0;
    }
  });
}

/// Every generator with each of its schemes, Saru with its state in memory first.
std::vector<std::pair<std::string, std::string>> generators_and_schemes() {
  std::vector<std::pair<std::string, std::string>> all = {{"saru", "per_particle"}};
  for (const std::string& name : stream_names())
    if (name != "saru_state")
      for (const std::string& scheme : langevin::schemes_of(name))
        if (all[0] != std::pair(name, scheme)) all.push_back({name, scheme});
  return all;
}

void every_generator(Subject& subject, const Options& options, Simulation& simulation,
                     const Configuration& c) {
  const auto n = std::int64_t(c.position.size());
  double state_time = 0;
  const auto line = [&](Json settings, Json more) {
    settings["keep_forces"] = false;
    const double time = subject.step_time(simulation, c, settings, options.seconds / 4);
    if (options.device.is_cuda())
      more["time_synchronised_s"] =
          subject.synchronised_step_time(simulation, c, settings, options.seconds / 8);
    if (settings.contains("rng")) {
      if (state_time == 0) state_time = time;
      more["ratio_to_state"] = state_time / time;
    }
    subject.line("generator", n, 2 * place + 4, time, more);
  };
  line({{"temperature", 0}}, {{"generator", "none"}, {"scheme", ""}, {"state_bytes", 0}});
  for (const auto& [name, scheme] : generators_and_schemes())
    line({{"rng", name}, {"scheme", scheme}},
         {{"generator", name}, {"scheme", scheme}, {"state_bytes", state_bytes(name, scheme, n)}});
}

}  // namespace

int brownian(const Options& options) {
  Subject subject(options, "brownian");
  for (const long n : sizes_of(options)) {
    const Configuration c = gas(n);
    {
      Simulation simulation(options.device, c, trap(options.device));
      const auto time = [&](const Json& settings) {
        return subject.step_time(simulation, c, settings, options.seconds);
      };
      subject.line("trap", n, 2 * place + 4 + (place + word) / RunningStep::usual,
                   time({{"keep_forces", true}}));
      subject.line("trap_forces_not_kept", n, 2 * place + 4, time({{"keep_forces", false}}));
      // The force's own kernel reads positions and writes forces.
      subject.line("trap_through_memory", n, 3 * place + 4 + 2 * word, time({{"fuse", false}}));
    }
    Simulation simulation(options.device, c, {});
    const auto time = [&](const Json& settings) {
      return subject.step_time(simulation, c, settings, options.seconds);
    };
    subject.line("free", n, 2 * place + 4, time(Json::object()));
    subject.line("leimkuhler_matthews", n, 2 * place + 4 + 2 * word,
                 time({{"method", "leimkuhler_matthews"}}));
    subject.line("uniform_noise", n, 2 * place + 4, time({{"noise", "uniform"}}));
    // A kernel of their own writes them, by id.
    for (const char* method : {"box_muller", "polar", "ziggurat"})
      subject.line(std::string("normals_") + method, n, 2 * place + 8 + 2 * word,
                   time({{"normals", method}}));
    subject.line("no_noise", n, 2 * place + 4, time({{"temperature", 0}}));
  }
  for (const long n : sizes_of(options)) {
    const Configuration c = gas(n);
    Simulation simulation(options.device, c, trap(options.device));
    every_generator(subject, options, simulation, c);
  }
  return 0;
}

int brownian_profile(const Options& options) {
  Subject subject(options, "brownian");
  const std::vector<long> sizes = options.sizes.empty() ? std::vector<long>{100000} : options.sizes;
  for (const long n : sizes) {
    const Configuration c = gas(n);
    Simulation simulation(options.device, c, trap(options.device));
    const auto steps = [&](const std::string& name, const std::string& scheme, Json settings) {
      settings["keep_forces"] = false;
      subject.few_steps(simulation, c, settings, 2);
      print_line({{"subject", "brownian-profile"},
                  {"size", n},
                  {"device", options.device.description()},
                  {"generator", name},
                  {"scheme", scheme},
                  {"steps", 2}});
    };
    steps("none", "", {{"temperature", 0}});
    for (const auto& [name, scheme] : generators_and_schemes())
      steps(name, scheme, {{"rng", name}, {"scheme", scheme}});
  }
  return 0;
}

int langevin_dynamics(const Options& options) {
  Subject subject(options, "langevin");
  for (const long n : sizes_of(options)) {
    const Configuration c = gas(n);
    for (const bool trapped : {false, true}) {
      Simulation simulation(options.device, c, trapped ? trap(options.device) : Forces{});
      const std::string where = trapped ? "trap" : "free";
      // Position, velocity, id and force, in one pass; the force's kernel.
      const int force = trapped ? place + word : word;
      const int baoab = 2 * place + 4 + 2 * word + word + force;
      const auto time = [&](const Json& settings) {
        return subject.step_time(simulation, c, settings, options.seconds);
      };
      subject.line(where + "_baoab", n, baoab, time({{"tally_heat", false}}));
      subject.line(where + "_baoab_heat", n, baoab + 16, time(Json::object()));
      subject.line(where + "_velocity_verlet", n, baoab + 6 * int(sizeof(Real)),
                   time({{"method", "velocity_verlet"}, {"tally_heat", false}}));
      subject.line(where + "_no_noise", n, baoab,
                   time({{"temperature", 0}, {"tally_heat", false}}));
    }
  }
  return 0;
}

}  // namespace perrin::bench
