// Copies from a device to the host that are made while the device computes on.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/device/device.h"

namespace perrin {

/// Memory of the host that such copies fill; page-locked where the device is a GPU.
class HostMemory {
 public:
  /// Throws RunError where there is none.
  HostMemory(const Device& device, std::size_t bytes);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();
  std::byte* data() const { return data_; }

 private:
  Device device_;
  std::byte* data_ = nullptr;
};

/// The end of a copy that may still be under way.
class Arrival {
 public:
  Arrival() = default;  // has arrived
  /// On any thread. Throws RunError.
  void wait() const;

 private:
  friend class OutgoingCopies;
  struct Event;
  std::shared_ptr<const Event> event_;
};

/// Where copies are made beside a device's work: a second stream. On the CPU they are made at once.
class OutgoingCopies {
 public:
  explicit OutgoingCopies(const Device& device);
  OutgoingCopies(const OutgoingCopies&) = delete;
  OutgoingCopies& operator=(const OutgoingCopies&) = delete;
  ~OutgoingCopies();
  /// Work that the device is given from here on waits for the copies so far: before what they read
  /// is written again.
  void hold_device() const;
  /// Copies what is there after the work that the device was given so far. `host`: in HostMemory,
  /// which must stay until the copy has arrived.
  Arrival copy(void* host, const void* device, std::size_t bytes);

 private:
  struct Stream;
  Device device_;
  std::shared_ptr<Stream> stream_;
  Arrival last_;
};

}  // namespace perrin
