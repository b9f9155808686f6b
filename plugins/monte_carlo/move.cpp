#include "move.h"

#include <algorithm>

#include "engine/components/step_context.h"

namespace perrin::monte_carlo {

GroupOnDevice group_of(const StepContext& s, const std::string& name) {
  for (const Group& one : s.particles.groups)
    if (one.name() == name) return {s.device(), one};
  return {};
}

double least_height(const Box& box) {
  const Vec3<double> heights = box.heights();
  const double least = std::min(heights.x, heights.y);
  return box.dimension == 3 ? std::min(least, heights.z) : least;
}

}  // namespace perrin::monte_carlo
