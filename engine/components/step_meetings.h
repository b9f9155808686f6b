// Where several integrators of one stage wait for each other within a step.
#pragma once

namespace perrin {

/// What is done once for all of them.
enum class StepMeeting { neighbors, forces };

class StepMeetings {
 public:
  virtual ~StepMeetings() = default;
  /// Returns when all integrators have come here. True for one of them, which does the work before
  /// the others return.
  virtual bool meet(StepMeeting meeting) = 0;
};

}  // namespace perrin
