// Starts made of parts, for their tests: made from JSON, and what is true of all of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/components/registry.h"
#include "engine/system/bond_graph.h"
#include "engine/system/nearest_vector.h"
#include "io/formats.h"
#include "io/register.h"

namespace perrin {

inline constexpr double pi = 3.141592653589793;

/// The system "parts" with these settings after its type.
inline Configuration make_start(const std::string& settings, std::uint64_t seed = 12,
                                int threads = 1) {
  static const auto registry = [] {
    auto r = std::make_unique<Registry>();
    register_sources(*r);
    return r;
  }();
  SetupContext context;
  context.seed = seed;
  context.device = Device::cpu(threads);
  Configuration c =
      make_component<Source>(*registry, R"({"type": "parts", )" + settings + "}", context)->make();
  io::check_frame(c, "parts");
  return c;
}

/// In this box, with no minimum distance but what the settings say.
inline Configuration in_box(const std::string& parts, const std::string& more = "",
                            std::uint64_t seed = 12) {
  return make_start(R"("box": [16, 16, 16], )" + more + R"("parts": [)" + parts + "]", seed);
}

/// What is wrong with the settings; empty: nothing.
inline std::string mistakes_of(const std::string& settings) {
  try {
    make_start(settings);
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

/// A particle's position with its image.
inline Vec3<double> unwrapped(const Configuration& c, std::uint32_t id) {
  const auto edges = c.box.edges();
  Vec3<double> r = c.position[id];
  for (int axis = 0; axis < 3; ++axis) r += double(c.image[id][axis]) * edges[std::size_t(axis)];
  return r;
}

inline double length(Vec3<double> r) { return std::sqrt(dot(r, r)); }

/// Every pair, by brute force: nearer than `distance` says of their types are only pairs that may
/// be.
inline void expect_apart(
    const Configuration& c,
    const std::function<double(const std::string&, const std::string&)>& distance,
    const std::function<bool(std::uint32_t, std::uint32_t)>& may_be_near) {
  const auto images = images_of(c.box);
  for (std::uint32_t i = 0; i < c.position.size(); ++i)
    for (std::uint32_t j = 0; j < i; ++j) {
      const double d = length(images.nearest(c.position[i] - c.position[j]));
      const double least = distance(c.types[c.type[i]], c.types[c.type[j]]);
      if (d < least - 1e-9 && !may_be_near(i, j)) {
        ADD_FAILURE() << "particles " << i << " and " << j << " are " << d << " apart, not "
                      << least;
        return;
      }
    }
}

/// Whether two particles are bonded.
class Bonded {
 public:
  explicit Bonded(const Configuration& c) {
    for (const auto& bond : c.topology.bonds) pairs_.insert(std::minmax(bond.a, bond.b));
  }
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return pairs_.contains(std::minmax(a, b));
  }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs_;
};

/// How many beads of a molecule have 0, 1, 2, … bonds.
inline std::vector<int> degrees(const Configuration& c, std::uint32_t molecule) {
  const BondGraph graph(c.position.size(), c.topology.bonds);
  std::vector<int> found;
  for (std::uint32_t id = 0; id < c.position.size(); ++id) {
    if (c.topology.molecule[id] != molecule) continue;
    const std::size_t degree = graph.neighbors(id).size();
    found.resize(std::max(found.size(), degree + 1));
    ++found[degree];
  }
  return found;
}

/// Every bond is this long and within one molecule; what a molecule is, bonds hold together.
inline void expect_bonds(const Configuration& c, double bond_length) {
  for (const auto& bond : c.topology.bonds) {
    EXPECT_NEAR(length(unwrapped(c, bond.a) - unwrapped(c, bond.b)), bond_length, 1e-9);
    EXPECT_EQ(c.topology.molecule[bond.a], c.topology.molecule[bond.b]);
  }
  EXPECT_EQ(BondGraph(c.position.size(), c.topology.bonds).molecules(), c.topology.molecule);
}

inline int count_type(const Configuration& c, const std::string& name) {
  int n = 0;
  for (const std::uint32_t t : c.type) n += c.types[t] == name ? 1 : 0;
  return n;
}

}  // namespace perrin
