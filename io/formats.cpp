#include "io/formats.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/error.h"

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

template <class T>
void check_size(const std::vector<T>& values, std::size_t n, const char* what,
                const std::string& where) {
  if (!values.empty() && values.size() != n)
    throw UserError(fmt::format("{}: {} {} for {} particles", where, values.size(), what, n));
}

void check_vectors(const std::vector<Vec3<double>>& values, const char* what,
                   const std::string& where) {
  for (std::size_t i = 0; i < values.size(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      if (!std::isfinite(values[i][axis]))
        throw UserError(fmt::format("{}: {} {} of particle {} is {}, expected a finite number",
                                    where, what, "xyz"[axis], i, values[i][axis]));
}

template <class Group>
void check_members(const std::vector<Group>& groups, std::size_t types, std::size_t n,
                   const char* what, const std::string& where) {
  for (std::size_t k = 0; k < groups.size(); ++k) {
    std::vector<std::uint32_t> ids{groups[k].a, groups[k].b};
    if constexpr (requires { groups[k].c; }) ids.push_back(groups[k].c);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] >= n)
        throw UserError(fmt::format("{}: {} {} names particle {}, expected 0 to {}", where, what, k,
                                    ids[i], n - 1));
      for (std::size_t j = 0; j < i; ++j)
        if (ids[i] == ids[j])
          throw UserError(fmt::format("{}: {} {} names particle {} twice", where, what, k, ids[i]));
    }
    if (groups[k].type >= types)
      throw UserError(fmt::format("{}: {} {} is of type {}, but there are {} types", where, what, k,
                                  groups[k].type, types));
  }
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

Frame read_frame(FrameReader& reader, const std::string& path, std::int64_t frame) {
  const std::int64_t n = reader.frames();
  const std::int64_t k = frame < 0 ? n + frame : frame;
  if (k < 0 || k >= n)
    throw UserError(
        fmt::format("{}: no frame {}: the file has {} frame{}", path, frame, n, n == 1 ? "" : "s"));
  return reader.read(k);
}

std::unique_ptr<FrameWriter> make_frame_writer(const std::string& path, Format format,
                                               const Frame& first) {
  switch (format) {
    case Format::h5md:
      return write_h5md(path, first);
    case Format::gsd:
      return write_gsd(path, first);
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

void check_frame(Configuration& c, const std::string& where) {
  const std::size_t n = c.position.size();
  if (n == 0) throw UserError(where + ": no particles");
  if (n >= (std::size_t(1) << 32))
    throw UserError(fmt::format("{}: {} particles, at most 2^32 - 1 are possible", where, n));
  if (c.type.size() != n)
    throw UserError(fmt::format("{}: {} types for {} particles", where, c.type.size(), n));
  check_size(c.velocity, n, "velocities", where);
  check_size(c.image, n, "images", where);
  check_size(c.mass, n, "masses", where);
  check_size(c.charge, n, "charges", where);
  check_size(c.diameter, n, "diameters", where);
  check_size(c.topology.molecule, n, "molecules", where);
  check_vectors(c.position, "coordinate", where);
  check_vectors(c.velocity, "velocity", where);
  Box& box = c.box;
  for (int axis = 0; axis < 3; ++axis)
    if (!(box.length[axis] > 0) || !std::isfinite(box.length[axis]))
      throw UserError(fmt::format("{}: box length {} is {}, expected a positive number", where,
                                  "xyz"[axis], box.length[axis]));
  for (std::size_t i = 0; i < n; ++i) {
    if (c.type[i] >= c.types.size())
      throw UserError(fmt::format("{}: particle {} is of type {}, but there are {} types", where, i,
                                  c.type[i], c.types.size()));
    if (!c.mass.empty() && !(c.mass[i] > 0 && std::isfinite(c.mass[i])))
      throw UserError(fmt::format("{}: mass of particle {} is {}, expected a positive number",
                                  where, i, c.mass[i]));
  }
  check_members(c.topology.bonds, c.topology.bond_types.size(), n, "bond", where);
  check_members(c.topology.angles, c.topology.angle_types.size(), n, "angle", where);

  if (box.dimension == 2) {
    box.length.z = 1, box.xz = 0, box.yz = 0, box.origin.z = -0.5;
    for (auto& r : c.position) r.z = 0;
    for (auto& v : c.velocity) v.z = 0;
  }
  const auto edges = box.edges();
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3<double> s = box.fraction(c.position[i]);
    for (int axis = 0; axis < 3; ++axis) {
      if (!box.periodic[std::size_t(axis)]) {
        // A particle on the face may be a rounding error beyond it.
        if (s[axis] < -1e-6 || s[axis] > 1 + 1e-6)
          throw UserError(
              fmt::format("{}: particle {} lies outside of the box along {}, which is not periodic",
                          where, i, "xyz"[axis]));
        continue;
      }
      const double whole = std::floor(s[axis]);
      if (whole == 0) continue;
      if (std::abs(whole) > 1e9)
        throw UserError(fmt::format("{}: particle {} lies {} boxes away along {}", where, i, whole,
                                    "xyz"[axis]));
      if (c.image.empty()) c.image.assign(n, Image{});
      c.position[i] -= whole * edges[std::size_t(axis)];
      c.image[i][axis] += std::int32_t(whole);
    }
  }
}

}  // namespace perrin::io
