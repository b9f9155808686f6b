// Whether a stage has the temperature of its heat bath: from what observers of totals see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/system/archive.h"

namespace perrin {

struct Instant;
class Integrator;
class Simulation;

/// A mean of correlated samples, and its error by blocks of 1, 2, 4, … samples.
/// H. Flyvbjerg, H. G. Petersen, J. Chem. Phys. 91, 461 (1989).
class BlockedMean {
 public:
  void add(double x);
  std::int64_t count() const { return level_.empty() ? 0 : std::int64_t(level_[0].count); }
  double mean() const;
  /// The largest standard error of the levels that have at least eight blocks; 0 without one.
  double error() const;
  void state(Archive& archive, const std::string& name);

 private:
  struct Level {
    double sum = 0, squares = 0, count = 0;
    double waiting = 0, waits = 0;  // the first of a pair of blocks, if there is one
  };
  std::vector<Level> level_;
};

/// Samples of the second half of a stage.
class TemperatureWatch {
 public:
  /// At an instant at which the totals are known; `done` of `steps` steps of the stage are made.
  void add(const Simulation& simulation, const Instant& instant, const Integrator& integrator,
           std::int64_t done, std::int64_t steps);
  /// What is to be said at the end of the stage: a mean temperature that is off that of the bath by
  /// more than five standard errors and 2 %, or a drift of the whole that holds much of the kinetic
  /// energy. Empty: nothing.
  std::string verdict(const Simulation& simulation) const;
  void state(Archive& archive);

 private:
  BlockedMean excess_;         // k_B T less that of the bath
  double bath_ = 0, all_ = 0;  // k_B T of the bath, and the measured, summed up
  double drift_ = 0;           // k_B T that the motion of the centre of mass amounts to, summed up
  double samples_ = 0;
};

}  // namespace perrin
