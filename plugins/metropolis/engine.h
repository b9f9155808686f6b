// How trial moves are carried out: the same Markov chain by different means.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/metropolis/system.h"

namespace perrin::metropolis {

struct EngineOptions {
  std::uint64_t seed = 1;
  bool single_precision = false;  // of pair energies; sums of them are double in any case
  bool random_order = false;      // molecules are chosen at random, else one after the other
  int trials = 8;                 // checkerboard: of each atom per sweep
  double margin = 0;              // checkerboard: of lists beyond the cut-off, length; 0: chosen
  int warps = 0;                  // pipelined on a GPU: that share a group of moves; 0: chosen
  int band = 0;                   // the same: groups whose decisions are waited for last; 0: chosen
};

class MoveEngine {
 public:
  MoveEngine() = default;
  MoveEngine(const MoveEngine&) = delete;
  MoveEngine& operator=(const MoveEngine&) = delete;
  virtual ~MoveEngine() = default;

  /// Cycles first … first + n - 1 of every replica. A cycle is as many trial moves as there are
  /// molecules, from the numbers (seed, cycle, number of the move, replica). Updates sites,
  /// centres, orientations, energies and accepted counts of the system; may return before the
  /// device is done.
  virtual void run(std::int64_t first, std::int64_t n) = 0;
  /// Trial moves of one replica in a cycle.
  virtual std::int64_t moves_per_cycle() const = 0;
  virtual void set_sizes(const MoveSizes& sizes) = 0;
  /// The system was changed from outside: coordinates, box or temperatures.
  virtual void system_changed() {}
  /// Makes the system hold what the engine keeps in a form of its own.
  virtual void update_system() {}
};

/// "sequential", "reduction", "pipelined" or "checkerboard". Throws UserError where the engine
/// cannot do the model, with the reason. `system` outlives the engine.
std::unique_ptr<MoveEngine> make_engine(const std::string& name, System& system,
                                        const EngineOptions& options);

std::unique_ptr<MoveEngine> make_sequential(System& system, const EngineOptions& options);
std::unique_ptr<MoveEngine> make_reduction(System& system, const EngineOptions& options);
std::unique_ptr<MoveEngine> make_pipelined(System& system, const EngineOptions& options);

}  // namespace perrin::metropolis
