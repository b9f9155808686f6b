// Several processes that speak to the user as one.
#pragma once

#include <functional>
#include <string>

namespace perrin {

/// How the program ended in one process.
struct Outcome {
  int status = 0;
  std::string message;    // for standard error where the status is not 0
  bool followed = false;  // it ended because another process failed
};

/// Does `work` and returns the program's exit status, which is that of all processes. Only the
/// first process has standard output and standard error; commands that do nothing together
/// (`help`, `convert`) are done by it alone. One message is printed of a failure.
int in_one_voice(const std::string& command, const std::function<Outcome()>& work);

}  // namespace perrin
