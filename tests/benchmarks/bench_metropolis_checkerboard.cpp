// perrin-bench metropolis-checkerboard: trial moves a second in the Lennard-Jones liquid, rho
// 0.8442, T 1.0, r_c 2.5, single precision, largest displacement 0.1, for several numbers of trials
// that an atom makes in a row. Baselines in the same run: the same engine on this machine's CPU
// (its rate hardly depends on the size; measured at 32 000 atoms at most), and the sequential
// engine on one thread, which looks at every atom in every move: extrapolated with 1/N.
//
// How much the trials are worth is in displacement2_per_trial, the mean square displacement of an
// atom after 64 trials, over 64: trials in a row among frozen neighbours move it a little less.
#include <algorithm>
#include <cmath>

#include "plugins/metropolis/checkerboard.h"
#include "tests/benchmarks/bench.h"
#include "tests/plugins/metropolis_models.h"

namespace perrin::bench {
namespace {

using namespace perrin::metropolis;

constexpr double step = 0.1;

Model liquid(long n) { return atoms(std::size_t(n), 0.8442, 1, 2.5); }

constexpr ChainOptions single{.seed = 1, .single_precision = true};

/// Mean square displacement since `before`, less far than half a box.
double displacement2(const System& system, const std::vector<Position>& before) {
  const auto now = system.centres();
  double sum = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Vec3<double> d{double(std::int32_t(now[i].x - before[i].x)),
                         double(std::int32_t(now[i].y - before[i].y)),
                         double(std::int32_t(now[i].z - before[i].z))};
    sum += dot(d, d);
  }
  const double unit = system.box().x * 0x1p-32;
  return sum * unit * unit / double(now.size());
}

struct Measured {
  double time = 0;  // of a sweep
  double rate = 0;  // trial moves per second
  double acceptance = 0, displacement2 = 0, drift = 0;
  Totals totals;
};

/// A liquid that `engine` has melted.
class Liquid {
 public:
  Liquid(const Device& device, long n, int sweeps)
      : system_(device, liquid(n), lattice(liquid(n)), 1) {
    const auto engine = start(8);
    engine->run(sweep_, sweeps);
    sweep_ += sweeps;
    engine->update_system();
  }

  Measured measure(int trials, double seconds) {
    Measured m;
    const auto engine = start(trials);
    const double n = double(system_.molecules());
    const std::int64_t sweeps = std::max<std::int64_t>(
        1, std::int64_t((system_.device().is_cuda() ? 4e7 : 4e5) / n / trials));
    const auto first = sweep_;
    m.time = median_time(system_.device(), seconds,
                         [&] {
                           engine->run(sweep_, sweeps);
                           sweep_ += sweeps;
                         }) /
             double(sweeps);
    m.rate = n * trials / m.time;
    m.acceptance = double(system_.accepted()[0]) / (n * trials * double(sweep_ - first));
    m.totals = engine->totals()[0];
    m.drift = (system_.energies()[0] - m.totals.energy) / n;
    engine->update_system();
    const auto before = system_.centres();
    engine->run(sweep_, 64 / trials);
    sweep_ += 64 / trials;
    engine->update_system();
    m.displacement2 = displacement2(system_, before) / 64;
    return m;
  }

 private:
  std::unique_ptr<CheckerboardEngine> start(int trials) {
    auto engine = make_checkerboard(system_, single, {.trials = trials});
    engine->set_sizes({step, 0});
    system_.set_energies({engine->totals()[0].energy});
    system_.clear_accepted();
    return engine;
  }

  System system_;
  std::int64_t sweep_ = 0;
};

/// Trial moves per second of the sequential engine with this many atoms.
double sequential_rate(long n, double seconds) {
  const Model model = liquid(n);
  System system(Device::cpu(1), model, lattice(model), 1);
  const auto engine = make_engine("sequential", system, single);
  engine->set_sizes({step, 0});
  std::int64_t cycle = 0;
  return double(n) / median_time(system.device(), seconds, [&] { engine->run(cycle++, 1); });
}

}  // namespace

int metropolis_checkerboard(const Options& options) {
  const bool cuda = options.device.is_cuda();
  std::vector<long> sizes = options.sizes;
  if (sizes.empty())
    sizes =
        cuda ? std::vector<long>{32000, 250000, 1000000, 4000000} : std::vector<long>{4000, 32000};
  constexpr long sequential_atoms = 4000;
  const double sequential = sequential_rate(sequential_atoms, options.seconds / 4);
  const Device cpu = Device::cpu();
  double cpu_rate = 0;
  if (cuda) cpu_rate = Liquid(cpu, 32000, 30).measure(4, options.seconds / 4).rate;
  for (const long n : sizes) {
    Liquid system(options.device, n, cuda ? 500 : 100);
    for (const int trials : {1, 2, 4, 8, 16}) {
      const Measured m = system.measure(trials, options.seconds / 4);
      const double atoms_ = double(n);
      nlohmann::json line = {
          {"subject", "metropolis-checkerboard"},
          {"size", n},
          {"trials_in_a_row", trials},
          {"precision", "single"},
          {"device", options.device.description()},
          {"time_s", m.time},
          {"rate", m.rate},
          {"rate_unit", "trial moves/s"},
          {"acceptance", m.acceptance},
          {"displacement2_per_trial", m.displacement2},
          {"energy_per_atom", m.totals.energy / atoms_},
          {"pressure", 0.8442 * (1 + m.totals.virial / 3 / atoms_)},
          {"drift_per_atom", m.drift},
          {"sequential_rate", sequential * double(sequential_atoms) / atoms_},
          {"ratio_to_sequential", m.rate / (sequential * double(sequential_atoms) / atoms_)}};
      if (cuda) {
        line["baseline"] = "checkerboard, 32000 atoms, " + cpu.description();
        line["baseline_rate"] = cpu_rate;
        line["ratio"] = m.rate / cpu_rate;
      } else {
        line["baseline"] = "sequential, one CPU thread, extrapolated with 1/N from 4000 atoms";
        line["ratio"] = line["ratio_to_sequential"];
      }
      print_line(line);
    }
  }
  return 0;
}

}  // namespace perrin::bench
