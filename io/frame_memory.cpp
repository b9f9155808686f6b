#include "io/frame_memory.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace perrin::io {

struct FrameMemory::Blocks {
  Device device;
  std::size_t bytes = 0, most = 3;
  std::mutex mutex;
  std::condition_variable returned;
  std::vector<std::unique_ptr<HostMemory>> all;
  std::vector<std::byte*> free;
};

FrameMemory::FrameMemory(const Device& device, std::size_t block_bytes)
    : blocks_(std::make_shared<Blocks>()) {
  blocks_->device = device;
  blocks_->bytes = std::max<std::size_t>(block_bytes, 1);
  blocks_->most = std::max(blocks_->most, limit / blocks_->bytes);
}

std::shared_ptr<std::byte> FrameMemory::take() {
  Blocks& blocks = *blocks_;
  std::unique_lock lock(blocks.mutex);
  if (blocks.free.empty() && blocks.all.size() < blocks.most) {
    blocks.free.reserve(blocks.all.size() + 1);  // so that giving back cannot fail
    blocks.all.push_back(std::make_unique<HostMemory>(blocks.device, blocks.bytes));
    blocks.free.push_back(blocks.all.back()->data());
  }
  blocks.returned.wait(lock, [&] { return !blocks.free.empty(); });
  std::byte* const block = blocks.free.back();
  blocks.free.pop_back();
  lock.unlock();
  return {block, [holder = blocks_](std::byte* returned) {
            const std::lock_guard inner(holder->mutex);
            holder->free.push_back(returned);
            holder->returned.notify_all();
          }};
}

}  // namespace perrin::io
