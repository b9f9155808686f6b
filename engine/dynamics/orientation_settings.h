// The "orientations" of a job: which way particles look at the start, and their moments of inertia.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>

#include "engine/settings/settings.h"
#include "engine/system/configuration.h"

namespace perrin {

struct OrientationSettings {
  std::string start = "default";
  std::map<std::string, std::array<double, 3>> moments_of_inertia;
};
template <class D>
void describe(D& d, OrientationSettings& s) {
  d.example("{\"start\": \"random\", \"moments_of_inertia\": {\"A\": [0.1, 0.1, 0.1]}}");
  d.optional(
      "start", s.start, OneOf{"default", "random", "aligned"},
      "random: each drawn by itself, in two dimensions an angle about z; aligned: the frame "
      "of every particle is that of the box. Default: those of the system's file, or random");
  d.optional("moments_of_inertia", s.moments_of_inertia, NonNegative{},
             "by particle type: about the x, y and z axes of the particle's own frame (mass "
             "length^2); 0: no rotation about this axis. In two dimensions the last one counts. "
             "Types that are not named do not turn, except in overdamped motion, which needs none");
}

/// Gives the particles of `configuration` orientations. `report` takes mistakes with their paths.
void resolve_orientations(
    const OrientationSettings& settings, Configuration& configuration, std::uint64_t seed,
    const std::function<void(const std::string&, const std::string&)>& report);
/// Draws angular momenta by particle id, such that all together have the temperature exactly.
void draw_angular_momenta(Configuration& configuration, double kt, std::uint64_t seed);

}  // namespace perrin
