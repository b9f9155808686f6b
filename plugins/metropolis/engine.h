// How trial moves are carried out: the same Markov chain by different means.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine_options.h"
#include "system.h"
#include "totals.h"

namespace perrin::metropolis {

class MoveEngine {
 public:
  /// `system` outlives the engine.
  MoveEngine(System& system, const ChainOptions& chain) : system_(system), chain_(chain) {}
  MoveEngine(const MoveEngine&) = delete;
  MoveEngine& operator=(const MoveEngine&) = delete;
  virtual ~MoveEngine() = default;

  /// Cycles first … first + n - 1 of every replica. A cycle is as many trial moves as there are
  /// molecules, from the numbers (seed, cycle, number of the move, replica). Updates sites,
  /// centres, orientations, energies and accepted counts of the system; may return before the
  /// device is done.
  virtual void run(std::int64_t first, std::int64_t n) = 0;
  /// Trial moves of one replica in a cycle.
  virtual std::int64_t moves_per_cycle() const { return system_.molecules(); }
  /// Whether moves have an order, so that there is an energy after each (System::step_energies()).
  virtual bool moves_in_order() const { return true; }
  virtual void set_sizes(const MoveSizes& sizes) = 0;
  /// The system was changed from outside: coordinates, box or temperatures.
  virtual void system_changed() {}
  /// Makes the system hold what the engine keeps in a form of its own.
  virtual void update_system() {}
  /// What of its own it needs to go on with the same bits. Restored after system_changed().
  virtual void state(Archive&) {}
  /// Of each replica, from the coordinates alone; also right for a box that has just been changed.
  /// Waits.
  virtual std::vector<Totals> totals();

 protected:
  System& system_;
  ChainOptions chain_;
};

std::unique_ptr<MoveEngine> make_sequential(System& system, const ChainOptions& chain);
std::unique_ptr<MoveEngine> make_reduction(System& system, const ChainOptions& chain);
std::unique_ptr<MoveEngine> make_pipelined(System& system, const ChainOptions& chain,
                                           const PipelinedOptions& options);

}  // namespace perrin::metropolis
