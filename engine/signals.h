// SIGINT and SIGTERM ask a run to end; a second one ends the program at once.
#pragma once

namespace perrin {

/// Takes over the two signals for its lifetime.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// The signal that came ("SIGTERM"), or nullptr.
  static const char* received();
};

}  // namespace perrin
