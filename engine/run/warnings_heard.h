// Who hears the warnings of a run: standard error, unless the program that drives it does.
#pragma once

#include <functional>
#include <string>

namespace perrin {

/// While it lives, warnings of runs on this thread go to a function, not to the console. The log of
/// a run has them all the same.
class WarningsHeard {
 public:
  using Function = std::function<void(const std::string& line)>;
  /// An empty function changes nothing.
  explicit WarningsHeard(Function function);
  ~WarningsHeard();
  WarningsHeard(const WarningsHeard&) = delete;
  WarningsHeard& operator=(const WarningsHeard&) = delete;

  /// Whether somebody hears it: a line for which is_warning().
  static bool tell(const std::string& line);
  /// "warning: …", or of one of several runs "system 3: warning: …".
  static bool is_warning(const std::string& line);
  /// Such a line without that word.
  static std::string without_mark(const std::string& line);

 private:
  Function function_;
  WarningsHeard* before_;
};

}  // namespace perrin
