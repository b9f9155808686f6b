// The cells of trial moves (engine/components/trial_moves.h): which there are, and who is in them.
#pragma once

#include <string>
#include <vector>

#include "engine/components/step_context.h"
#include "engine/components/trial_moves.h"
#include "neighbor/cells/cell_sort.h"
#include "rng/keyed.h"

namespace perrin::monte_carlo {

class TrialGrid {
 public:
  /// Cells are at least `range` wide in the present box; infinite: there is one. True: there are
  /// other cells than before.
  bool fit(const Particles& particles, double range);
  /// The cells of a sweep, shifted by a random vector, with all particles in them that are there
  /// (is_absent()): those of each colour, in random order. Device work. What is random is that of
  /// the step and of the round in it. `moved`: whether a particle has since the last time; if none
  /// has, one cell is left as it is.
  std::vector<TrialCells> sort(const StepContext& context, const RunKey& key,
                               std::uint32_t round = 0, bool moved = true);
  /// Of the fullest cell. Waits.
  std::uint32_t fullest();
  /// Of a colour.
  std::int64_t active() const { return grid_.active(); }
  int colours() const;
  /// For the console: "one in each cell at a time, 8 colours of 27 cells".
  std::string way() const;

 private:
  TrialCells cells();
  Vec3<std::int32_t> colour(int k) const;
  void put_in_cells(const StepContext& context, const TrialCells& view);

  TrialCells grid_{};       // without addresses
  bool unlimited_ = false;  // the range
  CellSort sort_;
  Buffer<Position> position_;
  Buffer<std::uint32_t> place_, id_, fullest_;
  // Cells behind those of the box have the particles that are not there: these, of which each has
  // few.
  std::int64_t hidden_ = 0;
  std::uint32_t first_absent_ = 0;  // type
};

}  // namespace perrin::monte_carlo
