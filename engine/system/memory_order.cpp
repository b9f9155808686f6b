#include "engine/system/memory_order.h"

#include "engine/device/parallel.h"

namespace perrin {
namespace {

struct GatherEverything {
  MemoryOrder::Arrays to, from;
  const std::uint32_t* order;
  std::uint32_t* index;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t k = order[i];
    to.copy(i, from, k);
    index[from.id[k]] = std::uint32_t(i);
  }
};

struct CopyEverything {
  MemoryOrder::Arrays to, from;
  Position* positions;
  PERRIN_HD void operator()(std::int64_t i) const {
    to.copy(i, from, i);
    if (positions) positions[i] = from.position[i];
  }
};

}  // namespace

MemoryOrder::MemoryOrder(ParticleBuffers& particles, ParticleArrays& extra)
    : particles_(particles),
      extra_(extra),
      position_(particles.device(), particles.size()),
      velocity_(particles.device(), particles.size()),
      image_(particles.device(), particles.size()),
      id_(particles.device(), particles.size()) {}

MemoryOrder::Arrays MemoryOrder::arrays() {
  return {particles_.position().data(), particles_.velocity().data(), particles_.image().data(),
          particles_.id().data()};
}

MemoryOrder::Arrays MemoryOrder::spare_arrays() {
  return {position_.data(), velocity_.data(), image_.data(), id_.data()};
}

void MemoryOrder::copy_back(Position* positions, const Share& places) {
  for_each(particles_.device(), "keep the new order", places,
           CopyEverything{arrays(), spare_arrays(), positions});
}

void MemoryOrder::swap_buffers() {
  particles_.position().swap(position_), particles_.velocity().swap(velocity_);
  particles_.image().swap(image_), particles_.id().swap(id_);
  swapped_ = !swapped_;
}

void MemoryOrder::copy_back_buffers() {
  if (!swapped_) return;
  swap_buffers();
  copy_back(nullptr, {0, particles_.size()});
}

void MemoryOrder::assume_swapped(bool swapped) {
  if (swapped != swapped_) swap_buffers();
}

void MemoryOrder::reorder(const Buffer<std::uint32_t>& order) {
  for_each(particles_.device(), "reorder particles", particles_.size(),
           GatherEverything{spare_arrays(), arrays(), order.data(), particles_.index().data()});
  copy_back(nullptr, {0, particles_.size()});
  extra_.reorder(order.data(), particles_.id().data());
}

}  // namespace perrin
