// What the host wants to know when recorded steps are done, for one wait.
#pragma once

#include <cstdint>

#include "engine/device/device.h"

namespace perrin {

/// A place in the host's memory into which a kernel of a CUDA device writes. Not for the CPU.
class HostStatus {
 public:
  struct Seen {
    std::uint64_t number;
    std::uint32_t halt;  // not 0: the device is halted
  };
  explicit HostStatus(const Device& device);
  ~HostStatus();
  HostStatus(const HostStatus&) = delete;
  HostStatus& operator=(const HostStatus&) = delete;
  /// Waits for the work given so far. `number` is on the device.
  Seen look(const std::uint64_t* number);

 private:
  Device device_;
  Seen* seen_ = nullptr;
};

}  // namespace perrin
