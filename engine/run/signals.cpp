#include "engine/run/signals.h"

#include <atomic>

namespace perrin {
namespace {

struct Signal {
  int number;
  const char* name;
};
constexpr std::array<Signal, 3> signals{
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}}};

// The handler runs on whichever thread the signal comes to.
std::atomic<int> first_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal)) {
    // The default action ends the program with the status that shells expect.
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

SignalWatch::SignalWatch() {
  first_signal = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (std::size_t k = 0; k < before_.size(); ++k) {
    sigaction(signals[k].number, nullptr, &before_[k]);
    if (before_[k].sa_handler != SIG_IGN) sigaction(signals[k].number, &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  for (std::size_t k = 0; k < before_.size(); ++k)
    sigaction(signals[k].number, &before_[k], nullptr);
}

int SignalWatch::received() {
  const int it = first_signal;
  for (std::size_t k = 0; k < signals.size(); ++k)
    if (signals[k].number == it) return int(k) + 1;
  return 0;
}

const char* SignalWatch::name(int which) { return signals.at(std::size_t(which - 1)).name; }

}  // namespace perrin
