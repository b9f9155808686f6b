// At which step each stage of a job began, and what it warned of at its end: for its files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/system/archive.h"

namespace perrin {

class StageLog {
 public:
  /// Of so many stages that have not begun.
  void reset(std::size_t stages);
  void begin(std::size_t stage, std::int64_t step) { steps_.at(stage) = step; }
  void remark(std::size_t stage, const std::string& text) { remarks_.at(stage) = text; }
  /// [stage]; -1: not yet.
  const std::vector<std::int64_t>& steps() const { return steps_; }
  /// [stage]; empty: nothing.
  const std::vector<std::string>& remarks() const { return remarks_; }
  /// While `stage` runs, at `step`. Restored may be the log of a job with more stages, or fewer.
  void state(Archive& archive, std::size_t stage, std::int64_t step);

 private:
  void state_of_steps(Archive& archive, std::size_t stage, std::int64_t step);
  void state_of_remarks(Archive& archive);
  std::vector<std::int64_t> steps_;
  std::vector<std::string> remarks_;
};

}  // namespace perrin
