// A configuration in a checkpoint: what components are made from when a run is resumed.
#pragma once

#include "engine/system/archive.h"
#include "engine/system/configuration.h"

namespace perrin {

/// Saves or restores everything but velocities and images, under "configuration/".
void archive_configuration(Archive& archive, Configuration& configuration);

/// A box. Throws UserError where what is restored cannot be one.
void archive_box(Archive& archive, const std::string& name, Box& box);

}  // namespace perrin
