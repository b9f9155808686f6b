#include "io/trajectory.h"

#include <algorithm>
#include <utility>

#include "engine/run/simulation.h"

namespace perrin {
namespace {

io::H5mdLayout layout_of(const TrajectorySettings& settings) {
  const auto wants = [&](const char* name) {
    return std::ranges::count(settings.quantities, name) > 0;
  };
  io::H5mdLayout layout;
  layout.velocity = wants("velocity");
  layout.force = wants("force");
  layout.image = wants("image");
  layout.moving_species = settings.species == "time-dependent";
  layout.deflate = settings.compression == "deflate" ? 1 : 0;
  return layout;
}

}  // namespace

Trajectory::Trajectory(const TrajectorySettings& settings, Setup& setup)
    : settings_(settings),
      file_(setup.output_file(settings.file, "file"), layout_of(settings), setup, setup.units(),
            settings.author) {}

void Trajectory::begin(Simulation& simulation, bool resumed) {
  open(simulation, resumed);
  file_.write_stages(simulation.stage_steps);
}

void Trajectory::open(Simulation& simulation, bool resumed) {
  if (file_.is_open()) return;  // a later stage
  Particles& particles = simulation.particles;
  const io::H5mdLayout& layout = file_.layout();
  gather_ = std::make_unique<io::FrameGather>(
      simulation.device(), particles.size(),
      io::FrameGather::Wants{layout.velocity, layout.force, layout.image, layout.moving_species});
  file_.open(resumed, resumed ? Configuration{} : particles.configuration());
  tell_neighbors(simulation);
}

void Trajectory::tell_neighbors(const Simulation& simulation) {
  std::string report = simulation.neighbor_report();
  if (report == neighbors_) return;
  file_.write_neighbors(report);
  neighbors_ = std::move(report);
}

void Trajectory::observe(Simulation& simulation) {
  const auto step = std::int64_t(simulation.step());
  if (step == file_.last_step()) return;  // the end of one stage is the beginning of the next
  io::H5mdFrame frame = (*gather_)(simulation.particles);
  frame.step = step;
  frame.time = simulation.time();
  file_.append(std::move(frame));
  tell_neighbors(simulation);
}

void Trajectory::end(Simulation& simulation) {
  if (file_.is_open()) tell_neighbors(simulation);
  io::writer().wait();
}

void Trajectory::state(Archive& archive) { file_.state(archive); }

}  // namespace perrin
