// Multiple time steps by impulses: the slow part of the forces (Ewald's sum over wave vectors) acts
// in every n-th step of a stage, n times as strong, and in the others not at all. With integrators
// that kick velocities by half steps before and after the forces that is r-RESPA: time-reversible,
// and of second order in n dt. M. Tuckerman, B. J. Berne, G. J. Martyna, J. Chem. Phys. 97, 1990
// (1992); H. Grubmüller, H. Heller, A. Windemuth, K. Schulten, Mol. Simul. 6, 121 (1991).
#pragma once

#include <cstdint>

namespace perrin {

struct SlowForces {
  static constexpr std::int64_t most = 8;

  std::int64_t stride = 1;  // n
  std::uint64_t start = 0;  // the step at which the stage began

  /// Steps that are done of a cycle after so many steps of the job, from 0 to n - 1.
  std::int64_t phase(std::uint64_t steps) const {
    return std::int64_t((steps - start) % std::uint64_t(stride));
  }
  bool operator==(const SlowForces&) const = default;
};

}  // namespace perrin
