// The arrays beside their own that Particles take along: every ParticleArray that lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/device/share.h"

namespace perrin {

struct SharedArray;

/// What the index of a ParticleArray is, and so what happens to its elements when particles change
/// their places in memory.
enum class IndexedBy {
  memory,  // the particle's place in memory: elements go where their particles go
  id,      // the particle's id: elements stay
  place,   // a place in memory, whichever particle is there: elements stay; their sum counts alone
};

/// The ParticleArrays (engine/system/particle_array.h) of one system.
class ParticleArrays {
 public:
  struct Array {
    void* data;         // on the device
    std::size_t bytes;  // of an element
    std::int64_t n;
    IndexedBy by;
    Buffer<std::byte> packed;  // several processes, by id: the elements in the order of memory
  };

  /// Numbers by id that stay what they are, and their copy in the order of memory. Of each element
  /// the first words are copied, of four bytes.
  struct OrderedCopy {
    const void* by_id;
    std::int64_t words_by_id;  // of an element
    void* in_memory;
    std::int64_t words;  // of its copy
  };

  ParticleArrays(const Device& device, std::int64_t n) : device_(device), n_(n) {}
  /// n elements at `data`, which belong to the particles as long as the caller keeps what is
  /// returned. Not while steps are being recorded.
  std::shared_ptr<const Array> add(void* data, std::size_t bytes, IndexedBy by);
  bool any(IndexedBy by) const;
  /// Keeps the copy in order, as long as the caller keeps what is returned: it is made anew
  /// whenever memory is reordered. With one process; where there are several, ghosts come and go.
  /// Not while steps are being recorded.
  std::shared_ptr<const OrderedCopy> add(const OrderedCopy& copy);
  /// Makes a copy now; id: of the particle in each place. Device work.
  void refresh(const OrderedCopy& copy, const std::uint32_t* id) const;

  /// After memory was reordered (the particle at i was at order[i], and has the id id[i]): elements
  /// follow. Device work.
  void reorder(const std::uint32_t* order, const std::uint32_t* id);

  /// On the CPU: what single particles have in the arrays by memory and by id, for a process that
  /// sends them to another one. Valid as long as no array comes or goes.
  class Elements {
   public:
    std::size_t bytes() const { return bytes_; }  // of one particle
    void copy_from(std::int64_t place, std::uint32_t id, unsigned char* to) const;
    void copy_to(std::int64_t place, std::uint32_t id, const unsigned char* from) const;

   private:
    friend class ParticleArrays;
    std::vector<std::shared_ptr<Array>> arrays_;
    std::size_t bytes_ = 0;
  };
  Elements elements() const;

  // For an exchange between processes, of all elements in the order of memory. Device work.
  /// Puts the elements of these particles in that order; id: [place in memory].
  void pack(const std::uint32_t* id, const Share& particles) const;
  void unpack(const std::uint32_t* id, const Share& particles) const;
  void append_to(std::vector<SharedArray>& arrays) const;

 private:
  std::vector<std::shared_ptr<Array>> living() const;
  void copy_by_id(const std::uint32_t* id, const Share& particles, bool back) const;

  Device device_;
  std::int64_t n_;
  std::vector<std::weak_ptr<Array>> arrays_;
  std::vector<std::weak_ptr<const OrderedCopy>> copies_;
  Buffer<std::byte> scratch_;  // for the largest that is reordered
};

}  // namespace perrin
