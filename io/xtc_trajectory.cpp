#include "io/xtc_trajectory.h"

#include <fmt/format.h>

#include "io/xtc_coder.h"

namespace perrin {

XtcTrajectory::XtcTrajectory(const XtcSettings& settings, Setup& setup)
    : FrameObserver(settings.stride, {.unwrapped = settings.positions == "unwrapped", .fine = true},
                    setup.output_file(settings.file, "file"), settings.decimals, setup) {
  if (const auto n = setup.configuration().position.size(); n > io::most_xtc_particles)
    setup.error(
        "", fmt::format("XTC frames hold at most {} particles, got {}", io::most_xtc_particles, n));
}

}  // namespace perrin
