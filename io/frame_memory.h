// Memory for frames on their way to a file: a few blocks of the same size, lent and taken back.
#pragma once

#include <memory>

#include "engine/device/outgoing.h"

namespace perrin::io {

class FrameMemory {
 public:
  /// So much is lent at most, or three blocks, where three are more.
  static constexpr std::size_t limit = std::size_t(64) << 20;

  FrameMemory(const Device& device, std::size_t block_bytes);
  /// A free block; waits until there is one. It comes back, on any thread, when
  /// the last copy of the pointer goes. Blocks are allocated when they are first needed. Throws
  /// RunError.
  std::shared_ptr<std::byte> take();

 private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks_;  // outlives this with every block that is still lent
};

}  // namespace perrin::io
