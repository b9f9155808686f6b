// What must be true of the forces before a system can run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace perrin {

class Simulation;

/// A force that cannot be right at the start.
struct WrongStart {
  std::size_t force;  // index in Simulation::forces
  std::string what, advice;
  std::uint32_t particle;  // by id
  bool finite;
};

/// Looks whether a force at the start is not finite, or would (`timestep` > 0) move its particle
/// further than a step may; says which of the forces it is and which particle, for forces between
/// particles which are the closest, and what to do: something else where the first stage
/// `minimises` the energy already. Computes the forces if they are not there.
std::optional<WrongStart> check_start(Simulation& simulation, double timestep,
                                      bool minimises = false);

}  // namespace perrin
