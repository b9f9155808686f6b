#include "io/trajectory.h"

#include <algorithm>
#include <utility>

#include "engine/run/simulation.h"
#include "io/archive_extent.h"
#include "io/writer.h"

namespace perrin {

Trajectory::Trajectory(const TrajectorySettings& settings, Setup& setup)
    : settings_(settings),
      path_(setup.output_file(settings.file, "file")),
      record_(setup.record()),
      units_(setup.units()),
      overwrite_(setup.overwrite()) {
  const auto wants = [&](const char* name) {
    return std::ranges::count(settings_.quantities, name) > 0;
  };
  layout_.velocity = wants("velocity");
  layout_.force = wants("force");
  layout_.image = wants("image");
  layout_.moving_species = settings.species == "time-dependent";
  layout_.deflate = settings.compression == "deflate" ? 1 : 0;
  if (settings.author.empty()) return;
  JobRecord own = *record_;
  own.author = settings.author;
  record_ = std::make_shared<const JobRecord>(std::move(own));
}

Trajectory::~Trajectory() {
  if (!file_) return;
  try {
    io::writer().call([&] { file_.reset(); });
  } catch (...) {  // already told, or the run is going down for another reason
  }
}

void Trajectory::begin(Simulation& simulation, bool resumed) {
  if (file_) return;  // a later stage
  Particles& particles = simulation.particles;
  gather_ = std::make_unique<io::FrameGather>(
      simulation.device(), particles.size(),
      io::FrameGather::Wants{layout_.velocity, layout_.force, layout_.image,
                             layout_.moving_species});
  const std::string path = path_.string();
  const Configuration configuration = resumed ? Configuration{} : particles.configuration();
  io::writer().call([&] {
    if (resumed)
      io::H5mdWriter::trim(path, *record_, frames_, last_step_);
    else
      io::H5mdWriter::create(path, configuration, layout_, *record_, units_, overwrite_);
    file_ = std::make_shared<io::H5mdWriter>(path);
  });
  tell_neighbors(simulation);
}

void Trajectory::tell_neighbors(const Simulation& simulation) {
  std::string report = simulation.neighbor_report();
  if (report == neighbors_) return;
  io::writer().push([file = file_, report] { file->write_neighbors(report); });
  neighbors_ = std::move(report);
}

void Trajectory::observe(Simulation& simulation) {
  const auto step = std::int64_t(simulation.step());
  if (step == last_step_) return;  // the end of one stage is the beginning of the next
  io::H5mdFrame frame = (*gather_)(simulation.particles);
  frame.step = step;
  frame.time = simulation.time();
  const std::size_t bytes = 4 * (frame.position.size() + frame.velocity.size() +
                                 frame.force.size() + frame.image.size() + frame.species.size());
  io::writer().push([file = file_, frame = std::move(frame)] { file->append(frame); }, bytes);
  tell_neighbors(simulation);
  last_step_ = step;
  ++frames_;
}

void Trajectory::end(Simulation& simulation) {
  if (file_) tell_neighbors(simulation);
  io::writer().wait();
}

void Trajectory::state(Archive& archive) {
  if (archive.is_saving() && file_) {
    // The checkpoint counts on these frames: on the disk before it is.
    io::writer().wait();
    io::writer().call([&] { file_->flush_to_disk(); });
  }
  io::archive_extent(archive, "frames", frames_, "last_step", last_step_);
}

}  // namespace perrin
