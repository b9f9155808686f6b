#include "io/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/base/error.h"
#include "io/compressed.h"
#include "io/file_orientations.h"

namespace perrin::io {

FileFormat h5md_format(), gsd_format(), lammps_format(), xyz_format(), lammps_dump_format(),
    dcd_format(), xtc_format(), gro_format(), pdb_format();

namespace {

const std::vector<FileFormat>& all_formats() {
  // In the order in which they recognize bytes: what is sure comes first.
  static const std::vector<FileFormat> all{h5md_format(),        gsd_format(),    dcd_format(),
                                           lammps_dump_format(), lammps_format(), xyz_format(),
                                           xtc_format(),         gro_format(),    pdb_format()};
  return all;
}

std::string one_of(const std::vector<std::string>& words) {
  std::string text = words[0];
  for (std::size_t k = 1; k < words.size(); ++k)
    text += (k + 1 < words.size() ? ", " : " or ") + words[k];
  return text;
}

/// Masses by type take the place of the file's; types that are not named keep theirs, if any.
void set_masses(Configuration& c, const std::map<std::string, double>& masses,
                const std::string& where) {
  for (const auto& [type, mass] : masses)
    if (std::ranges::count(c.types, type) == 0)
      throw UserError(fmt::format("{}: no type \"{}\" to assign a mass to; the types are {}", where,
                                  type, fmt::join(c.types, ", ")));
  const bool has = !c.mass.empty();
  std::vector<double> by_type;
  for (const std::string& type : c.types) {
    const auto it = masses.find(type);
    if (it == masses.end() && !has)
      throw UserError(
          fmt::format("{}: the type \"{}\" has no mass, neither in the file nor under "
                      "\"masses\"",
                      where, type));
    by_type.push_back(it == masses.end() ? 0 : it->second);
  }
  c.mass.resize(c.type.size());
  for (std::size_t i = 0; i < c.type.size(); ++i)
    if (c.type[i] < by_type.size() && by_type[c.type[i]] > 0) c.mass[i] = by_type[c.type[i]];
}

void set_box(Box& box, const std::vector<double>& numbers, const std::string& where) {
  if (numbers.size() != 3 && numbers.size() != 6)
    throw UserError(fmt::format(
        "{}: \"box\" has {} numbers: expected 3 edges, or these and the tilts xy, xz, yz", where,
        numbers.size()));
  box.length = {numbers[0], numbers[1], numbers[2]};
  box.origin = {0, 0, 0};
  box.xy = box.xz = box.yz = 0;
  if (numbers.size() == 6) box.xy = numbers[3], box.xz = numbers[4], box.yz = numbers[5];
}

/// Of a frame in two dimensions, as the file or the options have it.
void check_flat(const Configuration& c, const std::string& where) {
  for (std::size_t i = 0; i < c.position.size(); ++i)
    if (std::abs(c.position[i].z - c.position[0].z) > 1e-6 * c.box.length.x)
      throw UserError(
          fmt::format("{}: particle {} lies at z = {} and particle 0 at {}: in two dimensions "
                      "(\"dimension\") all must have the same z",
                      where, i, c.position[i].z, c.position[0].z));
}

void set_dimension(Configuration& c, std::int32_t dimension, const std::string& where) {
  c.box.dimension = dimension;
  if (dimension == 3) return;
  check_flat(c, where);
  if (c.box.xz != 0 || c.box.yz != 0)
    throw UserError(where +
                    ": the third edge of the box is not along z, as required in two dimensions");
  c.box.periodic[2] = true;
}

}  // namespace

std::vector<std::string> format_names(bool written) {
  std::vector<std::string> names;
  for (const FileFormat& format : all_formats())
    if (written ? format.create != nullptr : format.open != nullptr) names.push_back(format.name);
  return names;
}

std::vector<std::string> format_choices(bool written) {
  std::vector<std::string> choices = format_names(written);
  choices.insert(choices.begin(), "auto");
  return choices;
}

Format format_of_name(const std::string& name) {
  for (const FileFormat& format : all_formats())
    if (format.name == name) return &format;
  throw UserError(fmt::format("unknown format \"{}\": expected {}", name, one_of(format_names())));
}

Format guess_format(const std::string& path, bool existing) {
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const FileFormat& format : all_formats())
    if (std::ranges::count(format.extensions, extension) > 0) return &format;
  if (existing) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
      throw UserError(fmt::format("{}: cannot open the file: {}", path, std::strerror(errno)));
    refuse_compressed(path, stream);
    char bytes[255];
    stream.read(bytes, sizeof bytes);
    const std::string_view head(bytes, std::size_t(stream.gcount()));
    for (const FileFormat& format : all_formats())
      if (format.recognizes(head)) return &format;
  }
  std::vector<std::string> usual;
  for (const FileFormat& format : all_formats())
    if (existing ? format.open != nullptr : format.create != nullptr)
      usual.push_back(format.extensions[0]);
  throw UserError(fmt::format("{}: unknown format; expected {}, or a format", path, one_of(usual)));
}

std::unique_ptr<FrameReader> open_frames(const std::string& path, Format format,
                                         const OpenOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UserError(path + ": is a folder, expected a file");
  if (format->open == nullptr)
    throw UserError(fmt::format("{}: the format {} can be written but not read; expected {}", path,
                                format->name, one_of(format_names())));
  if (!options.groups.empty() && format->name != "h5md")
    throw UserError(
        fmt::format("{}: the format {} has no groups of particles (\"group\"), only h5md has", path,
                    format->name));
  if (!options.atom_style.empty() && format->name != "lammps")
    throw UserError(
        fmt::format("{}: the format {} has no atom styles (\"atom_style\"), only lammps has", path,
                    format->name));
  return format->open(path, options);
}

