#include "engine/run/signals.h"

#include <atomic>

namespace perrin {
namespace {

struct Signal {
  int number;
  const char* name;
  bool warning;  // of a batch system: it may come again and again
};
constexpr std::array<Signal, SignalWatch::count> signals{{{SIGINT, "SIGINT", false},
                                                          {SIGTERM, "SIGTERM", false},
                                                          {SIGHUP, "SIGHUP", false},
                                                          {SIGXCPU, "SIGXCPU", true},
                                                          {SIGUSR1, "SIGUSR1", true},
                                                          {SIGUSR2, "SIGUSR2", true}}};

// The handlers run on whichever thread the signal comes to.
std::atomic<int> first_signal = 0;
std::atomic<bool> asked_to_end = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_warning(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
}

void on_signal(int signal) {
  on_warning(signal);
  if (!asked_to_end.exchange(true)) return;
  // The default action ends the program with the status that shells expect.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  return action;
}

}  // namespace

SignalWatch::SignalWatch() {
  first_signal = 0;
  asked_to_end = false;
  for (std::size_t k = 0; k < count; ++k) {
    sigaction(signals[k].number, nullptr, &before_[k]);
    const auto before = before_[k].sa_handler;
    // Another's handler of a warning knows what it is for.
    if (before == SIG_IGN || (signals[k].warning && before != SIG_DFL && before != on_warning))
      continue;
    const struct sigaction action = action_of(signals[k].warning ? on_warning : on_signal);
    sigaction(signals[k].number, &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  for (std::size_t k = 0; k < count; ++k) {
    // Not ignored but heard: programs that are started later do not inherit that.
    if (signals[k].warning && before_[k].sa_handler == SIG_DFL) continue;
    sigaction(signals[k].number, &before_[k], nullptr);
  }
}

int SignalWatch::received() {
  const int it = first_signal;
  for (std::size_t k = 0; k < count; ++k)
    if (signals[k].number == it) return int(k) + 1;
  return 0;
}

const char* SignalWatch::name(int which) { return signals.at(std::size_t(which - 1)).name; }

IgnoredSignal::IgnoredSignal(int number) : number_(number) {
  sigaction(number, nullptr, &before_);
  if (before_.sa_handler != SIG_DFL) return;
  const struct sigaction action = action_of(SIG_IGN);
  sigaction(number, &action, nullptr);
}

IgnoredSignal::~IgnoredSignal() { sigaction(number_, &before_, nullptr); }

}  // namespace perrin
