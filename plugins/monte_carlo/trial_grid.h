// The cells of trial moves (engine/components/trial_moves.h): which there are, and who is in them.
#pragma once

#include "engine/components/step_context.h"
#include "engine/components/trial_moves.h"
#include "neighbor/cells/cell_sort.h"

namespace perrin::monte_carlo {

class TrialGrid {
 public:
  TrialGrid() = default;
  /// Cells are at least `range` wide.
  TrialGrid(const Particles& particles, double range);

  /// Sorts all particles into cells that are shifted by a vector. Device work.
  void sort(const StepContext& context, const Vec3<std::uint32_t>& shift);
  /// Of the fullest cell. Waits.
  std::uint32_t fullest();
  /// With the cells of colour 0.
  TrialCells cells();
  /// How many colours there are.
  int colours() const;
  /// Which is the k-th.
  Vec3<std::int32_t> colour(int k) const;

 private:
  TrialCells grid_{};  // without addresses
  CellSort sort_;
  Buffer<Position> position_;
  Buffer<std::uint32_t> place_, id_, fullest_;
};

}  // namespace perrin::monte_carlo