Frame FrameReader::read(std::int64_t index, const ReadOptions& options) {
  Frame frame = get(index);
  Configuration& c = frame.configuration;
  const std::string where = fmt::format("{}, frame {}", path_, index);
  if (!options.velocities) {
    c.velocity.clear(), frame.momentum.clear(), c.angular_momentum.clear();
    frame.no_velocities.clear();
  }
  if (!options.images) c.image.clear(), frame.no_images.clear();
  if (!options.box.empty()) set_box(c.box, options.box, where);
  if (!frame.has_box && options.box.empty())
    throw UserError(
        fmt::format("{}: has no box: set \"box\" of the system, or --box of perrin convert{}",
                    where, frame.box_remedy));
  if (options.dimension)
    set_dimension(c, *options.dimension, where);
  else if (c.box.dimension == 2)
    check_flat(c, where);
  if (options.periodic) {
    c.box.periodic = *options.periodic;
    if (c.box.dimension == 2) c.box.periodic[2] = true;
  }
  if (!options.masses.empty()) set_masses(c, options.masses, where);
  const bool moving = !frame.momentum.empty();
  if (moving) c.velocity = frame.momentum;  // checked like velocities
  check_frame(c, where, frame.repeats);
  if (!moving) return frame;
  if (c.mass.empty())
    throw UserError(
        where + ": momenta without masses: expected masses in the file or \"masses\" in the job");
  for (std::size_t i = 0; i < c.velocity.size(); ++i) c.velocity[i] *= 1 / c.mass[i];
  frame.momentum.clear();
  return frame;
}

Frame read_frame(FrameReader& reader, const std::string& path, std::int64_t frame,
                 const ReadOptions& options) {
  const std::int64_t n = reader.frames();
  const std::int64_t k = frame < 0 ? n + frame : frame;
  if (k < 0 || k >= n)
    throw UserError(
        fmt::format("{}: no frame {}: the file has {} frame{}", path, frame, n, n == 1 ? "" : "s"));
  return reader.read(k, options);
}

std::vector<std::string> losses(const Frame& frame, Format format) {
  std::vector<std::string> list = format->losses(frame);
  if (const std::string lost = lost_bodies(frame.configuration);
      !lost.empty() && format->name != "gsd")
    list.push_back(lost);
  for (const auto& [kind, number] : frame.configuration.left_out)
    if (number > 0) list.push_back(fmt::format("{} {} are left out", number, kind));
  const FrameUnits& u = frame.units;
  if (!format->names_units && !u.empty())
    list.push_back(fmt::format("the names of the units are left out (length \"{}\", time \"{}\")",
                               u.length, u.time));
  return list;
}

std::string length_unit(const Frame& frame) {
  return frame.units.length.empty() ? frame.convention.length : frame.units.length;
}

std::string time_unit(const Frame& frame) {
  return frame.units.time.empty() ? frame.convention.time : frame.units.time;
}

std::string angular_momentum_unit(const FrameUnits& u) {
  if (!u.angular_momentum.empty()) return u.angular_momentum;
  if (u.mass.empty() || u.length.empty() || u.velocity.empty()) return {};
  return fmt::format("{} {} {}", u.mass, u.length, u.velocity);
}

std::string moment_of_inertia_unit(const FrameUnits& u) {
  if (u.mass.empty() || u.length.empty()) return {};
  return fmt::format("{} {} {}", u.mass, u.length, u.length);
}

std::uint32_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto it = std::ranges::find(names, name);
  const auto index = std::uint32_t(it - names.begin());
  if (it == names.end()) names.push_back(name);
  return index;
}

void rename_types(Configuration& c, const std::map<std::string, std::string>& new_names,
                  const std::string& where) {
  for (const auto& [from, to] : new_names)
    if (std::ranges::count(c.types, from) == 0)
      throw UserError(fmt::format("{}: no type \"{}\" to rename; the types are {}", where, from,
                                  fmt::join(c.types, ", ")));
  std::vector<std::string> names;
  std::vector<std::uint32_t> index;
  for (const std::string& name : c.types) {
    const auto it = new_names.find(name);
    index.push_back(index_of(names, it == new_names.end() ? name : it->second));
  }
  for (auto& type : c.type) type = index[type];
  c.types = names;
}

Box box_from_edges(const std::array<Vec3<double>, 3>& e, const std::string& where) {
  const double scale = std::max({std::abs(e[0].x), std::abs(e[1].y), std::abs(e[2].z)});
  // Text files round: a millionth of the box is not a rotation that anybody meant.
  const double zero = 1e-6 * scale;
  if (std::abs(e[0].y) > zero || std::abs(e[0].z) > zero || std::abs(e[1].z) > zero)
    throw UserError(
        fmt::format("{}: box edges a = ({}, {}, {}), b = ({}, {}, {}): expected a along x and b in "
                    "the xy plane",
                    where, e[0].x, e[0].y, e[0].z, e[1].x, e[1].y, e[1].z));
  Box box;
  box.length = {e[0].x, e[1].y, e[2].z};
  box.xy = e[1].x, box.xz = e[2].x, box.yz = e[2].y;
  return box;
}

}  // namespace perrin::io
