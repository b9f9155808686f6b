// The last frame of a trajectory, small enough for a page.
#pragma once

#include <string>

#include "engine/settings/settings.h"

namespace perrin::report {

/// What the trajectory holds, and of its last frame that can be read up to 20 000 particles: all,
/// or whole molecules (particles, where there are none) chosen at random, the same for the same
/// file. Positions are fractions of the edges in 16 bits. Throws UserError where no frame can be
/// read.
Json frame_view(const std::string& path, const std::string& format);

}  // namespace perrin::report
