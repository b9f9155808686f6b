// Rigid bodies: particles, the centres, that carry others, their sites. Integrators move and turn
// the centres alone; sites are put where their bodies are, and what forces do to them is added up
// for the centres.
#pragma once

#include <cstdint>

#include "engine/device/buffer.h"
#include "engine/system/configuration.h"
#include "engine/system/group.h"

namespace perrin {

class Particles;
struct FaultSink;
struct Flow;
struct MoveCheck;

class RigidBodies {
 public:
  /// Of a topology with bodies (Topology::body).
  RigidBodies(const Device& device, const Topology& topology);
  /// For passes over what integrators move: all particles but sites.
  GroupMask moved() const { return {moved_.data(), 1}; }
  /// Particles that are sites.
  std::int64_t sites() const { return sites_.size(); }
  /// The longest way from a centre to a site (length).
  double extent() const { return extent_; }

  // Device work of all processes; each of them has all positions (GhostNeeds::Positions::all).
  /// Puts the sites where their bodies are, with the velocities of rigid motion, relative to the
  /// flow of the box (StepContext::flow()) at this step, if there is one. A site that moves
  /// further than `limit` (length) is a fault. `check` as for kernels that move particles.
  void place(Particles& particles, const FaultSink& faults, Real limit, const MoveCheck& check,
             const Flow* flow, const std::uint64_t* step) const;
  /// The box has changed, and with it the places of particles in units of its edges: puts the sites
  /// where their bodies are. Which particles are neighbours is not asked again.
  void follow_box(Particles& particles) const;
  /// Adds the forces on sites, and their torques, to those of the centres. `add_torque`: torques
  /// have been computed in this step.
  void collect(Particles& particles, bool add_torque) const;
  /// The same for forces that are not those of the step, by place in memory. Sites have none
  /// afterwards.
  void take(Particles& particles, Buffer<Real4>& force, Buffer<Real4>& torque,
            bool add_torque) const;
  /// Takes the part of the virial that holds the bodies together, of sites with these forces: what
  /// is left is the virial of the centres. virial: as in ForceOutput.
  void correct_virial(Particles& particles, const Real4* force, Real* virial) const;

  struct Site {
    Real4 at;  // in the frame of the body
    std::uint32_t id, center;
  };
  static constexpr std::uint32_t no_site = 0xffffffffu;

 private:
  void gather_centers(Particles& particles) const;
  void add_up(Particles& particles, Buffer<Real4>& force, Buffer<Real4>& torque, bool add_torque,
              bool take) const;

  Buffer<Site> sites_;             // body by body
  Buffer<std::uint32_t> begin_;    // [body]: its first site; and the end
  Buffer<std::uint32_t> site_of_;  // [id]: its place in sites_, or no_site
  Buffer<std::uint8_t> moved_;     // [id]
  std::int64_t bodies_ = 0;
  double extent_ = 0;
};

}  // namespace perrin
