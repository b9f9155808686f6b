// perrin-bench lj: the Lennard-Jones liquid, rho 0.8442, r_c 2.5, NVE near T 0.7, dt 0.005, in the
// steady state, list builds included; and Langevin dynamics of the same liquid (T 0.7, friction 1),
// in turns with it: its baseline; with --ensemble npt the liquid at its own pressure (tau 1, a
// change of the box every 50 steps) instead. Baselines of NVE: on a GPU, moving what a step must at
// least read and write; on the CPU, LAMMPS (`lmp` with the opt package, two MPI ranks) in the same
// run where it is installed, else the same copy.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/communicator/communicator.h"
#include "engine/components/registry.h"
#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "plugins/langevin/register.h"
#include "tests/benchmarks/bench.h"
#include "tests/fluids.h"

namespace perrin::bench {
namespace {

/// Steps per second of LAMMPS for this many fcc cells, or 0 without LAMMPS.
double lammps_steps_per_second(int cells, int steps) {
  if (std::system("command -v lmp >/dev/null 2>&1 && command -v mpirun >/dev/null 2>&1") != 0)
    return 0;
  const auto folder = std::filesystem::temp_directory_path() / "perrin-bench-lammps";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "in.lj") << fmt::format(
      "units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 {0} 0 {0} 0 {0}\n"
      "create_box 1 box\ncreate_atoms 1 box\nmass 1 1.0\nvelocity all create 1.44 87287\n"
      "pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0 2.5\nneighbor 0.3 bin\n"
      "neigh_modify every 1 delay 0 check yes\nfix 1 all nve\ntimestep 0.005\nthermo 1000\n"
      "run 300\nrun {1}\n",
      cells, steps);
  const std::string command = fmt::format(
      "cd {} && OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe -np 2 "
      "lmp -sf opt -in in.lj -log none 2>/dev/null",
      folder.string());
  FILE* pipe = popen(command.c_str(), "r");
  double seconds = 0;  // of the second run, the last to be reported
  char line[512];
  while (pipe && std::fgets(line, sizeof line, pipe)) {
    double value = 0;
    if (std::sscanf(line, "Loop time of %lf on", &value) == 1) seconds = value;
  }
  if (pipe) pclose(pipe);
  std::filesystem::remove_all(folder);
  return seconds > 0 ? steps / seconds : 0;
}

std::unique_ptr<Integrator> langevin_integrator(const Device& device, const Configuration& c) {
  Registry registry("langevin");
  langevin::register_langevin(registry);
  SetupContext context;
  context.configuration = &c;
  context.device = device;
  return make_component<Integrator>(
      registry, R"({"type": "langevin", "timestep": 0.005, "temperature": 0.7, "friction": 1})",
      context);
}

std::unique_ptr<Integrator> barostat_integrator(double pressure) {
  BarostatSettings s;
  s.pressure = pressure, s.tau = 1;
  return std::make_unique<VelocityVerlet>(VelocityVerletSettings{0.005},
                                          std::make_unique<Barostat>(s, 3), Ramp{0.7, 0.7});
}

/// A liquid that its integrator has melted, which also warms up.
struct Liquid {
  std::unique_ptr<Integrator> integrator;
  Simulation s;

  Liquid(const Options& options, const Configuration& c, std::unique_ptr<Integrator> mover)
      : integrator(std::move(mover)),
        s(options.device, c, lennard_jones(options.device, 2.5), 0, options.neighbors) {
    s.prepare(*integrator);
    integrator->begin(s);
    s.advance(*integrator, options.device.is_cuda() ? 2000 : 300);
  }
  void run(std::int64_t steps) { s.advance(*integrator, steps); }
};

nlohmann::json line_of(Liquid& liquid, const Options& options, const char* integrator,
                       double time) {
  const auto n = liquid.s.particles().size();
  return {{"subject", "lj"},
          {"integrator", integrator},
          {"size", n},
          {"device", options.device.description()},
          {"time_s", time},
          {"rate", 1 / time},
          {"rate_unit", "steps/s"},
          {"particle_steps_per_s", double(n) / time},
          {"temperature", liquid.s.now().temperature},
          {"steps_per_build", double(liquid.s.step()) / double(std::max<std::int64_t>(
                                                            1, liquid.s.neighbors()->builds()))},
          {"entries_per_particle", liquid.s.neighbors()->mean_entries()}};
}

}  // namespace

int lj(const Options& options) {
  const bool cuda = options.device.is_cuda();
  std::vector<long> sizes = options.sizes;
  if (sizes.empty())
    sizes = cuda ? std::vector<long>{4000, 62500, 256000, 1000188, 4000000}
                 : std::vector<long>{4000, 32000, 256000};
  const double bandwidth = copy_bandwidth(options.device);
  for (const long size : sizes) {
    const int cells = std::max(4, int(std::lround(std::cbrt(double(size) / 4))));
    Configuration c = fcc(cells, 0.8442);
    thermalize(c, 1.44, 1);
    const double n = double(c.position.size());
    Liquid nve(options, c, std::make_unique<VelocityVerlet>(VelocityVerletSettings{0.005}));
    Liquid bath(options, c,
                options.npt ? barostat_integrator(nve.s.now().pressure())
                            : langevin_integrator(options.device, c));
    const std::int64_t chunk =
        std::max<std::int64_t>(20, std::int64_t(0.1 / (n * (cuda ? 1e-9 : 2e-7))));
    const auto [nve_time, bath_time] = median_times(
        options.device, options.seconds, [&] { nve.run(chunk); }, [&] { bath.run(chunk); });
    const double time = nve_time / double(chunk);
    nlohmann::json line = line_of(nve, options, "velocity_verlet", time);
    line["baseline"] = "copy of what a step must read and write";
    line["ratio"] = 2 * n * (sizeof(Position) + 2 * sizeof(Real4)) / bandwidth / time;
    const double lammps = cuda || Communicator::world().several()
                              ? 0
                              : lammps_steps_per_second(cells, int(chunk) + 100);
    if (lammps > 0) {
      line["baseline"] = "LAMMPS, mpirun -np 2 lmp -sf opt";
      line["baseline_rate"] = lammps;
      line["ratio"] = 1 / time / lammps;
    }
    print_line(line);
    line = line_of(bath, options, options.npt ? "velocity_verlet, barostat" : "langevin",
                   bath_time / double(chunk));
    line["baseline"] = "velocity_verlet in turns with it";
    line["ratio"] = nve_time / bath_time;
    print_line(line);
  }
  return 0;
}

}  // namespace perrin::bench
