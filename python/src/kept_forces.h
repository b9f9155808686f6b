// Forces that were computed elsewhere, by id, and the particles that they belong to. Device work.
#pragma once

#include "engine/components/force.h"
#include "engine/device/buffer.h"
#include "engine/device/condition.h"

namespace perrin {
class StepContext;
}

namespace perrin::python {

/// The number of an instant that has not been.
constexpr std::uint64_t never = ~std::uint64_t(0);

/// What a function sees of particles: float64 [n, 3] by id in the units of the job; nullptr: not
/// wanted.
struct Shown {
  double *positions = nullptr, *unwrapped = nullptr, *velocities = nullptr;
  std::int64_t* step = nullptr;  // number of the instant
};
void show_particles(StepContext& context, const Shown& shown);

/// An array [n, 3] on the simulation's device; strides in numbers.
struct ForeignRows {
  const void* data;
  bool is_double;
  std::int64_t stride, step;  // from row to row, from number to number
  bool flat;                  // two dimensions: the third number is taken as 0
};

/// kept[id] = { row, share } of each particle; rows are in memory order.
void keep_rows(StepContext& context, const ForeignRows& rows, Real share, Buffer<Real4>& kept);

/// What a captured function has computed, on the simulation's device.
struct Returned {
  ForeignRows forces;             // by id
  const double *energy, *virial;  // of all particles; nullptr: 0
};
/// Where it is kept.
struct Kept {
  Real4* force;  // by id; w: the share of the energy
  double* virial;
  std::uint64_t* instant;  // that forces are kept of
};
/// Raises the condition, which is not raised, if this instant is a multiple of `stride`, or nothing
/// is kept, unless its forces are kept.
void raise_if_due(StepContext& context, std::int64_t stride, const std::uint64_t* kept_instant,
                  const Condition& due);
void keep_returned(StepContext& context, const Returned& returned, const Kept& kept);

/// Adds kept[id] to, or puts it into, every particle's force; `virial`: of all particles, six
/// numbers on the device, spread evenly.
void put_kept(StepContext& context, const Buffer<Real4>& kept, const Buffer<double>& virial,
              const ForceOutput& output);

}  // namespace perrin::python
