// Rigid bodies of a type that are inserted and removed: who belongs to each, and the trials of one
// round, one in each active cell.
//
// They are those of single particles (insertion.h), of the bodies that lie in one cell with all
// their particles. A body is put with its centre at a random place of the cell, turned at random;
// that is no trial for the energies if a site is in another cell. Of removals n is the number of
// bodies that lie in the cell as a whole. Both choose among the same states, so that acceptances
// are those of single particles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/components/step_context.h"
#include "engine/components/trial_moves.h"
#include "engine/device/buffer.h"

namespace perrin::monte_carlo {

class BodyInsertions {
 public:
  /// Of the bodies whose centres are of this type, where there are any. When a stage begins.
  void begin(const StepContext& context, std::uint32_t type);
  /// Are there such bodies?
  bool has_any() const { return !row_.empty(); }
  /// Particles of each of them; without bodies 1.
  std::uint32_t size() const { return size_; }
  /// The ids of a body, by that of its centre, which is the first.
  std::span<const std::uint32_t> ids(std::uint32_t center) const {
    return {member_.data() + std::size_t(row_[center]) * size_, size_};
  }
  /// The longest way from a centre to a site (length).
  double extent() const { return extent_; }

  struct Round {
    TrialCells cells;
    RunKey key;
    std::uint32_t round;
    double log_of_zv;    // of the activity and the volume of a cell
    std::uint32_t like;  // centre of a body whose particles have the types of those there
    TrialMove* move;     // [active cell · size() + particle of the body]
    std::uint32_t* place;
    double* change;
    float* log_of_uniform;  // [active cell] …
    std::uint32_t* outcome;
    TrialCounts* counts;
  };
  /// Device work.
  void propose(StepContext& context, const Round& round);
  /// [active cell]: how those that were put are turned. Waits.
  std::vector<Real4> turns() const { return turned_.to_host(); }

 private:
  std::uint32_t size_ = 1, type_ = 0;
  double extent_ = 0;
  std::vector<std::uint32_t> member_, row_;  // [row · size], and [id] of centres; empty: no bodies
  Buffer<std::uint32_t> members_, rows_;     // the same
  Buffer<Real3> at_;                         // [particle of a body]: in its frame
  Buffer<Real4> turned_;
};

}  // namespace perrin::monte_carlo
