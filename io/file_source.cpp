#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/base/error.h"
#include "io/file_orientations.h"
#include "io/file_units.h"
#include "io/formats.h"
#include "io/lammps_units.h"
#include "io/sources.h"

namespace perrin {
namespace {

class FileSource : public Source {
 public:
  FileSource(const FileSettings& settings, std::vector<std::string> groups, std::string path,
             const Units& units)
      : settings_(settings), groups_(std::move(groups)), path_(std::move(path)), units_(units) {}

  Configuration make() override {
    const io::Format format = settings_.format == "auto" ? io::guess_format(path_, true)
                                                         : io::format_of_name(settings_.format);
    const auto reader =
        io::open_frames(path_, format, {.groups = groups_, .atom_style = settings_.atom_style});
    const io::ReadOptions options{settings_.periodic, settings_.masses,    settings_.velocities,
                                  settings_.images,   settings_.dimension, settings_.box};
    io::Frame frame = io::read_frame(*reader, path_, settings_.frame, options);
    Configuration& c = frame.configuration;
    if (settings_.velocities) refuse(frame.no_velocities, "velocities");
    if (settings_.images) refuse(frame.no_images, "images");
    if (!frame.no_orientations.empty())
      throw UserError(fmt::format("{}: {}: use another \"frame\"", path_, frame.no_orientations));
    if (const std::int64_t i = io::first_out_of_plane(c); c.box.dimension == 2 && i >= 0) {
      const Quaternion& q = c.orientation[std::size_t(i)];
      throw UserError(fmt::format(
          "{}: particle {} is turned out of the plane of a system of two dimensions: expected a "
          "rotation about z, got the quaternion ({:.6g}, {:.6g}, {:.6g}, {:.6g}) (w, x, y, z)",
          path_, i, q.w, q.x, q.y, q.z));
    }
    if (frame.may_be_flat && !settings_.dimension && io::looks_flat(c))
      throw UserError(
          fmt::format("{}: all particles have the same z in a box of height {}, as in a "
                      "two-dimensional system of LAMMPS: set \"dimension\": 2 or \"dimension\": 3",
                      path_, c.box.length.z));
    if (settings_.units != "file" && settings_.units != "job") name_units(*format, frame);
    take_convention(frame);
    const bool named = format->names_units || !frame.units.empty() || frame.units.reduced;
    if (named && settings_.units != "job") convert_units(frame);
    if (!named && settings_.units == "file" && !units_.reduced() &&
        !(c.velocity.empty() && c.angular_momentum.empty()))
      c.warnings.push_back(fmt::format(
          "names no units: velocities are read in {} per {}; \"units\" sets them (\"job\": these)",
          units_.length, units_.time));
    if (c.mass.empty() && !units_.reduced())
      throw UserError(fmt::format(
          "{}: no masses, but the job has named units: expected \"masses\", in {}, of the types {}",
          path_, units_.mass, fmt::join(c.types, ", ")));
    io::rename_types(c, settings_.types, path_);
    c.id.clear();  // of a part of another system: this one is whole
    for (std::string& what : c.warnings) what = path_ + ": " + what;
    if (settings_.keep_step)
      keep_step(frame);
    else
      c.step = 0;
    return c;
  }

 private:
  /// As the job says.
  void name_units(const io::FileFormat& format, io::Frame& frame) const {
    const io::FrameUnits units = io::lammps_units(settings_.units);
    if (format.names_units)
      throw UserError(
          fmt::format("{}: {} files name their units themselves: expected \"units\": "
                      "\"file\" or \"job\", got \"{}\"",
                      path_, format.name, settings_.units));
    if ((!frame.units.empty() || frame.units.reduced) && frame.units != units)
      frame.configuration.warnings.push_back(fmt::format(
          "names other units than \"units\": \"{}\", which overrides them", settings_.units));
    frame.units = units;
  }

  /// Numbers without units are in those of the format's convention, to a job that has named ones.
  void take_convention(io::Frame& frame) const {
    if (settings_.units != "file" || units_.reduced() || !frame.units.empty() ||
        frame.convention.empty())
      return;
    frame.units = frame.convention;
    frame.configuration.warnings.push_back(fmt::format(
        "names no units: lengths are read in {}, as is the convention of the format; \"units\": "
        "\"job\" reads them in {}",
        frame.units.length, units_.length));
  }

  /// What other frames of the file have, and this one has not.
  void refuse(const std::string& absent, const char* key) const {
    if (!absent.empty())
      throw UserError(
          fmt::format("{}: {}: use another \"frame\", or set \"{}\": false", path_, absent, key));
  }

