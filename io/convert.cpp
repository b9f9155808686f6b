#include "io/convert.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/settings/output_path.h"
#include "io/file_attributes.h"
#include "io/formats.h"
#include "io/new_file.h"

namespace perrin {
namespace {

io::Format choose(const std::string& name, const std::string& path, bool existing) {
  return name == "auto" ? io::guess_format(path, existing) : io::format_of_name(name);
}

/// Refuses what a format cannot do.
io::WriteOptions options_for(io::Format to, const ConvertOptions& o) {
  const auto need = [&](bool wanted, std::initializer_list<const char*> formats, const char* what) {
    if (!wanted || std::ranges::count(formats, to->name) > 0) return;
    throw UserError(fmt::format("{}: {} is not for the format {}: expected {}", o.out, what,
                                to->name, fmt::join(formats, " or ")));
  };
  need(o.origin != "file", {"xyz", "lammps"}, "--origin");
  need(o.precision == "double", {"h5md", "gsd"}, "--precision double");
  need(o.compression != "none", {"h5md"}, "--compression");
  need(o.decimals != 3, {"h5md", "xtc", "gro"}, "--decimals");
  need(o.chunk != "frame", {"h5md"}, "--chunk time");
  if (o.decimals != 3 && to->name == "h5md" && o.compression != "rounded")
    throw UserError(
        fmt::format("{}: --decimals is not for --compression {}: expected --compression "
                    "rounded, which rounds",
                    o.out, o.compression));
  return {.unwrapped = o.unwrapped,
          .compression = o.compression,
          .decimals = o.decimals,
          .time_chunks = o.chunk == "time"};
}

/// In double precision what the user wants so, or what the input has so; in GSD, of which few
/// programs read that, only where the input is GSD as well.
void choose_precision(const io::Frame& first, io::Format from, io::Format to,
                      const std::string& wanted, io::WriteOptions& how) {
  const bool kept = wanted == "file" && (to->name == "h5md" || (to == from && to->name == "gsd"));
  how.fine = wanted == "double" || (kept && first.fine);
  how.fine_velocity = wanted == "double" || (kept && first.fine_velocity);
  if (to->name == "gsd") how.fine = how.fine_velocity = how.fine || how.fine_velocity;
}

/// What of a frame is rounded to single precision, and nobody has asked for.
std::vector<std::string> rounded(const io::Frame& frame, const io::Format& to,
                                 const io::WriteOptions& how) {
  const bool h5md = to->name == "h5md";
  if (!h5md && to->name != "gsd" && to->name != "dcd") return {};
  const char* const cure = to->name == "dcd" ? "" : ": --precision double keeps them";
  const Configuration& c = frame.configuration;
  std::vector<std::string> list;
  const bool velocity = frame.fine_velocity && !c.velocity.empty() && to->name != "dcd";
  if ((frame.fine && !how.fine) || (velocity && !how.fine_velocity))
    list.push_back(fmt::format("{} {} rounded to single precision{}",
                               frame.fine ? "positions" : "velocities",
                               frame.fine && velocity ? "and velocities are" : "are", cure));
  if (h5md && frame.fine && !c.orientation.empty())
    list.emplace_back("orientations and angular momenta are rounded to single precision");
  if (how.fine || frame.fine) return list;
  // Elsewhere the last of seven digits is no loss to speak of, unless coordinates are large.
  double most = 0, largest = 0;
  for (const Vec3<double>& r : c.position)
    for (int axis = 0; axis < 3; ++axis) {
      const double x = r[axis] - c.box.origin[axis];
      largest = std::max(largest, std::abs(x));
      most = std::max(most, std::abs(x - double(float(x))));
    }
  if (most > 1e-3)
    list.push_back(
        fmt::format("positions are rounded to single precision, coordinates of up to "
                    "{:.3g} by up to {:.1g}{}",
                    largest, most, cure));
  return list;
}

std::map<std::string, std::string> pairs_of(const std::vector<std::string>& list) {
  std::map<std::string, std::string> pairs;
  for (const std::string& word : list) {
    const std::size_t at = word.find('=');
    if (at == 0 || at == word.npos || at + 1 == word.size())
      throw UserError(fmt::format("--types {}: expected OLD=NEW", word));
    if (!pairs.emplace(word.substr(0, at), word.substr(at + 1)).second)
      throw UserError(fmt::format("--types: {} is renamed twice", word.substr(0, at)));
  }
  return pairs;
}

/// Images become part of the positions. Returns whether there were any.
bool unwrap(Configuration& c) {
  const auto edges = c.box.edges();
  for (std::size_t i = 0; i < c.image.size(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      c.position[i] += double(c.image[i][axis]) * edges[std::size_t(axis)];
  return !std::exchange(c.image, {}).empty();
}

/// Moves everything so that the box begins at 0, or has its middle there.
void put_origin(Configuration& c, const std::string& where) {
  if (where == "file") return;
  Vec3<double> to;
  if (where == "middle")
    for (const auto& edge : c.box.edges()) to -= 0.5 * edge;
  if (c.box.dimension == 2) to.z = c.box.origin.z;
  for (auto& r : c.position) r += to - c.box.origin;
  c.box.origin = to;
}

/// What is said of a file in the making is of the one that the user knows. Some formats make theirs
/// aside once more.
std::string by_its_name(std::string what, const std::string& aside, const std::string& path) {
  for (const std::string& name : {aside + ".part", aside})
    for (std::size_t at = 0; (at = what.find(name, at)) != what.npos; at += path.size())
      what.replace(at, name.size(), path);
  return what;
}

/// What the format leaves out of a frame, beside the first one.
std::vector<std::string> losses_beside(const io::Frame& first, const io::Frame& frame,
                                       const io::Format& to) {
  std::vector<std::string> losses = io::losses(frame, to);
  const std::string name =
      io::changed_attribute(first.configuration, frame.configuration, first.changing_attributes);
  if (to->name == "h5md" && !name.empty())
    losses.push_back(
        fmt::format("the attribute {} is not the same in all frames: H5MD keeps attributes of the "
                    "first frame, GSD and extended XYZ those of every frame",
                    name));
  if (to->name == "h5md" && frame.units.empty() && !frame.convention.empty())
    losses.push_back(
        fmt::format("names no units, since the input names none: its numbers, by convention in {}, "
                    "are kept as they are",
                    frame.convention.length));
  return losses;
}

/// Throws UserError where nothing can be written as asked.
void check_output(const ConvertOptions& options, const io::Format& to) {
  if (to->create == nullptr)
    throw UserError(fmt::format("{}: the format {} can be read but not written; expected {}",
                                options.out, to->name, fmt::join(io::format_names(true), ", ")));
  if (const std::string what =
          why_not_writable(options.out, options.overwrite ? Existing::replaced : Existing::refused);
      !what.empty())
    throw UserError(what);
  if (const auto folder = std::filesystem::path(options.out).parent_path();
      !folder.empty() && !std::filesystem::is_directory(folder))
    throw UserError(fmt::format("{}: the folder {} does not exist", options.out, folder.string()));
  if (is_same_file(options.in, options.out))
    throw UserError(options.out + ": is the input file: name another output file");
}

/// Says once of each thing that it is left out.
class Losses {
 public:
  Losses(const ConvertOptions& options, const io::Format& to, const io::WriteOptions& how,
         const io::Frame& first)
      : options_(options), to_(to), how_(how), first_(first) {}

  void tell(const io::Frame& f) {
    absent(f.no_velocities, without_[0], " (--no-velocities omits them in all frames)");
    absent(f.no_images, without_[1], "");
    absent(f.no_orientations, without_[2], "");
    std::vector<std::string> said = f.configuration.warnings;
    if (f.may_be_flat && !options_.dimension && io::looks_flat(f.configuration))
      said.emplace_back(
          "all particles have the same z in a low box, as in a two-dimensional system of LAMMPS: "
          "give --dimension 2 or --dimension 3");
    said.insert(said.end(), f.dropped.begin(), f.dropped.end());
    for (const std::string& what : said) once(options_.in, what);
    for (const std::string& what : losses_beside(first_, f, to_)) once(options_.out, what);
    if (options_.precision != "file" || told_rounding_) return;
    const auto list = rounded(f, to_, how_);
    told_rounding_ = !list.empty();
    for (const std::string& what : list) once(options_.out, what);
  }
  /// How many of the frames have not what was told to be absent.
  void tell_counts(std::int64_t frames) const {
    for (const std::int64_t count : without_)
      if (count > 1 && options_.warn)
        options_.warn(
            fmt::format("{}: this applies to {} of {} frames", options_.in, count, frames));
  }

 private:
  void once(const std::string& file, const std::string& what) {
    if (told_.insert(what).second && options_.warn) options_.warn(file + ": " + what);
  }
  void absent(const std::string& what, std::int64_t& count, const char* cure) const {
    if (!what.empty() && ++count == 1 && options_.warn)
      options_.warn(fmt::format("{}: {}: left out{}", options_.in, what, cure));
  }

  const ConvertOptions& options_;
  const io::Format& to_;
  const io::WriteOptions& how_;
  const io::Frame& first_;
  bool told_rounding_ = false;
  std::set<std::string> told_;
  std::array<std::int64_t, 3> without_{};  // frames without velocities, images, orientations
};

/// Looks at the steps and times of the frames together.
class Clocks {
 public:
  void see(const io::Frame& frame) {
    const std::int64_t step = frame.configuration.step;
    if (frames_++ > 0 && step <= last_ && order_.empty())
      order_ = fmt::format("step {} follows step {}", step, last_);
    last_ = step;
    steps_ = steps_ || frame.has_step || step != 0;
    times_ = times_ || frame.time != 0;
  }
  /// What programs that read the file will wonder about, a sentence each.
  std::vector<std::string> remarks(const io::Format& to) const {
    const auto is = [&](std::initializer_list<const char*> names) {
      return std::ranges::count(names, to->name) > 0;
    };
    if (frames_ < 2 || !is({"h5md", "gsd", "xtc", "xyz", "gro"})) return {};
    std::vector<std::string> list;
    // GSD and dumps have steps alone: their times are missed where a format has records of times.
    const bool no_times = !times_ && to->name != "gsd" && (!steps_ || is({"h5md", "xtc"}));
    if (!steps_ || no_times)
      list.push_back(fmt::format("{} are 0 in all frames: the input has no others",
                                 steps_     ? "times"
                                 : no_times ? "steps and times"
                                            : "steps"));
    if (steps_ && to->name == "h5md" && !order_.empty())
      list.push_back(order_ +
                     ": in H5MD steps increase, and programs that look for a step may find another "
                     "frame");
    return list;
  }

 private:
  std::int64_t frames_ = 0, last_ = 0;
  bool steps_ = false, times_ = false;
  std::string order_;
};

}  // namespace

long long convert(const ConvertOptions& options) {
  const io::Format from = choose(options.from, options.in, true);
  const io::Format to = choose(options.to, options.out, false);
  check_output(options, to);
  const auto reader = io::open_frames(options.in, from,
                                      {.groups = options.groups, .atom_style = options.atom_style});
  std::int64_t first = 0, end = reader->frames(), wanted = 0;
  if (options.frame || to->one_frame) {
    wanted = options.frame.value_or(-1);
    first = wanted < 0 ? end + wanted : wanted;
    end = first + 1;
  }
  io::WriteOptions how = options_for(to, options);
  how.frames = end - first;
  const auto names = pairs_of(options.types);
  io::ReadOptions as;
  as.velocities = options.velocities;
  as.dimension = options.dimension;
  as.box = options.box;
  std::int64_t unwrapped = 0;  // frames that had images
  const auto changed = [&](io::Frame frame) {
    io::rename_types(frame.configuration, names, options.in);
    if (options.unwrapped) unwrapped += unwrap(frame.configuration) ? 1 : 0;
    put_origin(frame.configuration, options.origin);
    return frame;
  };
  const io::Frame frame = changed(io::read_frame(*reader, options.in, wanted, as));
  // Beside a run, or another conversion: no lock, but a name of its own.
  io::NewFile place(options.out, "." + std::to_string(::getpid()));
  choose_precision(frame, from, to, options.precision, how);
  Losses lost(options, to, how, frame);
  Clocks clocks;
  try {
    const auto writer = to->create(place.aside(), frame, how);
    lost.tell(frame), clocks.see(frame), writer->write(frame);
    for (std::int64_t k = first + 1; k < end; ++k) {
      const io::Frame next = changed(reader->read(k, as));
      lost.tell(next), clocks.see(next), writer->write(next);
    }
    writer->finish();
    auto between = writer->lost_between();
    std::ranges::copy(clocks.remarks(to), std::back_inserter(between));
    for (const std::string& what : between)
      if (options.warn) options.warn(options.out + ": " + what);
  } catch (const UserError& error) {
    throw UserError(by_its_name(error.what(), place.aside(), options.out));
  } catch (const RunError& error) {
    throw RunError(by_its_name(error.what(), place.aside(), options.out));
  }
  lost.tell_counts(end - first);
  place.put_in_place(options.overwrite);
  if (options.unwrapped && unwrapped == 0 && end - first > 1 && options.warn)
    options.warn(options.in + ": no frame has images: positions are not unwrapped");
  if (options.unwrapped && unwrapped > 0 && unwrapped < end - first && options.warn)
    options.warn(
        fmt::format("{}: {} of {} frames have no images: their positions are not unwrapped",
                    options.in, end - first - unwrapped, end - first));
  return end - first;
}

}  // namespace perrin
