#include "io/xtc_trajectory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/file_units.h"
#include "io/xtc_coder.h"

namespace perrin {

XtcTrajectory::XtcTrajectory(const XtcSettings& settings, Setup& setup)
    : FrameObserver(settings.stride, setup.fixed_group(settings.group, "group"),
                    {.unwrapped = settings.positions == "unwrapped", .fine = true},
                    setup.output_file(settings.file, "file"), settings.decimals, setup) {
  const Group* const group = setup.fixed_group(settings.group, "group");
  if (const std::int64_t n = group ? group->count() : 0; n > std::int64_t(io::most_xtc_particles))
    setup.error(
        "", fmt::format("XTC frames hold at most {} particles, got {}", io::most_xtc_particles, n));
  check_range(settings, setup);
}

/// Of coordinates at the start, in the unit of the file, from the lower corner of the box.
void XtcTrajectory::check_range(const XtcSettings& settings, Setup& setup) {
  const Configuration& c = setup.configuration();
  const auto edges = c.box.edges();
  double farthest = 0;
  for (int axis = 0; axis < 3; ++axis)
    farthest = std::max(
        farthest, std::abs(edges[0][axis]) + std::abs(edges[1][axis]) + std::abs(edges[2][axis]));
  if (settings.positions == "unwrapped")
    for (std::size_t i = 0; i < c.image.size(); ++i)
      for (int axis = 0; axis < 3; ++axis) {
        double at = c.position[i][axis] - c.box.origin[axis];
        for (std::size_t k = 0; k < 3; ++k) at += double(c.image[i][int(k)]) * edges[k][axis];
        farthest = std::max(farthest, std::abs(at));
      }
  const io::FileUnit unit = io::file_length(setup.units());
  if (!unit.name.empty()) farthest *= unit.factor * io::convert_unit(unit.name, "nm", "xtc");
  const int fit = int(std::floor(std::log10(io::most_xtc_steps / farthest)));
  if (c.position.size() > io::most_plain_xtc && settings.decimals > fit)
    setup.error(
        "decimals",
        fmt::format("coordinates up to {:.6g} are beyond the 32 bits of XTC with {} "
                    "decimals: {}",
                    farthest, settings.decimals,
                    fit < 0 ? "use another format" : fmt::format("expected at most {}", fit)));
}

}  // namespace perrin
