// Forces that the host computes in every step.
#pragma once

namespace perrin {

/// A Force that derives from it may wait for the device and allocate in compute(): on a GPU no step
/// of a job with such a force is recorded, which costs the launches of every kernel (some 5 µs
/// each).
class Unrecorded {
 public:
  virtual ~Unrecorded() = default;
};

}  // namespace perrin
