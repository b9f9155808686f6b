// Which traversal and which skin: what is chosen from the state of the system, and by what.
#pragma once

#include <optional>
#include <string>

#include "engine/system/particles.h"
#include "neighbor/cells/crowding.h"
#include "neighbor/ranges.h"
#include "neighbor/settings.h"

namespace perrin {

/// What was chosen, and the state it was chosen from: a resumed run must not choose again.
struct NeighborChoices {
  std::string traversal;  // its name
  double skin = 0;
  int lanes = 0;  // of verlet_list
  Crowding crowding{};
  Box box{};              // that cells are chosen for …
  double growth = 1;      // … and so much longer ones
  bool tilts = false;     // steps may change its tilts
  std::string sorting{};  // of interactions, by cells

  /// Cells for a box that has come to `now` and goes on changing, one way or the other.
  void cut_again(const Box& now);
  void state(Archive& archive);
};

/// What `settings` leave open, from where the particles are now. Waits for the device.
NeighborChoices choose_neighbors(const Particles& particles, const Ranges& ranges,
                                 const NeighborSettings& settings);

/// The skin of a traversal with lists: that of the settings, or in proportion to the ranges.
/// `per_particle`: of verlet_list.
double choose_skin(const Particles& particles, const Ranges& ranges, const Crowding& crowding,
                   const NeighborSettings& settings, bool per_particle);

/// What is wrong with a key of the settings, for a GPU or the CPU: "must be …, got …".
struct WrongSetting {
  std::string key, what;
};
std::optional<WrongSetting> wrong_setting(const NeighborSettings& settings, bool gpu);

/// For comparison: choices of a run with the same text are good for another one of it.
std::string what_choices_rest_on(const NeighborSettings& settings, const Ranges& ranges,
                                 std::size_t types, const Device& device);
/// The same of a checkpoint of an earlier version, in the words of this one.
std::string current_basis(std::string text);

}  // namespace perrin
