// What of a job has no meaning without velocities, or with those of a whole that is driven.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/components/force.h"
#include "engine/components/observer.h"
#include "engine/components/stage.h"
#include "engine/system/configuration.h"

namespace perrin {

/// Of one observer, the stages it is called in ([stage]; empty: all) and their names: what it
/// measures of velocities in a stage of overdamped motion, which has none. Empty: nothing.
std::string without_velocities(const Observer& observer, const std::vector<bool>& called,
                               const std::vector<std::unique_ptr<Stage>>& stages,
                               const std::vector<std::string>& names);

/// Of one force, the stages and their names: friction and noise between particles whose velocities
/// do not move. Empty: nothing of the kind.
std::string without_velocities(const Force& force,
                               const std::vector<std::unique_ptr<Stage>>& stages,
                               const std::vector<std::string>& names);

/// Of one stage: constant forces that do not add up to 0 drive the whole, and a thermostat of total
/// velocities takes its motion for heat. Empty: nothing of the kind.
std::string drives_the_whole(const Stage& stage, const Configuration& configuration,
                             const std::vector<std::unique_ptr<Force>>& forces);

}  // namespace perrin
