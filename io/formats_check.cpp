// What must be true of a frame, whatever format it was read from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "engine/base/error.h"
#include "engine/system/bond_images.h"
#include "io/file_orientations.h"
#include "io/formats.h"

namespace perrin::io {
namespace {

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

template <class Good>
void check_numbers(const std::vector<double>& values, const char* what, const char* expected,
                   const std::string& where, Good good) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) || !good(values[i]))
      throw UserError(fmt::format("{}: {} of particle {} is {}, expected {}", where, what, i,
                                  values[i], expected));
}

void check_names(const std::vector<std::string>& names, const char* what,
                 const std::string& where) {
  std::set<std::string> seen;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto control = [](unsigned char letter) { return std::iscntrl(letter) != 0; };
    if (names[k].empty() || std::ranges::any_of(names[k], control))
      throw UserError(fmt::format("{}: the name of {} {} is {}", where, what, k,
                                  names[k].empty() ? "empty" : "not plain text"));
    if (!seen.insert(names[k]).second)
      throw UserError(fmt::format("{}: two {}s have the name \"{}\"", where, what, names[k]));
  }
}

template <class Group>
void check_members(const std::vector<Group>& groups, std::size_t types, std::size_t n,
                   const char* what, const std::string& where, bool repeats) {
  // Types are the last member: of two, three or four particles.
  constexpr std::size_t width = sizeof(Group) / sizeof(std::uint32_t) - 1;
  std::vector<std::array<std::uint32_t, width + 1>> all(groups.size());
  for (std::size_t k = 0; k < groups.size(); ++k) {
    auto& ids = all[k];
    ids[0] = groups[k].a, ids[1] = groups[k].b;
    if constexpr (width >= 3) ids[2] = groups[k].c;
    if constexpr (width == 4) ids[3] = groups[k].d;
    for (std::size_t i = 0; i < width; ++i) {
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
    if (ids[0] > ids[width - 1]) std::reverse(ids.begin(), ids.begin() + width);
    ids[width] = groups[k].type;
  }
  if (repeats) return;
  std::ranges::sort(all);
  const auto twice = std::ranges::adjacent_find(all);
  if (twice == all.end()) return;
  throw UserError(fmt::format("{}: a {} of particles {} occurs twice", where, what,
                              fmt::join(twice->begin(), twice->end() - 1, ", ")));
}

void check_box(const Box& box, const std::string& where) {
  for (int axis = 0; axis < 3; ++axis)
    if (!(box.length[axis] > 0) || !std::isfinite(box.length[axis]))
      throw UserError(fmt::format("{}: box length {} is {}, expected a positive number", where,
                                  "xyz"[axis], box.length[axis]));
  for (const double number : {box.xy, box.xz, box.yz, box.origin.x, box.origin.y, box.origin.z})
    if (!std::isfinite(number))
      throw UserError(
          fmt::format("{}: tilts and origin of the box are {}, {}, {} and ({}, {}, {}),"
                      " expected finite numbers",
                      where, box.xy, box.xz, box.yz, box.origin.x, box.origin.y, box.origin.z));
}

void put_flat(Configuration& c) {
  Box& box = c.box;
  box.length.z = 1, box.xz = 0, box.yz = 0, box.origin.z = -0.5;
  if (std::ranges::any_of(c.velocity, [](const Vec3<double>& v) { return v.z != 0; }))
    c.warnings.emplace_back("velocities along z are left out: the system has two dimensions");
  if (std::ranges::any_of(c.angular_momentum,
                          [](const Vec3<double>& v) { return v.x != 0 || v.y != 0; }))
    c.warnings.emplace_back(
        "angular momenta about x and y are left out: the system has two dimensions");
  for (auto& r : c.position) r.z = 0;
  for (auto& v : c.velocity) v.z = 0;
  for (auto& image : c.image) image.z = 0;
  for (auto& spin : c.angular_momentum) spin.x = spin.y = 0;
}

/// A particle's image along an axis on which it was moved by `whole` boxes.
void add_image(std::int32_t& image, double whole, std::size_t i, int axis,
               const std::string& where) {
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  if (!(std::abs(whole) <= 1e9))
    throw UserError(
        fmt::format("{}: particle {} lies {} boxes away along {}", where, i, whole, "xyz"[axis]));
  const double sum = image + whole;
  if (std::abs(sum) > most)
    throw UserError(fmt::format("{}: image {} of particle {} is {}, expected at most {}", where,
                                "xyz"[axis], i, sum, most));
  image = std::int32_t(sum);
}

/// Does a file say in which boxes its particles are: by images (zeros alone are what programs write
/// that know none), or by positions that lie further outside of the box than a program leaves
/// wrapped ones between two wraps?
bool knows_images(const Configuration& c) {
  constexpr double outside = 0.1;  // of an edge
  if (std::ranges::any_of(c.image, [](const Image& i) { return i.x || i.y || i.z; })) return true;
  return std::ranges::any_of(c.position, [&](const Vec3<double>& r) {
    const Vec3<double> s = c.box.fraction(r);
    for (int axis = 0; axis < 3; ++axis)
      if (c.box.periodic[std::size_t(axis)] && (s[axis] < -outside || s[axis] > 1 + outside))
        return true;
    return false;
  });
}

void wrap(Configuration& c, const std::string& where) {
  const auto edges = c.box.edges();
  for (std::size_t i = 0; i < c.position.size(); ++i) {
    const Vec3<double> s = c.box.fraction(c.position[i]);
    for (int axis = 0; axis < 3; ++axis) {
      if (!c.box.periodic[std::size_t(axis)]) {
        // A particle on the face may be a rounding error beyond it.
        if (!(s[axis] >= -1e-6 && s[axis] <= 1 + 1e-6))
          throw UserError(
              fmt::format("{}: particle {} lies outside of the box along {}, which is not periodic",
                          where, i, "xyz"[axis]));
        if (!c.image.empty() && c.image[i][axis] != 0)
          throw UserError(
              fmt::format("{}: particle {} has the image {} along {}, which is not periodic: "
                          "expected 0; \"images\": false ignores images",
                          where, i, c.image[i][axis], "xyz"[axis]));
        continue;
      }
      const double whole = std::floor(s[axis]);
      if (whole == 0) continue;
      if (c.image.empty()) c.image.assign(c.position.size(), Image{});
      add_image(c.image[i][axis], whole, i, axis, where);
      c.position[i] -= whole * edges[std::size_t(axis)];
    }
  }
}

}  // namespace

