// What recordings and looks of a simulation ask of the batch that it is a member of
// (engine/device/batch.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/device/device.h"
#include "engine/device/launch_list.h"

namespace perrin {

class BatchReplay {
 public:
  /// In the fiber of a member: what was noted is done `times` times. Returns when it is launched.
  virtual void replay(int member, const std::shared_ptr<const LaunchList>& list, int times) = 0;
  /// The member's next replay() comes between steps: members that wait with steps wait until all
  /// such work is done, so that steps stay those of all. False: the member is not in its fiber, and
  /// must not replay anything.
  virtual bool comes_between(int member) = 0;
  /// What a member's steps have come to, when all that was launched is done.
  struct Seen {
    std::uint64_t number;
    std::uint32_t halt;
  };
  virtual Seen look(int member, const std::uint64_t* number, const std::uint32_t* halt) = 0;
  /// Copies to the host, as DeviceMemory::copy_out() does: what members fetch again and again is
  /// copied for all of them at once.
  virtual void fetch(int member, void* to, const void* from, std::size_t bytes) = 0;
  /// Writes a word before any later work of the member: those that members write while they wait
  /// for each other are written by one launch. False: the member is being set up.
  virtual bool put(int member, std::uint32_t* word, std::uint32_t value) = 0;
  /// What the member has put() must be there.
  virtual void settle(int member) = 0;
  /// The member gives work to the device by itself.
  virtual void works_alone(int member) = 0;
  /// What the member is watched by is no more.
  virtual void forget(int member) = 0;

 protected:
  ~BatchReplay() = default;
};

/// Writes a word on a device; not while work is recorded. Of a member of a batch with those of
/// others, where that can be.
void put_word(const Device& device, std::uint32_t* word, std::uint32_t value);

}  // namespace perrin
