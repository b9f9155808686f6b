#include "app/report/frame_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "app/report/number.h"
#include "engine/base/error.h"
#include "engine/system/bond_graph.h"
#include "io/formats.h"

namespace perrin::report {
namespace {

constexpr std::size_t most_shown = 20000, most_bonds = 40000;

std::string base64(const std::vector<unsigned char>& bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i)
      word = word << 8 | (k + i < bytes.size() ? bytes[k + i] : 0u);
    for (std::size_t i = 0; i < 4; ++i)
      text += k + i <= bytes.size() ? digits[word >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::uint64_t scrambled(std::uint64_t x) {  // the output function of SplitMix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// [type] whether it is what the others swim in: none of its particles has a bond, and it is more
/// than half of a system that has bonds.
std::vector<bool> solvents(const Configuration& c) {
  std::vector<std::size_t> count(c.types.size());
  std::vector<bool> bonded(c.types.size()), solvent(c.types.size());
  for (const std::uint32_t t : c.type) ++count[t];
  for (const auto& bond : c.topology.bonds) bonded[c.type[bond.a]] = bonded[c.type[bond.b]] = true;
  for (std::size_t t = 0; t < count.size(); ++t)
    solvent[t] = !c.topology.bonds.empty() && !bonded[t] && 2 * count[t] > c.type.size();
  return solvent;
}

/// Ids of the particles that are shown, ascending: of too many a random choice, solvent last.
std::vector<std::uint32_t> choose(const Configuration& c, const std::vector<bool>& solvent) {
  std::vector<std::uint32_t> ids(c.position.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = std::uint32_t(k);
  if (ids.size() <= most_shown) return ids;
  const auto& molecule = c.topology.molecule;
  const auto group = [&](std::uint32_t id) { return molecule.empty() ? id : molecule[id]; };
  std::ranges::sort(ids, {}, [&](std::uint32_t id) {
    return std::tuple(bool(solvent[c.type[id]]),
                      scrambled(0x9e3779b97f4a7c15u * (group(id) + 1ull)), id);
  });
  std::size_t n = most_shown;  // no molecule in part, unless it alone is more
  while (n > 0 && group(ids[n - 1]) == group(ids[n])) --n;
  ids.erase(ids.begin() + std::ptrdiff_t(n > 0 ? n : most_shown), ids.end());
  std::ranges::sort(ids);
  return ids;
}

/// Between neighbours, usually: the median over some particles, not looking across faces.
double usual_distance(const Configuration& c) {
  const std::size_t n = c.position.size(), step = std::max<std::size_t>(1, n / 40);
  if (n < 2 || n > 2000000) return std::cbrt(c.box.volume() / double(std::max<std::size_t>(1, n)));
  std::vector<double> nearest;
  for (std::size_t a = 0; a < n; a += step) {
    double least = INFINITY;
    for (std::size_t b = 0; b < n; ++b) {
      const Vec3<double> d = c.position[b] - c.position[a];
      if (b != a) least = std::min(least, dot(d, d));
    }
    nearest.push_back(std::sqrt(least));
  }
  std::ranges::nth_element(nearest, nearest.begin() + std::ptrdiff_t(nearest.size() / 2));
  return nearest[nearest.size() / 2];
}

Json bonds_of(const Configuration& c, const std::vector<std::uint32_t>& shown) {
  Json list = Json::array();
  const auto place = [&](std::uint32_t id) {
    const auto at = std::ranges::lower_bound(shown, id);
    return at != shown.end() && *at == id ? at - shown.begin() : -1;
  };
  for (const auto& bond : c.topology.bonds) {
    if (list.size() >= 2 * most_bonds) break;
    const auto a = place(bond.a), b = place(bond.b);
    if (a < 0 || b < 0) continue;
    list.push_back(a);
    list.push_back(b);
  }
  return list;
}

/// [shown] the colour of its molecule, 0 to 7; 255: it is alone in it. Empty: all are.
std::vector<unsigned char> molecule_colors(const Configuration& c,
                                           const std::vector<std::uint32_t>& shown) {
  const auto& molecule = c.topology.molecule;
  if (molecule.empty()) return {};
  std::unordered_map<std::uint32_t, std::size_t> size;
  for (const std::uint32_t id : shown) ++size[molecule[id]];
  std::vector<unsigned char> colors;
  bool any = false;
  for (const std::uint32_t id : shown) {
    const bool alone = size[molecule[id]] < 2;
    any = any || !alone;
    colors.push_back(static_cast<unsigned char>(alone ? 255 : molecule[id] % 8));
  }
  return any ? colors : std::vector<unsigned char>();
}

Json view_of(const Configuration& c, const std::vector<bool>& solvent) {
  const auto shown = choose(c, solvent);
  std::vector<unsigned char> place, type;
  for (const std::uint32_t id : shown) {
    const Vec3<double> f = c.box.fraction(c.position[id]);
    for (const double x : {f.x, f.y, f.z}) {
      const auto word = std::uint16_t(std::lround(65535 * std::clamp(x, 0.0, 1.0)));
      place.push_back(static_cast<unsigned char>(word & 255));
      place.push_back(static_cast<unsigned char>(word >> 8));
    }
    type.push_back(static_cast<unsigned char>(c.type[id] & 255));
  }
  const auto molecule = molecule_colors(c, shown);
  Json edges = Json::array();
  for (const Vec3<double>& e : c.box.edges()) edges.push_back(numbers(std::array{e.x, e.y, e.z}));
  return {{"shown", shown.size()},
          {"molecules", !c.topology.molecule.empty()},
          {"edges", edges},
          {"dimension", c.box.dimension},
          {"position", base64(place)},
          {"type", base64(type)},
          {"molecule", molecule.empty() ? Json() : Json(base64(molecule))},
          {"bonds", bonds_of(c, shown)},
          {"diameter", number(usual_distance(c))}};
}

}  // namespace

Json frame_view(const std::string& path, const std::string& format) {
  const auto reader = io::open_frames(path, io::format_of_name(format));
  const std::int64_t frames = reader->frames();
  io::Frame frame;
  std::string skipped;
  std::int64_t last = frames - 1;
  for (;; --last) {
    try {
      frame = reader->read(last);
      break;
    } catch (const UserError& e) {
      if (last <= std::max<std::int64_t>(0, frames - 3)) throw;
      skipped = e.what();
    }
  }
  // What bonds hold together, where the file does not say: GSD has no molecules.
  if (Topology& of = frame.configuration.topology; of.molecule.empty() && !of.bonds.empty())
    of.molecule = BondGraph(frame.configuration.position.size(), of.bonds).molecules();
  const Configuration& c = frame.configuration;
  std::vector<std::int64_t> count(c.types.size());
  for (const std::uint32_t t : c.type) ++count[t];
  const auto solvent = solvents(c);
  Json types = Json::array(), periodic = Json::array();
  for (std::size_t t = 0; t < count.size(); ++t)
    types.push_back({{"name", c.types[t]}, {"count", count[t]}, {"solvent", bool(solvent[t])}});
  for (const bool p : c.box.periodic) periodic.push_back(p);
  return {{"frames", frames},
          {"frame", last},
          {"skipped", skipped},
          {"step", c.step},
          {"time", number(frame.time)},
          {"units", {{"length", frame.units.length}, {"time", frame.units.time}}},
          {"particles", c.position.size()},
          {"bonds", c.topology.bonds.size()},
          {"types", types},
          {"periodic", periodic},
          {"view", view_of(c, solvent)}};
}

}  // namespace perrin::report
