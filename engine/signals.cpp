#include "engine/signals.h"

#include <csignal>

namespace perrin {
namespace {

volatile std::sig_atomic_t first_signal = 0;

void on_signal(int signal) {
  if (first_signal != 0) {
    // The default action ends the program with the status that shells expect.
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  first_signal = signal;
}

}  // namespace

SignalWatch::SignalWatch() {
  first_signal = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

SignalWatch::~SignalWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const char* SignalWatch::received() {
  const int signal = first_signal;
  return signal == 0 ? nullptr : signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace perrin
