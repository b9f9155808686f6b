// Where several integrators of one stage wait for each other within a step.
#pragma once

#include "engine/system/group.h"

namespace perrin {

class StepContext;

/// What is done once for all of them.
enum class StepMeeting { neighbors, box, forces };

/// A loop over the particles of one integrator that a GPU can make together with that of another:
/// small systems wait for launches, large ones for memory.
struct GroupPass {
  const void* body;  // stays where it is until the pass is done
  GroupMask group;
  const char* name;
  bool early;  // may begin before the forces are known
  /// Launches one, or two that have the same `run`. Device work.
  void (*run)(StepContext& context, const GroupPass& one, const GroupPass* other);
};

class StepMeetings {
 public:
  virtual ~StepMeetings() = default;
  /// Returns when all integrators have come here. True for one of them, which does the work before
  /// the others return.
  virtual bool meet(StepMeeting meeting) = 0;
  /// Returns when the pass is launched.
  virtual void meet(const GroupPass& pass) = 0;
};

}  // namespace perrin
