// What processes that share a checkerboard tell one another: where the atoms are that each of them
// has moved.
#pragma once

#include "checkerboard_model.h"
#include "engine/device/buffer.h"
#include "engine/device/parallel.h"

namespace perrin::metropolis {

/// The domains of a colour are distributed as Decomposition::share() says. Atoms have the same
/// order in memory in all processes, and a domain's are next to one another.
class CheckerboardExchange {
 public:
  /// Needs memory where there are several processes with GPUs.
  CheckerboardExchange(const Device& device, std::int64_t atoms);

  /// Device work of all processes, each of which has moved the atoms in its share of the domains:
  /// afterwards all have all positions. One process has nothing to do.
  void complete(const CheckerboardColor& color, Buffer<Position>& position);

 private:
  void complete_on_cpu(const Decomposition& decomposition, const CheckerboardColor& color,
                       Position* position);
  void complete_on_gpu(Decomposition& decomposition, const CheckerboardColor& color,
                       Buffer<Position>& position);

  Device device_;
  // On the CPU: the positions of the colour, and where each domain's begin among them.
  std::vector<Position> packed_;
  std::vector<std::size_t> first_;
  // On GPUs: places of the atoms that go to each process and come from it.
  std::int64_t room_ = 0;
  Buffer<std::uint32_t> send_, receive_;  // [process][atom]
  Buffer<std::uint32_t> count_;           // [process]: sent; then received
};

}  // namespace perrin::metropolis
