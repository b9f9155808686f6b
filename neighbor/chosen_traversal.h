// The traversal of a simulation: which one, from the settings and the state of the system, made
// anew where the box has outgrown it.
#pragma once

#include <string>

#include "neighbor/choices.h"
#include "neighbor/exclusions.h"
#include "neighbor/traversal.h"

namespace perrin {

class ChosenTraversal {
 public:
  /// `choices`: those of an earlier run, or nullptr. Throws UserError if the longest range exceeds
  /// half the box, or the settings have no traversal for the device.
  ChosenTraversal(Particles& particles, const Ranges& ranges, const NeighborSettings& settings,
                  const NeighborChoices* choices);
  ChosenTraversal(const ChosenTraversal&) = delete;
  ChosenTraversal& operator=(const ChosenTraversal&) = delete;

  /// f(traversal) for the one there is, with its type.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(f, traversal_);
  }
  /// To be changed: std::visit(f, traversal.get()).
  Traversal& get() { return traversal_; }

  const Ranges& ranges() const { return ranges_; }
  double range() const { return ranges_.longest(); }
  const NeighborChoices& choices() const { return choices_; }
  double skin() const { return choices_.skin; }
  ExclusionView exclusions() const { return exclusions_.view(); }
  const char* name() const;
  /// Are there lists? Else pairs are searched by every pair_loop().
  bool has_lists() const;
  /// Is it known which positions of other domains lists lead to?
  bool plans_halo() const;
  /// Does each domain sort its own particles?
  bool sorts_locally() const;
  /// Do pair loops make lists that do not hold any more?
  bool builds_in_pair_loops() const;
  /// Makes them before pair loops. Device work.
  /// Does it move particles to the domains whose share they have come into (Domain::migrate())?
  bool migrates() const;
  /// Does a build look for bonded neighbours of other domains, and has the last one missed some
  /// of this domain?
  bool looks_for_partners() const;
  bool misses_partners() const;
  /// Without lists: for the kernel that moves the particles.
  TileCounter counter();
  /// Do the cells serve the box as it is on the device? Waits.
  bool holds() const;
  /// Halts the device if they do not. Device work.
  void require_cut();
  /// After a halt or a build: true if something was full, and there is more room now; or another
  /// traversal.
  bool enlarge();
  /// "clusters, skin 0.25".
  std::string report() const;

  // Another traversal; recorded steps are void.
  /// The same with the same choices.
  void remake();
  /// Its cells serve tilts that change, too. False: they do already.
  bool expect_tilts();
  /// Pairs that are left out are those of the particles' topology as it is now; `again`: the
  /// traversal is made anew in any case. False: it is the same as before. Waits.
  bool follow_topology(bool again);
  /// Cells for a box that is a little smaller or larger, and a skin that it has room for. Waits.
  void cut_again();

 private:
  TraversalInput input() const;
  template <std::size_t K = 0>
  Traversal make() const;
  void fall_back(const Crowding& crowding);
  bool fits() const;

  Particles& particles_;
  const Ranges ranges_;
  const NeighborSettings settings_;
  Exclusions exclusions_;
  NeighborChoices choices_;
  Traversal traversal_;
};

/// Half of the smallest height along a periodic axis.
double half_of_box(const Box& box);

}  // namespace perrin
