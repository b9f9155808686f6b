#include <fmt/format.h>

#include <algorithm>

#include "engine/core/error.h"
#include "io/file_units.h"
#include "io/formats.h"
#include "io/sources.h"

namespace perrin {
namespace {

class FileSource : public Source {
 public:
  FileSource(const FileSettings& settings, std::string path, const Units& units)
      : settings_(settings), path_(std::move(path)), units_(units) {}

  Configuration make() override {
    const io::Format format = settings_.format == "auto" ? io::guess_format(path_, true)
                                                         : io::format_of_name(settings_.format);
    const auto reader = io::open_frames(path_, format);
    const io::ReadOptions options{settings_.periodic, settings_.masses, settings_.velocities,
                                  settings_.images};
    io::Frame frame = io::read_frame(*reader, path_, settings_.frame, options);
    Configuration& c = frame.configuration;
    if (format->names_units && settings_.units == "file") convert_units(frame);
    if (c.mass.empty() && !units_.reduced())
      throw UserError(
          fmt::format("{}: no masses, and the job has named units: expected \"masses\", "
                      "in {}, of the types {}",
                      path_, units_.mass, fmt::join(c.types, ", ")));
    io::rename_types(c, settings_.types, path_);
    if (!settings_.keep_step) c.step = 0;
    return c;
  }

 private:
  /// From the units of the file to those of the job. H5MD says of a file without units that it is
  /// in reduced ones: such numbers mean nothing to a job with named units, and the other way round.
  void convert_units(io::Frame& frame) const {
    const io::FrameUnits& from = frame.units;
    if (from.empty() && units_.reduced()) return;
    if (from.empty())
      throw UserError(path_ +
                      ": names no units (reduced units), but the job does; "
                      "\"units\": \"job\" takes its numbers as they are");
    if (units_.reduced())
      throw UserError(fmt::format(
          "{}: is in named units (length \"{}\", time \"{}\"), but the job is in reduced units; "
          "\"units\": \"job\" takes its numbers as they are",
          path_, from.length, from.time));
    const auto factor = [&](const std::string& unit, const std::string& to, const char* what) {
      if (unit.empty())
        throw UserError(
            fmt::format("{}: {} without a unit, where the file names others", path_, what));
      return io::convert_unit(unit, to, fmt::format("{}: {}", path_, what));
    };
    Configuration& c = frame.configuration;
    const double length = factor(from.length, units_.length, "positions");
    Box& box = c.box;
    const bool flat = box.dimension == 2;  // an edge of 1 along z in any unit
    for (int axis = 0; axis < (flat ? 2 : 3); ++axis)
      box.length[axis] *= length, box.origin[axis] *= length;
    box.xy *= length, box.xz *= length, box.yz *= length;
    for (auto& r : c.position) r *= length;
    if (!c.diameter.empty())
      for (double& d : c.diameter) d *= length;
    if (!c.velocity.empty()) {
      const double own =
          io::convert_unit(units_.length, "nm", path_) / io::convert_unit(units_.time, "ps", path_);
      const double velocity = factor(from.velocity, "nm ps-1", "velocities") / own;
      for (auto& v : c.velocity) v *= velocity;
    }
    if (c.mass.empty()) return;
    const double mass = factor(from.mass, units_.mass, "masses");
    for (std::size_t i = 0; i < c.mass.size(); ++i)  // those of the job are in its units already
      if (!settings_.masses.contains(c.types[c.type[i]])) c.mass[i] *= mass;
  }

  FileSettings settings_;
  std::string path_;
  Units units_;
};

}  // namespace

std::unique_ptr<Source> make_file_source(const FileSettings& settings, Setup& setup) {
  const auto path = setup.input_file(settings.path, "path");
  if (path.empty()) return nullptr;
  return std::make_unique<FileSource>(settings, path.string(), setup.units());
}

}  // namespace perrin
