// What forces give to pairs that pair forces leave out ("exclusions"), of trial moves.
#pragma once

#include "engine/components/trial_moves.h"

namespace perrin {

class StepContext;

/// What a Force derives from as well that acts between excluded partners, too: the part of those
/// charges, say, that stand around two of them.
class HasExcludedEnergies {
 public:
  virtual ~HasExcludedEnergies() = default;
  /// Adds to trials.change[k] what move k changes of its particle's energies with its excluded
  /// partners, which are where they are in memory, but for those of its own TrialMoves::molecule.
  /// Who has no TrialMove::slot has no partners. Device work.
  virtual void add_excluded(StepContext& context, const TrialMoves& trials) = 0;
};

}  // namespace perrin
