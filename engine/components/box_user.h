// Whether an observer's result has a meaning in a box that changes. Job::check_boxes() asks before
// a run.
#pragma once

#include <string>

namespace perrin {

/// An observer derives from it beside Observer. An observer that does not derive from it accepts
/// every box.
class BoxUser {
 public:
  virtual ~BoxUser() = default;
  /// Does the result have a meaning where a barostat changes the box from sample to sample?
  virtual bool follows_box() const { return true; }
  /// Does it have a meaning in a stage that deforms or shears the box?
  virtual bool follows_deformation() const { return follows_box(); }
  /// What the user is warned of where the box changes. Empty: nothing.
  virtual std::string caveat() const { return {}; }
};

}  // namespace perrin
