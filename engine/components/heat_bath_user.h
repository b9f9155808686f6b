// What an observer derives from that takes the temperature of a stage's heat bath.
#pragma once

#include <string>

namespace perrin {

/// Beside Observer, of one that measures a chemical potential. A job is refused where a stage in
/// which it acts has no heat bath (or baths of different temperatures), and warned of one in which
/// particles are driven by no potential.
class HeatBathUser {
 public:
  virtual ~HeatBathUser() = default;
  /// The setting of its own that would say the temperature; empty: it does, and no bath is needed.
  virtual std::string missing_temperature() const = 0;
};

}  // namespace perrin
