// Forces that were computed elsewhere, by id, and the particles that they belong to. Device work.
#pragma once

#include <array>

#include "engine/core/buffer.h"
#include "engine/run/force.h"

namespace perrin {
class Simulation;
}

namespace perrin::python {

/// An array [n, 3] on the simulation's device in memory order; strides in numbers.
struct ForeignRows {
  const void* data;
  bool is_double;
  std::int64_t stride, step;  // from row to row, from number to number
};

/// kept[id] = { row, share } of each particle.
void keep_rows(Simulation& simulation, const ForeignRows& rows, Real share, Buffer<Real4>& kept);
/// Adds kept[id] to, or puts it into, every particle's force; `virial`: of all particles, spread
/// evenly.
void put_kept(Simulation& simulation, const Buffer<Real4>& kept,
              const std::array<double, 6>& virial, const ForceOutput& output);

}  // namespace perrin::python
