// The log of a run: a text file beside its outputs that holds what the run said.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace perrin {

/// Begins the line of a log that has the times of a run's parts, as JSON.
inline constexpr const char* timings_mark = "timings ";

class RunLog {
 public:
  /// Keeps nothing.
  RunLog() = default;
  /// Appends to `file`, which holds the logs of earlier runs in this folder. Throws UserError
  /// where it cannot be opened or is a link, a folder or a device.
  explicit RunLog(const std::filesystem::path& file);

  /// Whole lines: written at once, for whoever follows the file. A disk that is full ends no run:
  /// the lines are lost.
  void put(const std::string& text);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace perrin
