// What a force says at the end of a stage.
#pragma once

#include <string>

namespace perrin {

class Box;

/// What a Force derives from as well that has limits which a run may pass.
class ForceRemark {
 public:
  virtual ~ForceRemark() = default;
  /// What of its results in a box like this is not what it promised at the start, in words; empty:
  /// nothing.
  virtual std::string remark(const Box& box) const = 0;
};

}  // namespace perrin
