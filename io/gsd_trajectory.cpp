#include "io/gsd_trajectory.h"

#include <fmt/format.h>

#include <algorithm>

namespace perrin {
namespace {

io::GsdLayout layout_of(const GsdSettings& settings, const Setup& setup) {
  const auto wants = [&](const char* name) {
    return std::ranges::count(settings.quantities, name) > 0;
  };
  io::GsdLayout layout;
  layout.dynamic_bonds = setup.dynamic_bonds().has_value();
  layout.velocity = wants("velocity");
  layout.image = wants("image") && settings.positions == "wrapped";
  layout.fine = settings.precision == "double";
  layout.changing_attributes = PresentAttributes(setup.configuration()).names();
  layout.changing_number = has_absent(setup.configuration());
  const bool turning = !setup.configuration().orientation.empty();
  layout.angular_momentum = wants("angular_momentum") && turning;
  // Angular momenta of GSD are products with the orientations.
  layout.orientation = layout.angular_momentum || (wants("orientation") && turning);
  return layout;
}

}  // namespace

GsdTrajectory::GsdTrajectory(const GsdSettings& settings, Setup& setup)
    : GsdTrajectory(settings, layout_of(settings, setup), setup) {}

GsdTrajectory::GsdTrajectory(const GsdSettings& settings, const io::GsdLayout& layout, Setup& setup)
    : FrameObserver(settings.stride, io::group_of_frames(settings.group, setup),
                    {.velocity = layout.velocity,
                     .image = layout.image,
                     .species = layout.changing_number,
                     .unwrapped = settings.positions == "unwrapped",
                     .fine = true,
                     .orientation = layout.orientation,
                     .angular_momentum = layout.angular_momentum,
                     .absent_from = io::absent_from(setup)},
                    setup.output_file(settings.file, "file"), layout, setup) {
  check_orientations(settings.quantities, setup);
  take_attributes(setup);
  if (const std::string what = io::gsd::open_axes(setup.configuration().box); !what.empty())
    setup.warn("", what);
  const Topology& topology = setup.configuration().topology;
  if (layout.changing_number && (!topology.bonds.empty() || !topology.body.empty()))
    setup.error("type", fmt::format("has no place for {} where particles come and go "
                                    "(\"reservoir\"): expected the observer \"trajectory\"",
                                    topology.body.empty() ? "bonds" : "rigid bodies"));
  constexpr std::size_t most = 32;  // the index of the first frame is one page
  if (const std::size_t n = setup.configuration().attributes.size(); n > most)
    setup.error("file", fmt::format("a GSD file has room for {} attributes, the particles have {}: "
                                    "use the observer trajectory (H5MD)",
                                    most, n));
}

}  // namespace perrin
