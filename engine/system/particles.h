// Who is where: the particles on their device, in memory order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/device/share.h"
#include "engine/system/archive.h"
#include "engine/system/box_state.h"
#include "engine/system/configuration.h"
#include "engine/system/domain.h"
#include "engine/system/memory_order.h"
#include "engine/system/particle_arrays.h"
#include "engine/system/particle_buffers.h"
#include "engine/system/particle_properties.h"

namespace perrin {

class Orientations;

/// What a kernel sees of the arrays that only looks: plain pointers as those of a ParticleView.
struct ConstParticleView {
  std::int64_t n;
  const Position* position;
  const Real4 *velocity, *force;
  const Image* image;
  const std::uint32_t *id, *index;
};

/// The arrays a kernel sees: plain pointers, index i in memory order, 0 … n-1.
struct ParticleView {
  std::int64_t n;
  Position* position;    // fixed-point fraction of the box, with the type
  Real4* velocity;       // length/time; w: 1/mass
  Real4* force;          // energy/length; w: potential energy where asked for
  Image* image;          // box crossings
  std::uint32_t* id;     // the particle's name for users and random numbers
  std::uint32_t* index;  // index[id]: where it is in memory now

  PERRIN_HD operator ConstParticleView() const {
    return {n, position, velocity, force, image, id, index};
  }
};

class Particles : public ParticleBuffers {
 public:
  /// Copies a configuration to the device. The box is the configuration's, padded by the caller.
  Particles(const Device& device, const Configuration& configuration);
  ~Particles();
  Particles(const Particles&) = delete;
  Particles& operator=(const Particles&) = delete;

  ParticleView view();
  ConstParticleView view() const;
  /// Those that this process moves, and for which it computes forces (Domain::share()).
  Share share() const { return domain_.share(); }
  /// Particles in id order, back on the host. Positions are wrapped.
  Configuration configuration() const;

  /// As the host knows it (BoxState::host()).
  const Box& box() const { return box_state_.host(); }
  BoxState& box_state() { return box_state_; }
  const BoxState& box_state() const { return box_state_; }
  /// The metric of the box, for kernels.
  Current<Metric> metric() const { return box_state_.metric(); }

  /// What the job says of them by their ids.
  const ParticleProperties& properties() const { return properties_; }
  /// For who changes it while a job runs, and has all follow that have read it
  /// (engine/dynamics/scheduled_changes.h).
  ParticleProperties& change_properties() { return properties_; }

  /// That components keep (engine/system/particle_array.h).
  ParticleArrays& extra() { return extra_; }
  const ParticleArrays& extra() const { return extra_; }
  /// What processes send one another of the particles.
  Domain& domain() { return domain_; }
  const Domain& domain() const { return domain_; }
  /// nullptr: particles have none.
  Orientations* orientations() { return orientations_.get(); }
  const Orientations* orientations() const { return orientations_.get(); }
  /// Which particle is where in memory, and how that is changed.
  MemoryOrder& memory_order() { return memory_order_; }

  /// Everything by id, and which id is where in memory. Where the restored box is padded
  /// otherwise than this one, particles stay where they are in space.
  void state(Archive& archive);
  /// A per-particle array in memory order as a list by id, and back. Waits for the device.
  template <class T>
  std::vector<T> by_id(const Buffer<T>& array) const {
    const auto values = array.to_host();
    const auto ids = id().to_host();
    std::vector<T> sorted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) sorted[ids[i]] = values[i];
    return sorted;
  }
  template <class T>
  void assign_by_id(Buffer<T>& array, const std::vector<T>& values) {
    const auto ids = id().to_host();
    std::vector<T> in_memory(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) in_memory[i] = values[ids[i]];
    array.assign(in_memory);
  }

 private:
  void check_restored(Archive& archive, const std::vector<Position>& type_of,
                      const std::vector<Real4>& mass_of) const;

  BoxState box_state_;
  ParticleProperties properties_;
  ParticleArrays extra_;
  Domain domain_{*this, extra_};
  MemoryOrder memory_order_{*this, extra_};
  std::unique_ptr<Orientations> orientations_;
};

/// Throws UserError unless a record of a checkpoint is of as many particles as there are.
void check_particle_count(const std::string& name, std::int64_t count, std::int64_t particles);

/// Saves or restores an array in memory order: by id, so that it finds its particles whatever their
/// order in memory is. After the particles.
template <class T>
void archive_by_id(Archive& archive, const std::string& name, Particles& particles,
                   Buffer<T>& array) {
  std::vector<T> values;
  if (archive.is_saving()) values = particles.by_id(array);
  archive(name, values);
  if (archive.is_saving()) return;
  check_particle_count(name, std::int64_t(values.size()), particles.size());
  particles.assign_by_id(array, values);
}

}  // namespace perrin
