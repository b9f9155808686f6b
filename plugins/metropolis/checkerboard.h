// Metropolis sampling of many atoms with short-ranged pair energies: domains of a checkerboard are
// updated concurrently.
//
// One sweep: the grid of cells is shifted by a random vector, the particles are sorted into it, and
// its eight colours (parities of the cell's coordinates) are taken in random order. Cells of one
// colour are at least a cut-off apart and particles may not leave them, so whatever happens in one
// does not concern the others: each is a Metropolis chain of its own under fixed surroundings. In
// it every particle, in the order of the ids, makes `trials` attempts in a row. Which particles a
// cell holds does not change in the meantime; nothing that decides who moves when depends on
// positions. Hence every colour keeps the Boltzmann distribution, and the random shifts make the
// chain reach every state. (Domains with moves over their faces rejected: Uhlherr et al., Comput.
// Phys. Commun. 144, 1 (2002); the shifted checkerboard on GPUs: Anderson et al., J. Comput. Phys.
// 254, 27 (2013).)
//
// The random numbers of a trial are those of (seed, sweep, id, trial); sums have fixed orders.
// Results repeat bit for bit on a device, whatever the number of threads. CPU and GPU attempt the
// same moves; the energies differ in the last bits, and some day so does a decision.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/box.h"
#include "engine/device.h"

namespace perrin::metropolis {

struct CheckerboardOptions {
  double kT = 1;      // energy units
  double step = 0.1;  // largest displacement along each axis (length)
  int trials = 4;     // of each particle and sweep, one after the other
  std::uint64_t seed = 1;
  double margin = 0.3;  // of the lists of candidates beyond the cut-off (length); speed only
  int lanes = 0;        // GPU threads per domain: 8, 16 or 32; 0: the best
};

struct CheckerboardTotals {
  double energy = 0;  // of all pairs within the cut-off
  double virial = 0;  // sum of r · F over the pairs
};

class Checkerboard {
 public:
  virtual ~Checkerboard() = default;
  Checkerboard() = default;
  Checkerboard(const Checkerboard&) = delete;
  Checkerboard& operator=(const Checkerboard&) = delete;

  /// Device work only; may be called again before the device has finished.
  virtual void run(std::int64_t sweeps) = 0;

  /// By id. Waits.
  virtual std::vector<Position> positions() const = 0;
  virtual void set_positions(const std::vector<Position>& position) = 0;
  /// The energy as accumulated since the last recompute() or set_positions(), in double. Waits.
  virtual double energy() const = 0;
  /// From the positions alone, in double; energy() then starts from it. Waits.
  virtual CheckerboardTotals recompute() = 0;

  virtual std::int64_t sweep() const = 0;  // that comes next; part of the keys of random numbers
  virtual void set_sweep(std::int64_t sweep) = 0;
  virtual std::uint64_t tried() const = 0;
  virtual std::uint64_t accepted() const = 0;  // waits
  virtual double step() const = 0;
  virtual void set_step(double step) = 0;
  virtual Vec3<std::int32_t> cells() const = 0;
  /// Largest number of particles that a domain needs to see, of those when the engine was made.
  virtual int staged() const = 0;
};

}  // namespace perrin::metropolis
