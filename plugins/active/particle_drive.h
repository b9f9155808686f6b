// What drives each particle where an attribute says it, not its type.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "engine/device/buffer.h"
#include "engine/formula/program.h"

namespace perrin::active {

class ParticleDrive {
 public:
  /// Reports an attribute that the system does not have, or that may be below 0 where a particle is
  /// moved, at `key`.
  ParticleDrive(const std::string& attribute, const std::string& key, Setup& setup);
  /// [type]: no particle has more, at any time; where nothing is known of later times, at the
  /// start.
  const std::vector<double>& largest() const { return largest_; }
  /// For Integrator::begin(): `of_speed` is what the attribute gives to a step, and in proportion
  /// to it.
  void begin(StageContext& s, std::function<double(double)> of_speed);
  void follow(const std::map<std::string, std::vector<double>>& changed);
  /// By id, of the step that begins. Device work.
  const Real* of_step(StepContext& s);

 private:
  void find_bounds(const std::string& key, Setup& setup);
  void take_change(const Configuration& c);
  void tabulate();

  std::string name_;
  bool updates_ = false;
  std::vector<double> values_;   // [id]; of one that changes with the time, at the start
  std::vector<double> largest_;  // [type]
  std::function<double(double)> of_speed_;
  Buffer<Real> drive_;  // [id]
  // Of one that changes with the time.
  std::vector<formula::Instruction> program_;  // of the time and of the columns
  int column_count_ = 0;
  std::vector<double> columns_;  // [column · n + id]: attributes at the start
  Buffer<formula::Instruction> code_;
  Buffer<double> inputs_;
};

}  // namespace perrin::active
