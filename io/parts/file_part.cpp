// "file" and "source": molecules and whole configurations of other sources.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "engine/base/error.h"
#include "engine/system/bond_graph.h"
#include "engine/system/checks.h"
#include "io/file_orientations.h"
#include "io/parts/molecules.h"

namespace perrin::parts {
namespace {

/// Positions as bonds and images have them, across the faces of the box.
void make_whole(Configuration& c) {
  const auto edges = c.box.edges();
  for (std::size_t i = 0; i < c.image.size(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      c.position[i] += double(c.image[i][axis]) * edges[std::size_t(axis)];
  const BondGraph graph(c.position.size(), c.topology.bonds);
  const auto images = images_of(c.box);
  std::vector<char> seen(c.position.size(), 0);
  std::deque<std::uint32_t> next;
  for (std::uint32_t first = 0; c.image.empty() && first < seen.size(); ++first) {
    if (seen[first]) continue;
    seen[first] = 1;
    for (next = {first}; !next.empty(); next.pop_front())
      for (const std::uint32_t j : graph.neighbors(next.front())) {
        if (seen[j]) continue;
        const Vec3<double> from = c.position[next.front()];
        c.position[j] = from + images.nearest(c.position[j] - from);
        seen[j] = 1;
        next.push_back(j);
      }
  }
}

void check(const Configuration& c) {
  for (const std::string& what : check_parts(c)) throw UserError(what);
  for (const std::string& what : check_configuration(c)) throw UserError(what);
}

/// What a file says, checked; nothing after a mistake, which is reported at "path".
std::optional<Configuration> read(const FileSettings& settings, Setup& setup) {
  const auto source = make_file_source(settings, setup);
  if (!source) return std::nullopt;
  try {
    Configuration c = source->make();
    check(c);
    return c;
  } catch (const UserError& e) {
    setup.error("path", e.what());
    return std::nullopt;
  }
}

/// Throws where particles, each in its own box, lie further apart than this one is wide: it would
/// fold them in among each other.
void check_extent(const Configuration& c, const Box& box) {
  constexpr double rounding = 1e-6;  // of boxes in files
  Vec3<double> lower{1e300, 1e300, 1e300}, upper{-1e300, -1e300, -1e300};
  for (const Vec3<double>& r : c.position) {
    Vec3<double> own = c.box.fraction(r);
    for (int axis = 0; axis < 3; ++axis)
      if (c.box.periodic[std::size_t(axis)]) own[axis] -= std::floor(own[axis]);
    const Vec3<double> s = box.fraction(c.box.point(own));
    for (int axis = 0; axis < 3; ++axis)
      lower[axis] = std::min(lower[axis], s[axis]), upper[axis] = std::max(upper[axis], s[axis]);
  }
  for (int axis = 0; axis < box.dimension; ++axis) {
    const double extent = upper[axis] - lower[axis];
    if (!box.periodic[std::size_t(axis)] || extent <= 1 + rounding) continue;
    throw UserError(fmt::format(
        "its particles extend over {0:.6g} times the box along {1}, which would fold "
        "them in among each other: its own box has the edges {2:g}, {3:g}, {4:g} and "
        "the tilts {5:g}, {6:g}, {7:g}, that of \"parts\" {8:g}, {9:g}, {10:g} and "
        "{11:g}, {12:g}, {13:g}; expected a box at least as large, or of the same "
        "shape",
        extent, "xyz"[axis], c.box.length.x, c.box.length.y, c.box.length.z, c.box.xy, c.box.xz,
        c.box.yz, box.length.x, box.length.y, box.length.z, box.xy, box.xz, box.yz));
  }
}

/// A configuration that stays where it is.
class SourcePart : public StartPart {
 public:
  explicit SourcePart(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  std::vector<std::string> types() const override { return {}; }
  double particles(const Box&) const override { return 0; }
  void check(const Box&, const Distances&, const Report&) const override {}
  void place(Start& start, std::uint64_t seed) const override;

 private:
  void look_around(const Start& start, const Configuration& c) const;

  std::unique_ptr<Source> source_;
};

void SourcePart::look_around(const Start& start, const Configuration& c) const {
  const auto& names = start.type_names();
  const Region whole(std::nullopt, start.box());
  for (std::size_t i = 0; i < c.position.size(); ++i) {
    const Vec3<double> r = c.position[i];
    const std::string& name = c.types[c.type[i]];
    if (!whole.contains(r))
      throw UserError(fmt::format("its particle {} at ({:g}, {:g}, {:g}) is outside of the box", i,
                                  r.x, r.y, r.z));
    const auto known = std::ranges::find(names, name);
    const auto type = std::uint32_t(known - names.begin());
    const std::int64_t other = start.occupied().conflict(r, type);
    if (other < 0) continue;
    const std::string& near = names[start.occupied().type(std::size_t(other))];
    throw UserError(
        fmt::format("its particle {} (type {}) is nearer than {:g} to particle {} (type {}) of an "
                    "earlier part; use a smaller minimum distance of these types",
                    i, name, start.distances().between(name, near), other, near));
  }
}

void SourcePart::place(Start& start, std::uint64_t) const {
  Configuration c = source_->make();
  parts::check(c);
  if (c.box.dimension != start.box().dimension)
    throw UserError(fmt::format("has {} dimensions, but the box has {}", c.box.dimension,
                                start.box().dimension));
  if (!c.velocity.empty()) start.warn("velocities of a part are left out");
  if (const std::string lost = io::lost_orientations(c); !lost.empty()) start.warn(lost);
  if (const std::string lost = io::lost_bodies(c); !lost.empty()) start.warn(lost);
  for (const std::string& what : c.warnings) start.warn(what);
  start.types(c.types);
  // Molecules that cross a face of its own box are whole across that of this one.
  make_whole(c);
  look_around(start, c);
  check_extent(c, start.box());
  start.append(c, c.position, false);
}

}  // namespace

std::unique_ptr<StartPart> make_file_part(const FilePartSettings& s, Setup& setup) {
  FileSettings file = s.file;
  file.velocities = false;
  auto molecule = read(file, setup);
  if (!molecule) return nullptr;
  if (!check_count(double(molecule->position.size()) * double(s.number), "number", setup))
    return nullptr;
  for (const std::string& lost : {io::lost_orientations(*molecule), io::lost_bodies(*molecule)})
    if (!lost.empty()) setup.warn("path", lost);
  make_whole(*molecule);
  return std::make_unique<RigidPart>(std::move(*molecule), s);
}

std::unique_ptr<StartPart> make_source_part(const SourcePartSettings& s, Setup& setup) {
  auto source = setup.make(s.system);
  if (!source) return nullptr;
  return std::make_unique<SourcePart>(std::move(source));
}

}  // namespace perrin::parts
