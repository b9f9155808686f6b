#include "io/formats.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/core/error.h"

namespace perrin::io {
namespace {

const std::map<std::string, Format>& extensions() {
  static const std::map<std::string, Format> map{{".h5", Format::h5md},
                                                 {".h5md", Format::h5md},
                                                 {".hdf5", Format::h5md},
                                                 {".gsd", Format::gsd},
                                                 {".data", Format::lammps},
                                                 {".lmp", Format::lammps},
                                                 {".lammps", Format::lammps},
                                                 {".xyz", Format::extended_xyz},
                                                 {".extxyz", Format::extended_xyz}};
  return map;
}

/// Masses by type take the place of the file's; types that are not named keep theirs, if any.
void set_masses(Configuration& c, const std::map<std::string, double>& masses,
                const std::string& where) {
  for (const auto& [type, mass] : masses)
    if (std::ranges::count(c.types, type) == 0)
      throw UserError(fmt::format("{}: no type \"{}\" to give a mass; the types are {}", where,
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

}  // namespace

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names{"h5md", "gsd", "lammps", "xyz"};
  return names;
}

Format format_of_name(const std::string& name) {
  const auto& names = format_names();
  const auto it = std::ranges::find(names, name);
  if (it == names.end())
    throw UserError(fmt::format("unknown format \"{}\": expected h5md, gsd, lammps or xyz", name));
  return Format(it - names.begin());
}

Format guess_format(const std::string& path, bool existing) {
  const auto it = extensions().find(std::filesystem::path(path).extension().string());
  if (it != extensions().end()) return it->second;
  if (existing) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
      throw UserError(fmt::format("{}: cannot open the file: {}", path, std::strerror(errno)));
    char head[256] = {};
    stream.read(head, sizeof(head) - 1);
    static const unsigned char gsd_magic[8] = {0xDF, 0x65, 0xDF, 0x65, 0xDF, 0x65, 0xDF, 0x65};
    if (std::memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0) return Format::h5md;
    if (std::memcmp(head, gsd_magic, 8) == 0) return Format::gsd;
    const std::string text = head;
    if (text.find(" atoms") != std::string::npos) return Format::lammps;
    if (text.find("Lattice=") != std::string::npos || text.find("Properties=") != std::string::npos)
      return Format::extended_xyz;
  }
  throw UserError(fmt::format(
      "{}: the format is not clear from the name; expected .h5, .gsd, .data or .xyz, or a format",
      path));
}

std::unique_ptr<FrameReader> open_frames(const std::string& path, Format format) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UserError(path + ": is a folder, expected a file");
  switch (format) {
    case Format::h5md:
      return open_h5md(path);
    case Format::gsd:
      return open_gsd(path);
    case Format::lammps:
      return open_lammps_data(path);
    default:
      return open_extended_xyz(path);
  }
}

Frame FrameReader::read(std::int64_t index, const ReadOptions& options) {
  Frame frame = get(index);
  Configuration& c = frame.configuration;
  const std::string where = fmt::format("{}, frame {}", path_, index);
  if (!options.velocities) c.velocity.clear(), frame.momentum.clear();
  if (!options.images) c.image.clear();
  if (options.periodic) {
    c.box.periodic = *options.periodic;
    if (c.box.dimension == 2) c.box.periodic[2] = true;
  }
  if (!options.masses.empty()) set_masses(c, options.masses, where);
  const bool moving = !frame.momentum.empty();
  if (moving) c.velocity = frame.momentum;  // checked like velocities
  check_frame(c, where);
  if (!moving) return frame;
  if (c.mass.empty())
    throw UserError(where +
                    ": momenta without masses: expected masses too, in the file or under "
                    "\"masses\" of the job");
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
  const Configuration& c = frame.configuration;
  const Topology& t = c.topology;
  std::vector<std::string> list;
  const auto lost = [&](bool is, const std::string& what) {
    if (is) list.push_back(what);
  };
  const bool lammps = format == Format::lammps;
  std::string boundary;
  for (const bool periodic : c.box.periodic) boundary += periodic ? " p" : " f";
  lost(lammps && c.box.dimension == 2,
       "two dimensions are left out: say \"dimension 2\" in the input of LAMMPS");
  lost(lammps && boundary != " p p p", "axes that are not periodic are left out: say \"boundary" +
                                           boundary + "\" in the input of LAMMPS");
  lost(lammps && !c.diameter.empty(), "diameters are left out");
  const bool names = !t.bonds.empty() || !t.angles.empty();
  lost(lammps && names, "names of types of bonds and angles are left out");
  lost(format == Format::gsd && !t.molecule.empty(), "numbers of molecules are left out");
  lost(format == Format::extended_xyz && names, "bonds and angles are left out");
  for (const auto& [kind, number] : c.left_out)
    lost(number > 0, fmt::format("{} {} are left out", number, kind));
  const FrameUnits& u = frame.units;
  lost(format != Format::h5md && !u.empty(),
       fmt::format("the names of the units are left out (length \"{}\", time \"{}\")", u.length,
                   u.time));
  return list;
}

std::unique_ptr<FrameWriter> make_frame_writer(const std::string& path, Format format,
                                               const Frame& first) {
  switch (format) {
    case Format::h5md:
      return write_h5md(path, first);
    case Format::gsd:
      return write_gsd(path);
    case Format::lammps:
      return write_lammps_data(path);
    default:
      return write_extended_xyz(path);
  }
}

std::uint32_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto it = std::ranges::find(names, name);
  const auto index = std::uint32_t(it - names.begin());
  if (it == names.end()) names.push_back(name);
  return index;
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
