// What the move of one particle changes of its energy with another one, pair by pair: the job's
// forces between pairs are asked for trial moves, each among a cell with a single particle.
#pragma once

#include <vector>

#include "engine/components/trial_moves.h"
#include "trial_energies.h"

namespace perrin::monte_carlo {

class PairChanges {
 public:
  void begin(const StepContext& context);

  /// A particle that stays, for the pairs added from here on. `place`: in memory.
  void start(const Position& at, std::uint32_t place, std::uint32_t id);
  /// A particle that goes from one place to another.
  void add(std::uint32_t place, const Position& from, const Position& to);
  std::size_t count() const { return moves_.size(); }
  void clear();
  /// Of all pairs, in the order in which they were added. Waits.
  std::vector<double> measure(StepContext& context);

 private:
  std::vector<TrialMove> moves_;
  // Of those that stay.
  std::vector<Position> position_;
  std::vector<std::uint32_t> place_, id_;
  std::vector<std::size_t> first_;  // move
  TrialEnergies energies_;
  Buffer<Position> position_on_device_;
  Buffer<std::uint32_t> place_on_device_, id_on_device_, start_;
};

}  // namespace perrin::monte_carlo
