// Signals that ask a run to end, and those that are no reason to.
#pragma once

#include <array>
#include <csignal>

namespace perrin {

/// For its lifetime SIGINT, SIGTERM, SIGHUP and the warnings of batch systems, SIGXCPU, SIGUSR1 and
/// SIGUSR2, are remembered for the run to end with a checkpoint. A second one of the first three
/// ends the program at once. What the program was started to ignore (nohup) it goes on ignoring;
/// handlers of others for the warnings stay. Afterwards warnings go on being heard, and do nothing:
/// one that comes while a program ends, its work being done, must not make a failure of it.
class SignalWatch {
 public:
  static constexpr std::size_t count = 6;
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// Which signal came first, from 1; 0: none.
  static int received();
  /// "SIGTERM".
  static const char* name(int which);

 private:
  std::array<struct sigaction, count> before_{};
};

/// Ignores a signal that would end the program, unless it is handled: SIGXFSZ and SIGPIPE,
/// for the call that failed says so as well (EFBIG, EPIPE), and is an error like others.
class IgnoredSignal {
 public:
  explicit IgnoredSignal(int number);
  ~IgnoredSignal();
  IgnoredSignal(const IgnoredSignal&) = delete;
  IgnoredSignal& operator=(const IgnoredSignal&) = delete;

 private:
  int number_;
  struct sigaction before_ {};
};

}  // namespace perrin
