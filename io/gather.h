// Particle data in id order, as files want them, gathered on the device. On a GPU they are copied
// out beside what it computes next.
#pragma once

#include <optional>

#include "engine/device/outgoing.h"
#include "engine/system/particles.h"
#include "io/frame_memory.h"
#include "io/h5md_file.h"

namespace perrin::io {

class FrameGather {
 public:
  struct Wants {
    bool velocity = false, force = false, image = false, species = false;
    bool unwrapped = false;  // positions with image counters, not inside of the box
    bool fine = false;       // positions in double precision, to 2^-40 of the edges
    // Of particles that have orientations.
    bool orientation = false, angular_momentum = false, torque = false;
    /// Ids are wanted, -1 for particles of a type from this one on, which are not there.
    std::optional<std::uint32_t> absent_from{};
  };
  /// Of n particles, or of these (ids in ascending order), unless that is empty.
  FrameGather(const Device& device, std::int64_t n, const Wants& wants,
              const std::vector<std::uint32_t>& members = {});
  /// Positions, box and what is wanted; step and time are left to the caller. The arrays are there
  /// when the frame has arrived. Waits while all memory for frames is lent (io/frame_memory.h).
  H5mdFrame operator()(const Particles& particles);

 private:
  /// Where in a block an array begins, and how long it is; nothing where it is not wanted.
  struct Place {
    std::size_t begin = 0, bytes = 0;
    template <class T>
    T* in(std::byte* block) const {
      return bytes > 0 ? reinterpret_cast<T*>(block + begin) : nullptr;
    }
    template <class T>
    FrameArray<T> array(const std::shared_ptr<std::byte>& block) const {
      return {block, {in<const T>(block.get()), bytes / sizeof(T)}};
    }
  };
  Place place(std::size_t bytes);

  std::int64_t n_;
  Buffer<std::uint32_t> members_;  // ids; empty: all
  bool unwrapped_;
  std::size_t bytes_ = 0;  // of a block
  std::uint32_t absent_from_;
  Place position_, fine_position_, velocity_, force_, image_, species_, orientation_,
      angular_momentum_, torque_, id_;
  FrameMemory memory_;
  Buffer<std::byte> gathered_;  // a block on the GPU
  OutgoingCopies copies_;       // last: ends when all have arrived
};

}  // namespace perrin::io