  /// Steps and time go on from those of the frame.
  void keep_step(io::Frame& frame) const {
    constexpr std::int64_t most = std::int64_t(1) << 53;  // exact in a double
    Configuration& c = frame.configuration;
    if (!frame.has_step)
      throw UserError(path_ + ": names no step to continue from (\"keep_step\")");
    if (c.step < 0 || c.step >= most)
      throw UserError(fmt::format(
          "{}: cannot continue from the step {} (\"keep_step\"): expected 0 to 2^53 - 1", path_,
          c.step));
    if (!std::isfinite(frame.time))
      throw UserError(
          fmt::format("{}: cannot continue from the time {} (\"keep_step\")", path_, frame.time));
    c.time = frame.time;
  }

  /// From the units of the file to those of the job. H5MD says of a file without units that it is
  /// in reduced ones: such numbers mean nothing to a job with named units, and the other way round.
  void convert_units(io::Frame& frame) const {
    const io::FrameUnits& from = frame.units;
    if (from.empty() && units_.reduced()) return;
    if (from.empty())
      throw UserError(path_ +
                      ": names no units (reduced units), but the job does; \"units\": \"job\" "
                      "reads its numbers without conversion");
    if (units_.reduced())
      throw UserError(
          fmt::format("{}: is in named units (length \"{}\", time \"{}\"), but the job is in "
                      "reduced units; \"units\": \"job\" reads its numbers without conversion",
                      path_, from.length, from.time));
    const auto factor = [&](const std::string& unit, const std::string& to, const char* what) {
      if (unit.empty())
        throw UserError(
            fmt::format("{}: {} without a unit, although the file names others", path_, what));
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
    for (double& q : c.charge) q *= from.charge;
    if (!c.diameter.empty())
      for (double& d : c.diameter) d *= length;
    if (!c.velocity.empty()) {
      const double own =
          io::convert_unit(units_.length, "nm", path_) / io::convert_unit(units_.time, "ps", path_);
      const double velocity = factor(from.velocity, "nm ps-1", "velocities") / own;
      for (auto& v : c.velocity) v *= velocity;
    }
    convert_rotation(c, from, length);
    if (frame.time != 0 && settings_.keep_step)
      frame.time *= factor(from.time, units_.time, "times");
    // Those of the job are in its units already.
    const auto of_the_file = [&](std::uint32_t type) {
      return !settings_.masses.contains(c.types[type]);
    };
    if (c.mass.empty() || std::ranges::none_of(c.type, of_the_file)) return;
    if (from.mass.empty())
      throw UserError(path_ +
                      ": masses without a unit, although the file names others: give \"masses\" by "
                      "type, in the units of the job");
    const double mass = io::convert_unit(from.mass, units_.mass, path_ + ": masses");
    for (std::size_t i = 0; i < c.mass.size(); ++i)
      if (of_the_file(c.type[i])) c.mass[i] *= mass;
  }

  /// `length`: the unit of the file in those of the job.
  void convert_rotation(Configuration& c, const io::FrameUnits& from, double length) const {
    if (c.angular_momentum.empty() && !io::has_moments(c)) return;
    if (from.mass.empty())
      throw UserError(path_ +
                      ": angular momenta or moments of inertia, but no unit of mass, although the "
                      "file names others; \"units\": \"job\" reads its numbers without conversion");
    const double mass = io::convert_unit(from.mass, units_.mass, path_ + ": masses");
    for (auto& moment : c.moment_of_inertia) moment *= mass * length * length;
    if (c.angular_momentum.empty()) return;
    const double nm = io::convert_unit(units_.length, "nm", path_);
    const double own = nm * nm / io::convert_unit(units_.time, "ps", path_);
    const double momentum =
        io::convert_unit(io::angular_momentum_unit(from), units_.mass + " nm2 ps-1",
                         path_ + ": angular momenta") /
        own;
    for (auto& spin : c.angular_momentum) spin *= momentum;
  }

  FileSettings settings_;
  std::vector<std::string> groups_;
  std::string path_;
  Units units_;
};

}  // namespace

std::unique_ptr<Source> make_file_source(const FileSettings& settings, Setup& setup) {
  const auto path = setup.input_file(settings.path, "path");
  std::vector<std::string> groups;
  const Json list = settings.group.is_string() ? Json::array({settings.group}) : settings.group;
  for (const Json& name : list)
    if (list.is_array() && name.is_string() && !name.get_ref<const std::string&>().empty())
      groups.push_back(name.get<std::string>());
  if (!list.is_array() || groups.size() != list.size())
    return setup.error("group", "must be the name of a group, or a list of names"), nullptr;
  std::error_code ignored;
  const bool readable =
      access(path.c_str(), R_OK) == 0 && !std::filesystem::is_directory(path, ignored);
  if (!readable) return nullptr;  // told
  return std::make_unique<FileSource>(settings, std::move(groups), path.string(), setup.units());
}

}  // namespace perrin
