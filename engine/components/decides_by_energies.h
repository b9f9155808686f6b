// What asks forces for energies of particles elsewhere, and decides by these.
#pragma once

namespace perrin {

/// What an Integrator or an Observer derives from as well that makes trial moves or insertions. A
/// field on a group that is chosen anew by places is no potential for it: who is in the group was
/// chosen before the move.
class DecidesByEnergies {
 public:
  virtual ~DecidesByEnergies() = default;
};

}  // namespace perrin
