// SIGINT, SIGTERM and SIGHUP ask a run to end; a second one ends the program at once.
#pragma once

#include <array>
#include <csignal>

namespace perrin {

/// Takes over the signals for its lifetime; but what the program was started to ignore (nohup) it
/// goes on ignoring.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// Which signal came, from 1; 0: none.
  static int received();
  /// "SIGTERM".
  static const char* name(int which);

 private:
  std::array<struct sigaction, 3> before_{};
};

}  // namespace perrin
