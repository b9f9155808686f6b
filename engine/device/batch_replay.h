// What recordings and looks of a simulation ask of the batch that it is a member of
// (engine/device/batch.h).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/device/launch_list.h"

namespace perrin {

class BatchReplay {
 public:
  /// In the fiber of a member: what was noted is done `times` times. Returns when it is launched.
  virtual void replay(int member, const std::shared_ptr<const LaunchList>& list, int times) = 0;
  /// What a member's steps have come to, when all that was launched is done.
  struct Seen {
    std::uint64_t number;
    std::uint32_t halt;
  };
  virtual Seen look(int member, const std::uint64_t* number, const std::uint32_t* halt) = 0;
  /// The member has done recorded steps by itself.
  virtual void works_alone(int member) = 0;
  /// What the member is watched by is no more.
  virtual void forget(int member) = 0;

 protected:
  ~BatchReplay() = default;
};

}  // namespace perrin
