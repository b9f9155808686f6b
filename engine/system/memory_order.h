// Bringing particles into another order in memory, for which there is a second set of the arrays
// that move with it.
#pragma once

#include <cstdint>

#include "engine/device/buffer.h"
#include "engine/device/share.h"
#include "engine/system/particle_arrays.h"
#include "engine/system/particle_buffers.h"

namespace perrin {

class MemoryOrder {
 public:
  /// `extra`: what components keep for these particles.
  MemoryOrder(ParticleBuffers& particles, ParticleArrays& extra);
  MemoryOrder(const MemoryOrder&) = delete;
  MemoryOrder& operator=(const MemoryOrder&) = delete;

  /// Reorders memory: new[i] = old[order[i]] for every array but the forces, which are computed
  /// afresh after a reordering (order is on the device). Device work only.
  void reorder(const Buffer<std::uint32_t>& order);

  // For those who do the reordering themselves (CellSort).
  /// Everything that moves when memory is reordered, but `index` and what components keep.
  struct Arrays {
    Position* position;
    Real4* velocity;
    Image* image;
    std::uint32_t* id;

    PERRIN_HD void copy(std::int64_t to, const Arrays& from, std::int64_t i) const {
      position[to] = from.position[i];
      velocity[to] = from.velocity[i];
      image[to] = from.image[i];
      id[to] = from.id[i];
    }
  };
  Arrays arrays();
  Arrays spare_arrays();  // room for a second set
  /// Copies the spare arrays back at these places. `positions` (size() elements, or nullptr)
  /// receives a copy of the positions in the new order. Device work.
  void copy_back(Position* positions, const Share& places);
  /// The spare arrays become the arrays; copy_back_buffers() must follow before anyone outside of
  /// the steps of a recording looks (data() of the buffers has changed). Host only.
  void swap_buffers();
  /// If the buffers are swapped: copies them to where they were. Device work.
  void copy_back_buffers();
  /// What swap_buffers() has to be seen as after a recording was halted in the middle.
  void assume_swapped(bool swapped);

 private:
  ParticleBuffers& particles_;
  ParticleArrays& extra_;
  Buffer<Position> position_;
  Buffer<Real4> velocity_;
  Buffer<Image> image_;
  Buffer<std::uint32_t> id_;
  bool swapped_ = false;
};

}  // namespace perrin