void check_words(const std::vector<std::string>& names, const std::string& where) {
  for (const std::string& name : names)
    if (name.find_first_of(" \t#") != std::string::npos)
      throw UserError(fmt::format(
          "{}: the type \"{}\" has a space or # in its name: expected one word in this format",
          where, name));
}

bool looks_flat(const Configuration& c) {
  if (c.box.dimension == 2 || c.position.size() < 2) return false;
  if (!(c.box.length.z <= 0.5 * std::min(c.box.length.x, c.box.length.y))) return false;
  return std::ranges::all_of(c.position, [&](const auto& r) { return r.z == c.position[0].z; });
}

void check_frame(Configuration& c, const std::string& where, bool repeats) {
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
  check_box(c.box, where);
  check_names(c.types, "type", where);
  check_names(c.topology.bond_types, "bond type", where);
  check_names(c.topology.angle_types, "angle type", where);
  check_names(c.topology.dihedral_types, "dihedral type", where);
  check_names(c.topology.improper_types, "improper type", where);
  for (std::size_t i = 0; i < n; ++i)
    if (c.type[i] >= c.types.size())
      throw UserError(fmt::format("{}: particle {} is of type {}, but there are {} types", where, i,
                                  c.type[i], c.types.size()));
  check_numbers(c.mass, "mass", "a positive number", where, [](double m) { return m > 0; });
  check_orientations(c, where);
  check_numbers(c.charge, "charge", "a finite number", where, [](double) { return true; });
  check_numbers(c.diameter, "diameter", "a number that is not negative", where,
                [](double d) { return d >= 0; });
  check_members(c.topology.bonds, c.topology.bond_types.size(), n, "bond", where, repeats);
  check_members(c.topology.angles, c.topology.angle_types.size(), n, "angle", where, repeats);
  check_members(c.topology.dihedrals, c.topology.dihedral_types.size(), n, "dihedral", where,
                repeats);
  check_members(c.topology.impropers, c.topology.improper_types.size(), n, "improper", where,
                repeats);
  if (c.box.dimension == 2) put_flat(c);
  const bool known = knows_images(c);
  wrap(c, where);
  if (!known) images_from_bonds(c);
}

}  // namespace perrin::io
