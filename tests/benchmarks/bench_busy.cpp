// perrin-bench busy: the Lennard-Jones liquid on all threads of the CPU while other processes are
// busy.
// Baseline: one thread with nobody beside it, in the same run.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "tests/benchmarks/bench.h"
#include "tests/fluids.h"

namespace perrin::bench {
namespace {

/// A process that does nothing but hold a core, until this goes out of scope.
class BusyProcess {
 public:
  BusyProcess() : process_(fork()) {
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile std::uint64_t turns = 0;;) turns = turns + 1;
  }
  ~BusyProcess() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;

 private:
  pid_t process_;
};

/// Steps per second, the mean: what counts are the times of standing still.
double rate(long size, int threads, int busy, double seconds) {
  const Device device = Device::cpu(threads);
  const int cells = std::max(4, int(std::lround(std::cbrt(double(size) / 4))));
  Configuration c = fcc(cells, 0.8442);
  thermalize(c, 1.44, 1);
  Simulation s(device, c, lennard_jones(device, 2.5), 0);
  VelocityVerlet integrator({0.005});
  integrator.begin(s);
  s.advance(integrator, 300);  // melts
  std::vector<std::unique_ptr<BusyProcess>> others;
  for (int k = 0; k < busy; ++k) others.push_back(std::make_unique<BusyProcess>());
  s.advance(integrator, 50);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::uint64_t first = s.step();
  double passed = 0;
  while (passed < seconds) {
    s.advance(integrator, 50);
    passed = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return double(s.step() - first) / passed;
}

}  // namespace

int busy(const Options& options) {
  const int threads = options.device.threads();
  for (const long size : options.sizes.empty() ? std::vector<long>{4000} : options.sizes) {
    const double alone = rate(size, 1, 0, options.seconds);
    for (int others = 0; others <= 2; ++others) {
      const double measured = rate(size, threads, others, options.seconds);
      print_line({{"subject", "busy"},
                  {"size", size},
                  {"device", Device::cpu(threads).description()},
                  {"busy_processes", others},
                  {"time_s", 1 / measured},
                  {"rate", measured},
                  {"rate_unit", "steps/s"},
                  {"baseline", "one thread, no busy process"},
                  {"baseline_rate", alone},
                  {"ratio", measured / alone}});
    }
  }
  return 0;
}

}  // namespace perrin::bench
