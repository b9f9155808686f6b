// What components can ask of the run that drives them: to stop, to write checkpoints, and to keep
// the files that they read.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace perrin {

/// The name that a checkpoint gets when the next one takes its place.
inline std::filesystem::path previous_checkpoint(const std::filesystem::path& path) {
  return path.string() + ".prev";
}

class RunControl {
 public:
  /// Checkpoints at one path: whenever `seconds` have passed (0: never by time), at a stop, and at
  /// the end of the job.
  struct Plan {
    std::filesystem::path path;
    double seconds = 0;
    double last = 0;  // seconds since the start of the run
  };

  /// Called by the maker of a checkpoint observer.
  void add_plan(const std::filesystem::path& path, double seconds) {
    plans_.push_back({path, seconds});
  }
  std::vector<Plan>& plans() { return plans_; }

  /// Asks for a checkpoint at `path` at this step, once every observer has been called.
  void request_checkpoint(const std::filesystem::path& path) {
    for (const auto& p : requested_)
      if (p == path) return;
    requested_.push_back(path);
  }
  bool has_requests() const { return !requested_.empty(); }
  std::vector<std::filesystem::path> take_requests() { return std::exchange(requested_, {}); }

  /// Ends the run as SIGTERM would: after this step, with a checkpoint.
  void request_stop(const std::string& reason) {
    if (reason_.empty()) reason_ = reason;
  }
  /// Why the run shall stop; empty: it shall not.
  const std::string& stop_reason() const { return reason_; }

  /// A file that a component reads, and where the job names it: no output may take its place.
  void add_input(const std::filesystem::path& file, const std::string& path) {
    inputs_.emplace_back(file, path);
  }
  const std::vector<std::pair<std::filesystem::path, std::string>>& inputs() const {
    return inputs_;
  }

  /// Whether lines come to the console; not in a quiet run (and in tests).
  bool prints() const { return bool(print_); }
  /// Puts a line on the console, above the progress line, where prints().
  void print_line(const std::string& line) const {
    if (print_) print_(line);
  }
  /// nullptr: nothing is printed.
  void print_lines_by(std::function<void(const std::string& line)> print) {
    print_ = std::move(print);
  }

 private:
  std::vector<Plan> plans_;
  std::vector<std::filesystem::path> requested_;
  std::vector<std::pair<std::filesystem::path, std::string>> inputs_;
  std::string reason_;
  std::function<void(const std::string&)> print_;
};

}  // namespace perrin
