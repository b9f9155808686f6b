#include "python/src/session_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/run_console.h"

namespace perrin::python {

SessionLog::SessionLog(const Job& job, std::string command, bool without_outputs)
    : job_(job),
      command_(std::move(command)),
      kept_(without_outputs || !job.context().outputs.empty()) {}

void SessionLog::begin(Run& run) {
  if (run.has_simulation()) first_step_ = run.simulation().step();
  if (!kept_) return;
  make_folder(job_.context().output_directory);
  lines_ = begun_log(job_.context().output_directory, command_);
  lines_.put(fmt::format("Perrin {}\n{}", engine_version(), job_.summary()));
  for (const std::string& warning : job_.warnings()) lines_.put(warning);
}

void SessionLog::end_steps() {
  seconds_ = seconds();
  since_ = Clock::time_point::max();
}

double SessionLog::seconds() const {
  const double running = std::chrono::duration<double>(Clock::now() - since_).count();
  return seconds_ + std::max(running, 0.0);
}

MoreFacts SessionLog::facts(Run& run) {
  return [this, &run](auto& facts) {
    if (run.has_simulation())
      facts["timings"] = timings_json(run.simulation(), steps(run), seconds());
  };
}

void SessionLog::failed(const std::string& what) { lines_.put(ended_by_error(what)); }

void SessionLog::end(Run& run, bool complete, bool goes_on) {
  std::string where;
  if (run.has_simulation()) {
    lines_.put(timings_table(run.simulation(), steps(run), seconds()));
    lines_.put(timings_mark + timings_json(run.simulation(), steps(run), seconds()));
    where = fmt::format(" at step {}", run.simulation().step());
  }
  if (complete) return;
  if (goes_on) return lines_.put(fmt::format("settings change{}", where));
  std::string more;
  if (!run.checkpoint().empty())
    more = fmt::format("; continue with: perrin resume {}", run.checkpoint().string());
  lines_.put(fmt::format("stopped by {}{}{}", run.stop_reason(), where, more));
}

}  // namespace perrin::python
