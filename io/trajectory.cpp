#include "io/trajectory.h"

#include <algorithm>
#include <utility>

namespace perrin {
namespace {

io::H5mdLayout layout_of(const TrajectorySettings& settings, const Setup& setup) {
  const auto wants = [&](const char* name) {
    return std::ranges::count(settings.quantities, name) > 0;
  };
  io::H5mdLayout layout;
  layout.dynamic_bonds = setup.dynamic_bonds();
  layout.unwrapped = settings.positions == "unwrapped";
  layout.fine_positions = settings.precision == "double";
  layout.velocity = wants("velocity");
  layout.force = wants("force");
  layout.image = wants("image") && !layout.unwrapped;
  const bool turning = !setup.configuration().orientation.empty();
  layout.orientation = wants("orientation") && turning;
  layout.angular_momentum = wants("angular_momentum") && turning;
  layout.torque = wants("torque") && turning;
  layout.changing_attributes = PresentAttributes(setup.configuration()).names();
  layout.moving_ids = has_absent(setup.configuration());
  layout.moving_species = settings.species == "time-dependent" || layout.moving_ids;
  if (settings.compression == "deflate") layout.packing.filter = io::Packing::Filter::deflate;
  if (settings.compression == "rounded")
    layout.packing = {io::Packing::Filter::rounded, settings.decimals};
  return layout;
}

}  // namespace

Trajectory::Trajectory(const TrajectorySettings& settings, Setup& setup)
    : Trajectory(settings, layout_of(settings, setup), setup) {}

Trajectory::Trajectory(const TrajectorySettings& settings, const io::H5mdLayout& layout,
                       Setup& setup)
    : FrameObserver(settings.stride, io::group_of_frames(settings.group, setup),
                    {.velocity = layout.velocity,
                     .force = layout.force,
                     .image = layout.image,
                     .species = layout.moving_species,
                     .unwrapped = layout.unwrapped,
                     .fine = layout.fine_positions,
                     .orientation = layout.orientation,
                     .angular_momentum = layout.angular_momentum,
                     .torque = layout.torque,
                     .absent_from = io::absent_from(setup)},
                    setup.output_file(settings.file, "file"), layout, setup, setup.units(),
                    settings.author) {
  check_orientations(settings.quantities, setup);
  take_attributes(setup);
  if (settings.compression != "rounded" && settings.decimals != TrajectorySettings{}.decimals)
    setup.warn("decimals", "has no effect without \"compression\": \"rounded\"");
}

void Trajectory::begin(const Observation& seen, bool resumed) {
  const bool opening = !file_.is_open();
  FrameObserver::begin(seen, resumed);
  if (opening) tell_neighbors(seen);
  file_.write_stages(seen.stages().steps(), seen.stages().remarks());
}

void Trajectory::tell_neighbors(const Observation& seen) {
  std::string report = seen.neighbor_report();
  if (report == neighbors_) return;
  file_.write_neighbors(report);
  neighbors_ = std::move(report);
}

void Trajectory::observe(const Observation& seen) {
  FrameObserver::observe(seen);
  tell_neighbors(seen);
}

void Trajectory::end(const Observation& seen) {
  if (file_.is_open()) {
    tell_neighbors(seen);
    file_.write_stages(seen.stages().steps(), seen.stages().remarks());
  }
  FrameObserver::end(seen);
}

}  // namespace perrin
