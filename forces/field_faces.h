// Fields that jump at the faces of a periodic box.
#pragma once

#include <functional>
#include <string>

#include "engine/base/real.h"

namespace perrin {

class Setup;

inline constexpr const char* unwrapped_help =
    "true: unwrapped coordinates (with image counters), so that the field may have any period; "
    "false: along periodic axes, coordinates of the image nearest to 0";

/// Compares the energy of a field at opposite faces of each periodic axis, at many points and, of a
/// field that is `timed`, at times from 0 to 10^6, and warns at `key` where they differ by more
/// than a thousandth of what the energy varies by. `energy`: at a point of the box, at a time.
void warn_of_faces(Setup& setup, const std::string& key, bool timed,
                   const std::function<double(Vec3<double>, double)>& energy);

}  // namespace perrin
