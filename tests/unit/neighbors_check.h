// Pairs found by a traversal against all pairs by brute force, in double precision on the host.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "neighbor/neighbors.h"
#include "neighbor/pair_loop.h"

namespace perrin {

/// What every particle should get from its neighbours: how many there are, who they are (two
/// checksums), and the sum of the vectors to them. Any traversal of the pairs must give this.
constexpr int checks = 6;

PERRIN_HD Real checksum(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
  return Real((std::uint64_t(a) * b + a + b) % modulus);  // even under exchange; sums stay exact
}

struct CheckBody {
  static constexpr int sums = checks, odd = 3;
  static constexpr bool has_extra = true;
  const Position* position;
  const std::uint32_t* id;
  const Real* range2;  // [type · types + type]
  std::uint32_t types;
  Real* result;  // checks per id
  struct Own {
    std::uint32_t id, row;
  };
  PERRIN_HD Own own(std::int64_t i) const { return {id[i], position[i].type() * types}; }
  PERRIN_HD Real extra(std::uint32_t j) const { return Real(id[j]); }
  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, Real extra, bool real,
                      Real (&term)[sums]) const {
    const bool inside = real && dot(d, d) < range2[own.row + type];
    const std::uint32_t other = std::uint32_t(extra);
    term[0] = inside ? d.x : Real(0), term[1] = inside ? d.y : Real(0);
    term[2] = inside ? d.z : Real(0), term[3] = inside ? Real(1) : Real(0);
    term[4] = inside ? checksum(own.id, other, 1009) : Real(0);
    term[5] = inside ? checksum(own.id, other, 757) : Real(0);
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    for (int k = 0; k < sums; ++k) result[std::int64_t(id[i]) * sums + k] = sum[k];
  }
};

using Excluded = std::function<bool(std::uint32_t, std::uint32_t)>;

struct Pairs {
  std::size_t in_range = 0;  // each is seen from both sides
  std::size_t in_reach = 0;  // of lists: with the skin
};

/// All pairs, in double precision, against the traversal.
inline Pairs compare_with_brute_force(Neighbors& neighbors, const Excluded& excluded = {}) {
  const Particles& particles = neighbors.particles();
  const auto position = particles.position().to_host();
  const auto id = particles.id().to_host();
  const std::size_t n = position.size();
  const Ranges& ranges = neighbors.ranges();
  const auto types = std::uint32_t(std::max<std::size_t>(1, particles.properties().types.size()));
  std::vector<Real> range2;
  for (std::uint32_t a = 0; a < types; ++a)
    for (std::uint32_t b = 0; b < types; ++b) range2.push_back(Real(ranges(a, b) * ranges(a, b)));
  Buffer<Real> table(particles.device(), std::span<const Real>(range2));
  Buffer<Real> result(particles.device(), std::int64_t(n * checks));
  pair_loop("check", neighbors,
            CheckBody{particles.position().data(), particles.id().data(), table.data(), types,
                      result.data()});
  const auto got = result.to_host();

  const double two32 = 4294967296.0;
  const auto edges = particles.box().edges();
  double stretch[3];
  for (int axis = 0; axis < 3; ++axis)
    stretch[axis] =
        particles.box().periodic[std::size_t(axis)] ? 1 : 1 + 2 * particles.box().padding[axis];
  Pairs pairs;
  bool wrong = false;  // one particle will do
  for (std::size_t i = 0; i < n; ++i) {
    double expected[checks] = {};
    bool marginal = false;  // a pair at the range itself may be on either side
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j || (excluded && excluded(id[i], id[j]))) continue;
      const auto along = [&](std::uint32_t a, std::uint32_t b, int axis) {
        return double(std::int32_t(a - b)) / two32 * stretch[axis];
      };
      const double fx = along(position[i].x, position[j].x, 0);
      const double fy = along(position[i].y, position[j].y, 1);
      const double fz = along(position[i].z, position[j].z, 2);
      const Vec3<double> d = fx * edges[0] + fy * edges[1] + fz * edges[2];
      const double r = std::sqrt(dot(d, d));
      const double range = ranges(position[i].type(), position[j].type());
      if (range > 0 && r < range + neighbors.skin()) ++pairs.in_reach;
      if (range > 0 && std::abs(r - range) < 1e-5 * range) marginal = true;
      if (!(r < range)) continue;
      ++pairs.in_range;
      expected[0] += d.x, expected[1] += d.y, expected[2] += d.z;
      expected[3] += 1;
      expected[4] += double(checksum(id[i], id[j], 1009));
      expected[5] += double(checksum(id[i], id[j], 757));
    }
    if (marginal || wrong) continue;
    const Real* mine = &got[id[i] * checks];
    for (int k = 3; k < checks; ++k) {
      EXPECT_EQ(double(mine[k]), expected[k]) << "particle " << id[i];
      wrong = wrong || double(mine[k]) != expected[k];
    }
    // Coordinates in single precision: a few units of the last place of the box's edge per pair.
    const double tolerance =
        (sizeof(Real) == 4 ? 1e-6 : 1e-12) * neighbors.range() * (1 + expected[3]);
    for (int k = 0; k < 3 && !wrong; ++k) {
      EXPECT_NEAR(double(mine[k]), expected[k], tolerance) << id[i];
      wrong = !(std::abs(double(mine[k]) - expected[k]) <= tolerance);
    }
  }
  return pairs;
}

}  // namespace perrin
