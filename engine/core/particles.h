// Who is where: the particles on their device, in memory order.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/archive.h"
#include "engine/core/box.h"
#include "engine/core/buffer.h"
#include "engine/core/configuration.h"
#include "engine/core/particle_arrays.h"
#include "engine/core/partners.h"
#include "engine/core/share.h"

namespace perrin {

/// The arrays a kernel sees: plain pointers, index i in memory order, 0 … n-1.
struct ParticleView {
  std::int64_t n;
  Position* position;    // fixed-point fraction of the box, with the type
  Real4* velocity;       // length/time; w: 1/mass
  Real4* force;          // energy/length; w: potential energy where asked for
  Image* image;          // box crossings
  std::uint32_t* id;     // the particle's name for users and random numbers
  std::uint32_t* index;  // index[id]: where it is in memory now
};

struct Agreement;
struct Beside;
struct Ghosts;
struct SharedArray;

class Particles {
 public:
  /// Copies a configuration to the device. The box is the configuration's, padded by the caller.
  Particles(const Device& device, const Configuration& configuration);

  std::int64_t size() const { return position.size(); }
  const Device& device() const { return position.device(); }
  ParticleView view();

  // Several processes (engine/core/team.h); one alone takes care of all particles.
  /// Those that this process moves, and for which it computes forces: by their places in memory.
  Share share() const;
  bool velocities_travel = false;  // with positions: a force looks at those of neighbours
  bool others_are_near = false;    // no force looks further than its range
  /// Where forces do, but only at partners in bonds: who these are, since processes are sent their
  /// positions. nullptr: nobody looks further, or somebody at particles anywhere.
  std::unique_ptr<const Partners> partners;
  /// Steps sort each process's own particles alone: ids of others, and `index`, are those of ghosts
  /// until complete().
  bool sorted_apart = false;
  /// Device work of all processes: positions (and velocities) of all particles as they are now, and
  /// what `agreement` says; of others only `ghosts`, where these are given.
  void exchange_moved(const Agreement& agreement, const Ghosts* ghosts = nullptr);
  /// The same by Team::exchange_beside().
  void exchange_moved_beside(const Agreement& agreement, const Ghosts& ghosts,
                             const Beside& beside);
  /// Everything that moves when memory is reordered, but the positions if they are there already.
  void complete(bool positions, const Agreement& agreement);
  void complete(bool positions);
  /// The forces, too.
  void complete_all();
  /// Before particles are sorted, in a traversal that calls hand_over() then: what that needs.
  /// `positions`: not all of them are there yet.
  void complete_for_sort(bool positions);
  /// After they have been (the one at i was at order[i]).
  void hand_over(const std::uint32_t* order);
  /// Can each process sort its own particles? Not where more moves with them than the arrays that
  /// all particles have, or forces look for particles anywhere by `index`.
  bool can_be_sorted_apart() const {
    return (others_are_near || partners) && nothing_moves_along();
  }
  /// Particles in id order, back on the host. Positions are wrapped.
  Configuration configuration() const;

  Buffer<Position> position;
  Buffer<Real4> velocity, force;
  Buffer<Image> image;
  Buffer<std::uint32_t> id, index;
  bool box_moves = false;  // steps change the box, from here on
  Box box;                 // changed only by set_box() and by users of kept_box()
  std::vector<std::string> types;
  std::vector<double> charge, diameter;  // by id, as read
  Topology topology;                     // by id
  ParticleArrays extra;                  // that components keep (engine/core/particle_array.h)

  /// The metric of the box, for kernels.
  Current<Metric> metric() const { return {box.metric(), kept_metric_.data(), box_moves}; }
  /// Another box, from the host: particles keep their places in units of its edges.
  void set_box(const Box& box);
  /// Where device work that changes the box finds it. Afterwards it calls follow_box(), device work
  /// as well; the host's box of a CUDA device is old until look_at_box().
  Box* kept_box() { return device().is_cuda() ? kept_box_.data() : &box; }
  const Box* kept_box() const { return device().is_cuda() ? kept_box_.data() : &box; }
  void follow_box();
  void look_at_box();  // waits
  /// The box at the start of the job.
  const Box& given_box() const { return given_; }

  /// Reorders memory: new[i] = old[order[i]] for every array but the forces, which are computed
  /// afresh after a reordering (order is on the device). `extra` follows. Device work only.
  /// `positions` (size() elements, or nullptr) receives a copy of the positions in the new order.
  void reorder(const Buffer<std::uint32_t>& order, Position* positions = nullptr);

  /// Device work of all processes: an array by place in memory of which each has set its part.
  template <class T>
  void complete(Buffer<T>& array) {
    complete_bytes(array.data(), sizeof(T));
  }

  // For those who do the reordering themselves (CellSort).
  /// Everything that moves when memory is reordered, but index and `extra`.
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
  /// Copies the spare arrays back. `positions` as in reorder(). Device work.
  void copy_back(Position* positions) { copy_back(positions, {0, size()}); }
  void copy_back(Position* positions, const Share& of);  // these places alone
  /// The spare arrays become the arrays; settle() must follow before anyone outside of the steps of
  /// a recording looks (data() of the buffers has changed). Host only.
  void exchange();
  /// If the arrays are exchanged: copies them to where they were. Device work.
  void settle();
  /// What exchange() has to be seen as after a recording was halted in the middle.
  void assume_exchanged(bool exchanged);

  /// Everything by id, and which id is where in memory. Where the restored box is padded
  /// otherwise than this one, particles stay where they are in space.
  void state(Archive& archive);
  /// A per-particle array in memory order as a list by id, and back. Waits for the device.
  template <class T>
  std::vector<T> by_id(const Buffer<T>& array) const {
    const auto values = array.to_host();
    const auto ids = id.to_host();
    std::vector<T> sorted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) sorted[ids[i]] = values[i];
    return sorted;
  }
  template <class T>
  void assign_by_id(Buffer<T>& array, const std::vector<T>& values) {
    const auto ids = id.to_host();
    std::vector<T> in_memory(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) in_memory[i] = values[ids[i]];
    array.assign(in_memory);
  }

 private:
  Box given_;                   // at the start of the job
  Buffer<Box> kept_box_;        // on a CUDA device
  Buffer<Metric> kept_metric_;  // of it
  void check_restored(Archive& archive, const std::vector<Position>& type_of,
                      const std::vector<Real4>& mass_of) const;
  std::array<SharedArray, 2> moved_arrays();
  void complete_bytes(void* data, std::size_t bytes) const;
  bool nothing_moves_along() const;
  bool only_arrays() const { return !velocities_travel && nothing_moves_along(); }
  Buffer<Position> spare_position_;
  Buffer<Real4> spare_velocity_;
  Buffer<Image> spare_image_;
  Buffer<std::uint32_t> spare_id_;
  bool exchanged_ = false;
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
