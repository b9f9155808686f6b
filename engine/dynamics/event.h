// "when" of an observer's schedule: a formula of totals that becomes true.
#pragma once

#include <string>
#include <vector>

#include "engine/components/instant.h"
#include "engine/formula/program.h"
#include "engine/system/archive.h"

namespace perrin {

class Event {
 public:
  /// Of step, time, temperature, kinetic_energy, potential_energy, total_energy, pressure, volume
  /// and density. Throws UserError.
  explicit Event(const std::string& text);
  /// Whether it is true at this instant and was not at the one before, or there was none.
  bool happens(const Instant& instant);
  void state(Archive& archive);

 private:
  std::vector<formula::Instruction> code_;
  bool was_true_ = false;
};

}  // namespace perrin
