// A function that can stop in the middle and go on later, on a stack of its own.
#pragma once

#include <functional>
#include <memory>

namespace perrin {

/// Runs a function in pieces, in the calling thread. Two of them take turns where each would
/// otherwise have to be cut into callbacks (several integrators within one step:
/// engine/dynamics/group_integrators.h). Not for functions that switch to others within a catch
/// block.
class Fiber {
 public:
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();  // cancels

  /// Leaves a function that has not ended by an exception, so that its objects are destroyed.
  void cancel();
  /// What resume() will run. The one before has ended.
  void start(std::function<void()> function);
  /// Runs the function until it calls wait() or ends. Throws what it throws.
  void resume();
  /// Whether the function has ended, or none was given.
  bool done() const;
  /// Called by the function: resume() returns, and the next resume() goes on behind this.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perrin
