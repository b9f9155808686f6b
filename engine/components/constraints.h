// Constraints: distances between particles that stay as they are, by forces along them (SHAKE and
// RATTLE; engine/components/constraint_solver.h).
//
// Integrators know nothing of it. When a step has moved particles freely, they are moved to where
// distances are right, along the directions that these had before, and velocities follow. To the
// forces of a step those are added that keep the half step of velocities after it from changing
// distances: velocities are then right at the end of the step. These forces are in the next step's
// first half as well, where they only bring particles closer to where they must be.
//
// A cluster of constraints that share particles is solved by one thread, in every process that has
// a particle of it, from the positions, velocities and forces that all processes are given.
#pragma once

#include <cstdint>

#include "engine/components/constraint_solver.h"
#include "engine/device/buffer.h"
#include "engine/system/configuration.h"

namespace perrin {

class Particles;
struct FaultSink;
namespace detail {
struct ConstraintArrays;
}

class Constraints {
 public:
  /// Of a topology with constraints. A cluster has `most` particles at most.
  Constraints(const Device& device, const Topology& topology);
  static constexpr std::int64_t most = 64;
  static constexpr double usual_tolerance = 1e-8;
  static constexpr std::int64_t usual_iterations = 2000;
  /// Relative tolerance of lengths (that of velocities is the same in one step), and sweeps over a
  /// cluster, at most: more is a fault.
  void set_accuracy(double tolerance, std::int64_t iterations);

  /// In steps that are launched from here on: to heat, by place in memory, that an integrator
  /// counts as it draws velocities, what of it was along constraints is not added after all. The
  /// way of a particle must then be that of the mean of its velocities before and after. nullptr:
  /// nobody counts.
  void count_heat(double* heat) { heat_ = heat; }

  // Device work of all processes; each of them has all positions (GhostNeeds::Positions::all).
  /// Before steps are made: directions are those of where particles are now.
  void look(Particles& particles) const;
  /// Particles have moved freely for a time step: to where distances are right. A particle that
  /// must move further than `limit` (length) is a fault.
  void move(Particles& particles, const FaultSink& faults, double timestep, Real limit) const;
  /// Adds to the forces what keeps distances when velocities are changed by these for half a step.
  /// Within steps, between the forces and the velocities.
  void hold(Particles& particles, const FaultSink& faults, double half_step) const;
  /// Adds to forces, by place in memory, those that hold the distances at the present positions and
  /// velocities, and to the virial, unless that is nullptr, their part. virial: as in ForceOutput.
  void add_forces(Particles& particles, const FaultSink& faults, Buffer<Real4>& force,
                  Real* virial) const;

 private:
  detail::ConstraintArrays arrays(Particles& particles, const FaultSink& faults) const;

  double* heat_ = nullptr;
  double tolerance_ = usual_tolerance;
  std::int64_t iterations_ = usual_iterations, clusters_ = 0;
  Buffer<std::uint32_t> particle_, first_, pairs_from_;  // ConstraintClusters
  Buffer<ConstraintPair> pair_;
  // What one thread at a time works with, a cluster of it.
  mutable Buffer<Vec3<double>> along_, from_;  // [pair]
  mutable Buffer<Vec3<double>> work_;          // [particle]
  mutable Buffer<double> rate_, impulse_;      // [pair]
  mutable Buffer<double> inverse_mass_;        // [particle]
};

}  // namespace perrin
