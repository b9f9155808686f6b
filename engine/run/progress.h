// The progress of a run on the console: one line that updates in place on a terminal, sparse plain
// lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "engine/run/run_log.h"

namespace perrin {

class Progress {
 public:
  /// `quiet`: prints warnings alone. `terminal`: standard output is one. `log`, unless it is
  /// nullptr, must live as long: it gets plain lines, with `quiet`, too.
  Progress(bool quiet, bool terminal, RunLog* log)
      : quiet_(quiet), terminal_(terminal), log_(log) {}
  ~Progress() { clear(); }

  /// Starts counting for a stage that has `done` of `total` units behind it.
  void start(const std::string& stage, const std::string& unit, std::int64_t done,
             std::int64_t total);
  void update(std::int64_t done);
  /// The last line of a stage: all that it had to do is done.
  void finish(std::int64_t done, const std::string& remark = {});
  /// A line of its own, above the progress line.
  void print(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(std::int64_t done) const;
  void show(const std::string& text);
  void clear();

  void note(const std::string& text) const {
    if (log_ != nullptr) log_->put(text);
  }

  bool quiet_, terminal_;
  RunLog* log_;
  std::string stage_, unit_, shown_;
  std::int64_t first_ = 0, total_ = 0;
  Clock::time_point begin_{}, shown_at_{}, plain_at_{};
  double next_fraction_ = 0;
};

/// "1:02:03", "0:42".
std::string clock_text(double seconds);

}  // namespace perrin
