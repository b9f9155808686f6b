#include "app/run_console.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "engine/base/error.h"
#include "engine/base/printable.h"
#include "engine/domain/decomposition.h"
#include "engine/domain/load_balancer.h"
#include "engine/job/plugin.h"
#include "engine/settings/output_names.h"
#include "io/new_file.h"

namespace perrin {
namespace {

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

void RunConsole::open_log(const std::filesystem::path& folder, const std::string& command) {
  if (!io::writes_files()) return;
  try {
    log_ = begun_log(folder, command);
  } catch (const UserError& e) {
    if (!quiet_) fmt::print(stderr, "note: {}; the run goes on without one\n", e.what());
  }
}

void RunConsole::say(const std::string& text) {
  if (!quiet_) return say_always(text);
  log_.put(text);
}

void RunConsole::say_always(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  log_.put(text);
}

void RunConsole::warn(const std::string& line) {
  if (!quiet_ || line.find(": warning: ") != std::string::npos) fmt::print(stderr, "{}\n", line);
  log_.put(line);
}

void RunConsole::error(const std::string& what) { log_.put(ended_by_error(what)); }

RunLog begun_log(const std::filesystem::path& folder, const std::string& command) {
  RunLog log(folder / log_name);
  log.put(fmt::format("=== {} {} (Perrin {}, process {})", now(), printable_line(command),
                      engine_version(), getpid()));
  return log;
}

std::string ended_by_error(const std::string& what) {
  return fmt::format("error: {}\n=== {} ended by an error", printable(what), now());
}

std::string rate_text(double rate) {
  constexpr int digits = 4;
  const int before_point = rate > 0 ? int(std::floor(std::log10(rate))) + 1 : 1;
  return fmt::format("{:.{}f}", rate, std::max(0, digits - before_point));
}

std::string timings_table(const Simulation& simulation, std::uint64_t steps, double seconds) {
  const Timings& t = simulation.timings();
  const double known = t.neighbors + t.forces + t.integration + t.output;
  // Some of it was before the clock of the run began.
  const double total = std::max(seconds, known);
  std::string text;
  const auto row = [&](const char* name, double s) {
    text +=
        fmt::format("  {:<12} {:>10.3f} s {:>5.1f} %\n", name, s, total > 0 ? 100 * s / total : 0);
  };
  if (const std::string report = simulation.neighbor_report(); !report.empty())
    text += fmt::format("neighbours: {}\n", report);
  const Decomposition& decomposition = decomposition_of(simulation.device());
  if (decomposition.far() > 0)
    text += fmt::format(
        "processes: no peer access from this GPU to {} others; MPI transfers their data\n",
        decomposition.far());
  const LoadBalancer* const balance = decomposition.balance();
  if (const std::string report = balance ? balance->report() : ""; !report.empty())
    text += fmt::format("processes: {}\n", report);
  text += "time\n";
  row("neighbours", t.neighbors);
  row("forces", t.forces);
  row("integration", t.integration);
  row("output", t.output);
  row("other", total - known);
  row("total", total);
  if (steps > 0 && seconds > 0)
    text += fmt::format(
        "{} steps, {} steps/s, {} million particle steps/s\n", steps,
        rate_text(double(steps) / seconds),
        rate_text(1e-6 * double(steps) * double(simulation.particles().size()) / seconds));
  return text;
}

std::string timings_json(const Simulation& simulation, std::uint64_t steps, double seconds) {
  const Timings& t = simulation.timings();
  const double known = t.neighbors + t.forces + t.integration + t.output;
  return Json{{"neighbors", t.neighbors},
              {"forces", t.forces},
              {"integration", t.integration},
              {"output", t.output},
              {"total", std::max(seconds, known)},
              {"steps", steps},
              {"particles", simulation.particles().size()}}
      .dump();
}

void say_warnings(RunConsole& console, const Job& job) {
  for (const auto& warning : job.warnings()) console.warn(warning);
}

}  // namespace perrin
