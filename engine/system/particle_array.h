// An array that an integrator, a force or a stage keeps for the particles.
#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/system/archive.h"
#include "engine/system/particle_arrays.h"
#include "engine/system/particles.h"

namespace perrin {

/// A T of every particle, 0 at first. What the index is says what follows from it. As long as the
/// array lives, it is reordered with the memory of the particles and migrates with them from
/// process to process (IndexedBy::memory); and all processes are given what each has set for its
/// own particles (Particles::share()), whenever they are given all particles. state() saves each
/// particle's element so that a resumed run finds it.
///
/// Kernels take data(), which never changes; moving the object moves no data. Make it in begin() or
/// in a constructor, not within a step, and not without need: an array that lives is work in every
/// gathering, and those that go with particles keep several GPUs from sorting each its own.
template <class T>
class ParticleArray {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);

 public:
  ParticleArray() = default;  // of no particles
  ParticleArray(Particles& particles, IndexedBy by)
      : particles_(&particles),
        own_(particles.device(), particles.size()),
        array_(particles.extra().add(own_.data(), sizeof(T), by)) {}
  /// Of elements by id that another object keeps, as long as this one lives.
  ParticleArray(Particles& particles, T* elements)
      : particles_(&particles), array_(particles.extra().add(elements, sizeof(T), IndexedBy::id)) {}

  /// False: of no particles; data() is then nullptr.
  explicit operator bool() const { return array_ != nullptr; }
  std::int64_t size() const { return array_ ? array_->n : 0; }
  T* data() { return array_ ? static_cast<T*>(array_->data) : nullptr; }
  const T* data() const { return array_ ? static_cast<const T*>(array_->data) : nullptr; }

  /// By its index. Waits for the device.
  std::vector<T> to_host() const {
    std::vector<T> values(static_cast<std::size_t>(size()));
    if (!values.empty())
      particles_->device().memory().copy_out(values.data(), data(), values.size() * sizeof(T));
    return values;
  }
  /// As many values as there are particles.
  void assign(std::span<const T> values) {
    PERRIN_ASSERT(std::int64_t(values.size()) == size());
    if (!values.empty())
      particles_->device().memory().copy_in(data(), values.data(), values.size_bytes());
  }
  /// Saves or restores it; after the particles. What goes with particles is saved by id.
  void state(Archive& archive, const std::string& name) {
    if (array_ && array_->by == IndexedBy::memory)
      return archive_by_id(archive, name, *particles_, own_);
    std::vector<T> values;
    if (archive.is_saving()) values = to_host();
    archive(name, values);
    if (archive.is_saving()) return;
    check_particle_count(name, std::int64_t(values.size()), size());
    assign(values);
  }

 private:
  Particles* particles_ = nullptr;
  Buffer<T> own_;  // the elements, if no other object keeps them
  std::shared_ptr<const ParticleArrays::Array> array_;
};

}  // namespace perrin
