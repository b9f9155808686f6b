// What trial moves change of the energy of all forces of a job.
#pragma once

#include <functional>
#include <vector>

#include "engine/components/coupled_trials.h"
#include "engine/components/step_context.h"
#include "engine/components/trial_moves.h"
#include "engine/device/buffer.h"

namespace perrin::monte_carlo {

/// Whether trials have to be made one after another: all particles meet in some force.
bool trials_are_coupled(const StepContext& context);
/// The least width of cells of trial moves that are as wide as `range` for forces with ranges:
/// infinite, so that there is one, where trials are made one after another.
double width_of_cells(const StepContext& context, double range);

class TrialEnergies {
 public:
  /// Room for so many moves at a time. `bonded`: forces on bonds, angles and dihedrals are asked,
  /// too.
  void begin(const StepContext& context, std::int64_t moves, bool bonded);
  std::int64_t room() const { return move_.size(); }
  /// Are there forces that see a particle where it is in memory, and nowhere else?
  bool has_fields() const { return fields_; }

  TrialMove* move() { return move_.data(); }                                // [move], for pairs
  std::vector<TrialMove> moves_on_host() const { return move_.to_host(); }  // waits
  /// [move]: which particle moves in memory, for all other forces; TrialMove::none: none does.
  std::uint32_t* place() { return place_.data(); }
  double* change() { return change_.data(); }  // [move]: what is found is added

  struct Asked {
    const std::uint32_t* molecule = nullptr;  // as TrialMoves::molecule
    bool inserted = false;  // what fields say of where the particles were is no part of it
    /// All particles of a term are among the places: each has its share of the term. Else the terms
    /// of different moves are different ones.
    bool whole_terms = false;
    const Real4* turn = nullptr;  // as TrialMoves::turn …
    std::uint32_t together = 1;   // … and TrialMoves::together
  };
  /// Where all particles meet in some force, and trials are made one after another: before the
  /// first one of a sweep, and after the decision on each. `asked`: as what was measured. Device
  /// work.
  void begin_trials(StepContext& context);
  void follow_trial(StepContext& context, const TrialCells& cells, std::int64_t count,
                    const Asked& asked);
  /// Of the first `count` moves. `go` puts the particles where they move to, and is called if and
  /// only if there are fields. Device work.
  void measure(StepContext& context, const TrialCells& cells, std::int64_t count,
               const std::function<void()>& go, const Asked& asked);
  void measure(StepContext& context, const TrialCells& cells, std::int64_t count,
               const std::function<void()>& go) {
    measure(context, cells, count, go, {});
  }
  /// Of forces in which all particles meet, what measure_pairs() leaves out. Device work.
  void measure_coupled(StepContext& context, const TrialCells& cells, std::int64_t count,
                       const Asked& asked);
  /// Of forces between pairs alone, of `count` moves from `first` on. `asked`: of these moves.
  /// Device work.
  void measure_pairs(StepContext& context, const TrialCells& cells, std::int64_t first,
                     std::int64_t count, const Asked& asked);
  void measure_pairs(StepContext& context, const TrialCells& cells, std::int64_t first,
                     std::int64_t count) {
    measure_pairs(context, cells, first, count, {});
  }

 private:
  bool asks(const Force& force) const;
  TrialMoves trials(const StepContext& context, const TrialCells& cells, std::int64_t first,
                    std::int64_t count, const Asked& asked);
  void add_fields(StepContext& context, std::int64_t count, bool after, bool whole_terms);

  bool fields_ = false, bonded_ = true;
  std::vector<CoupledTrials*> coupled_;
  Buffer<TrialMove> move_;
  Buffer<std::uint32_t> place_;
  Buffer<double> change_;
  Buffer<Real4> energy_;  // by place, of one force: of particles that may move
};

}  // namespace perrin::monte_carlo
