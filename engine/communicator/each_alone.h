// Work that each of several processes does by itself, such as the systems of an ensemble.
#pragma once

#include "engine/communicator/communicator.h"

namespace perrin {

/// While it lives, Communicator::world() is in all threads of this process one process alone, and
/// everything that is made works as if no other had been started. The processes that the launcher
/// has started speak by all(), in the main thread. Made and destroyed while no other thread works;
/// what is made meanwhile must not outlive it.
class EachAlone {
 public:
  EachAlone();
  ~EachAlone();
  EachAlone(const EachAlone&) = delete;
  EachAlone& operator=(const EachAlone&) = delete;

  Communicator& all() const { return all_; }

 private:
  Communicator& all_;
  Communicator* before_;
};

}  // namespace perrin
