#include "app/one_voice.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include "app/exit_status.h"
#include "engine/base/error.h"
#include "engine/communicator/communicator.h"

namespace perrin {
namespace {

bool done_together(const std::string& command) {
  return std::ranges::count(std::array{"run", "resume", "validate", "info"}, command) != 0;
}

/// Sends both streams to nowhere; returns a descriptor of what standard error was.
int silence() {
  std::fflush(stdout);
  const int errors = fcntl(2, F_DUPFD_CLOEXEC, 3);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    close(nowhere);
  }
  return errors;
}

void print_to(int descriptor, const std::string& message) {
  std::fflush(stdout);
  std::size_t done = 0;
  while (done < message.size()) {
    const ssize_t n = write(descriptor, message.data() + done, message.size() - done);
    if (n <= 0) return;
    done += std::size_t(n);
  }
}

/// Several processes that cannot work together: the launcher's first says so.
int cannot_begin(const std::string& message) {
  // A launcher ends all as soon as one has ended badly: the others let the first one speak.
  if (launched().rank == 0)
    print_to(2, message + "\n");
  else
    std::this_thread::sleep_for(std::chrono::seconds(1));
  return static_cast<int>(ExitStatus::user);
}

}  // namespace

int in_one_voice(const std::string& command, const std::function<Outcome()>& work) {
  try {
    Communicator::world();
  } catch (const UserError& e) {
    return cannot_begin(e.what());
  }
  Communicator& world = Communicator::world();
  const int errors = world.first() ? 2 : silence();
  Outcome outcome;
  if (world.first() || done_together(command)) outcome = work();
  return world.end(outcome.status, outcome.message, outcome.followed,
                   [&](const std::string& message) { print_to(errors, message); });
}

}  // namespace perrin
