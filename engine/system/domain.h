// Which particles this process takes care of, and what it is sent of the others
// (engine/domain/decomposition.h). With one process, that is all of them, and calls do nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/device/share.h"
#include "engine/system/particle_arrays.h"
#include "engine/system/particle_buffers.h"
#include "engine/system/partners.h"

namespace perrin {

class Decomposition;
struct Votes;
struct Overlap;
struct HaloPlan;
struct SharedArray;

/// What forces read of particles beside those that they act on: what ghosts must have.
struct GhostNeeds {
  enum class Positions {
    neighbors,  // within the range of pair forces
    bonded,     // and of partners in bonds, angles, dihedrals and impropers
    all         // of any particle
  };
  Positions positions = Positions::all;
  bool velocities = false;  // of neighbours, too
};

class Domain {
 public:
  /// `extra`: what components keep for these particles.
  Domain(ParticleBuffers& particles, ParticleArrays& extra)
      : particles_(particles), extra_(extra) {}
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  /// The particles that this process moves, and for which it computes forces: by their places in
  /// memory.
  Share share() const;
  /// What the forces of the simulation read; for partners, their bonds and the box at the start.
  /// Before the first exchange; waits.
  void require(const GhostNeeds& needs, const Topology& topology, const Box& box);
  const GhostNeeds& needs() const { return needs_; }
  /// Who shares bonds with whom, if processes are sent the positions of partners; else nullptr.
  const Partners* partners() const { return partners_.get(); }
  /// Partners have come too far apart: from here on all positions are sent.
  void forget_partners() { partners_.reset(); }
  /// Do forces read no positions of others but those of ghosts?
  bool ghosts_suffice() const {
    return needs_.positions == GhostNeeds::Positions::neighbors || partners_;
  }
  /// May each process sort its own particles? Not where forces look for particles anywhere by
  /// `index`; and on GPUs not where more moves with them than the arrays that all particles have.
  bool can_sort_locally() const {
    return ghosts_suffice() && (nothing_moves_along() || !particles_.device().is_cuda());
  }
  /// Whether it does: ids of others, and `index`, are then those of ghosts until gather().
  bool sorts_locally() const { return sorts_locally_; }
  void set_sorts_locally(bool local) { sorts_locally_ = local; }

  // Device work of all processes; all of them call it.
  /// Positions (and velocities, if forces read them) of all particles as they are now, and what
  /// `votes` says; of others only `ghosts`, where these are given.
  void exchange(const Votes& votes, const HaloPlan* ghosts = nullptr);
  /// The same by Decomposition::exchange_overlapped().
  void exchange_overlapped(const Votes& votes, const HaloPlan& ghosts, const Overlap& beside);
  /// Everything that moves when memory is reordered, but the positions if they are there already.
  void gather(bool positions, const Votes& votes);
  void gather(bool positions);
  /// The same where each process has sorted its own particles alone.
  void gather_if_sorted_locally();
  /// The forces, too.
  void gather_all();
  /// An array by place in memory of which each process has set its part.
  template <class T>
  void gather(Buffer<T>& array) const {
    gather_bytes(array.data(), sizeof(T));
  }
  /// Before particles are sorted, in a traversal that calls migrate() then: what that needs.
  /// `positions`: not all of them are there yet.
  void gather_for_sort(bool positions);
  /// After they have been (the one at i was at order[i]): those that have come into another
  /// process's share go there.
  void migrate(const std::uint32_t* order);

 private:
  Decomposition& decomposition() const;
  std::array<SharedArray, 2> moved_arrays() const;
  void gather_bytes(void* data, std::size_t bytes) const;
  bool nothing_moves_along() const;
  bool only_arrays() const { return !needs_.velocities && nothing_moves_along(); }

  ParticleBuffers& particles_;
  ParticleArrays& extra_;
  GhostNeeds needs_;
  std::unique_ptr<const Partners> partners_;
  bool sorts_locally_ = false;
};

}  // namespace perrin
