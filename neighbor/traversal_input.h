// What every traversal (neighbor/traversal.h) is made from, and what a list is given to build.
#pragma once

#include "engine/system/particles.h"
#include "neighbor/cells/crowding.h"
#include "neighbor/exclusions.h"
#include "neighbor/ranges.h"
#include "neighbor/settings.h"

namespace perrin {

/// The particles and what the exclusions point to must outlive the traversal.
struct TraversalInput {
  Particles& particles;
  Ranges ranges;  // how far particles interact, without the skin
  double skin;    // 0 without lists
  Crowding crowding;
  NeighborSettings settings;
  ExclusionView exclusions;
  Box box;             // that cells are chosen for: no height of the particles' box may be less …
  double growth = 1;   // … and none longer by more than this factor
  bool tilts = false;  // steps may change its tilts: it may not be taken to be orthogonal

  Ranges reaches() const { return with_skin(ranges, skin); }
};

/// What happens beside the building of a list, unless something was full.
struct ListBuild {
  Position* reference;   // receives the positions, in the new order in memory
  std::uint32_t* flag;   // set to 0
  std::int64_t* builds;  // one more
};

/// Loop bodies for that.
struct CopyPositions {
  Position* to;
  const Position* from;
  PERRIN_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};
struct FinishBuild {
  std::uint32_t* flag;
  std::int64_t* builds;
  PERRIN_HD void operator()(std::int64_t) const {
    *flag = 0;
    *builds += 1;
  }
};

/// What a traversal without lists is told in every step.
struct StepSort {
  bool may_exchange;  // the arrays of particles may be left swapped (MemoryOrder)
  bool in_step;       // of an integrator, not in between
  // As ListBuild, where memory is brought into order in this step; flag[1] is the traversal's own.
  std::uint32_t* flag;
  std::int64_t* builds;
  // For traversals in which each domain sorts its own particles: see Votes.
  std::uint32_t* progress;
  std::uint32_t step;
};

}  // namespace perrin
