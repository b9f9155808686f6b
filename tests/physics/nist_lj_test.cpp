// Energies, virials and pair counts of NIST's Lennard-Jones sample configurations
// (tests/reference/nist_lj/README.md). The default build must agree to 2e-6, the double build to
// 1e-9: there the step of the fixed-point positions is what is left.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <random>

#include "engine/dynamics/simulation.h"
#include "forces/potentials/lennard_jones.h"
#include "neighbor/pair_loop.h"
#include "tests/count_neighbors.h"
#include "tests/devices.h"
#include "tests/fluids.h"
#include "tests/ways.h"

namespace perrin {
namespace {

struct Row {
  int configuration;
  double cutoff, energy, virial;  // virial: sum over pairs of f · r
  long pairs;
  double tail;
};
const Row truncated[] = {{1, 3, -4351.540194544, -568.665465318, 35677, -198.488883744},
                         {1, 4, -4467.495724948, -1263.883371872, 85488, -83.768986403},
                         {2, 3, -690.004045173, -568.457340738, 5038, -24.229600066},
                         {2, 4, -704.603319727, -655.987560707, 11215, -10.225706348},
                         {3, 3, -1146.667420834, -1164.949650713, 9263, -49.622220936},
                         {3, 4, -1175.380567225, -1337.102617301, 21683, -20.942246601},
                         {4, 3, -16.790321305, -46.249196746, 129, -0.545166001},
                         {4, 4, -17.060453220, -47.868828191, 249, -0.230078393}};
const Row shifted[] = {{1, 3, -3870.924885784, 317.538346012, 35677, 0},
                       {2, 3, -620.119860998, -445.331049620, 5038, 0},
                       {3, 3, -1020.965707482, -935.777201176, 9263, 0},
                       {4, 3, -15.001402287, -43.096005539, 129, 0}};
constexpr double tolerance = sizeof(Real) == 4 ? 2e-6 : 1e-9;

Configuration read(int number) {
  std::ifstream in(std::string(PERRIN_SOURCE_DIR) +
                   "/tests/reference/nist_lj/lj_sample_config_periodic" + std::to_string(number) +
                   ".txt");
  Configuration c;
  std::size_t n = 0;
  in >> c.box.length.x >> c.box.length.y >> c.box.length.z >> n;
  c.box.origin = -0.5 * c.box.length;
  c.types = {"A"};
  for (std::size_t k = 0; k < n; ++k) {
    long id = 0;
    Vec3<double> r;
    in >> id >> r.x >> r.y >> r.z;
    c.position.push_back(r);
  }
  EXPECT_TRUE(bool(in)) << "cannot read configuration " << number;
  c.type.assign(c.position.size(), 0);
  return c;
}

/// Standard deviation of the virial from rounding every coordinate to the fixed-point step: half a
/// step at most, h/sqrt(3) root mean square, on both particles of each pair, along the line between
/// them.
double virial_rounding(const Configuration& c, double cutoff) {
  const double h = c.box.length.x / 8589934592.0;  // 2^33
  double sum = 0;
  for (std::size_t i = 0; i < c.position.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Vec3<double> d = c.position[i] - c.position[j];
      for (int axis = 0; axis < 3; ++axis)
        d[axis] -= c.box.length[axis] * std::rint(d[axis] / c.box.length[axis]);
      const double r2 = dot(d, d), s6 = 1 / (r2 * r2 * r2);
      if (r2 >= cutoff * cutoff) continue;
      const double slope = 24 * (6 * s6 - 24 * s6 * s6) / std::sqrt(r2);  // dW/dr of a pair
      sum += slope * slope;
    }
  return h * std::sqrt(2.0 / 3 * sum);
}

long pairs_in_range(Simulation& s) {
  Buffer<Real> result(s.device(), s.particles().size());
  const double range = s.neighbors()->range();
  pair_loop("count pairs", *s.neighbors(), CountNeighbors{Real(range * range), result.data()});
  double total = 0;
  for (const Real n : result.to_host()) total += double(n);
  return std::lround(total / 2);
}

class NistLj : public DeviceTest {
 protected:
  void check(const Row& row, const char* truncation) {
    SCOPED_TRACE(testing::Message()
                 << "configuration " << row.configuration << ", cut-off " << row.cutoff);
    NeighborSettings settings;
    settings.skin = 1e-6;  // the list then holds the pairs within the cut-off, each twice
    Simulation s(device(), read(row.configuration), lennard_jones(device(), row.cutoff, truncation),
                 0, settings);
    const Totals& t = s.totals();
    EXPECT_NEAR(t.potential, row.energy, tolerance * std::abs(row.energy));
    // Terms of both signs cancel in the virial; the rounding is that of the terms, whose size the
    // energy has.
    EXPECT_NEAR(t.virial[0] + t.virial[1] + t.virial[2], row.virial,
                tolerance * (std::abs(row.virial) + 6 * std::abs(row.energy)) +
                    4 * virial_rounding(read(row.configuration), row.cutoff));
    EXPECT_EQ(pairs_in_range(s), row.pairs);
  }
};

TEST_P(NistLj, PlainCut) {
  for (const Row& row : truncated) check(row, "cut");
}

TEST_P(NistLj, LinearForceShift) {
  for (const Row& row : shifted) check(row, "force_shift");
}

TEST(NistLjTail, LongRangeCorrections) {
  for (const Row& row : truncated) {
    const Configuration c = read(row.configuration);
    const double n = double(c.position.size());
    const double tail =
        2 * M_PI * n * n / c.box.volume() * LennardJones::tail_energy({1, 1}, row.cutoff);
    EXPECT_NEAR(tail, row.tail, 1e-8);
  }
}

/// Near the given length, one that float rounds up or down nearly as far as it can.
double badly_rounded(double length, bool up) {
  for (;; length *= 1 + 1e-9) {
    const double strain = double(float(length)) / length - 1;
    if (up ? strain > 4.5e-8 : strain < -4.5e-8) return length;
  }
}

/// A compressed crystal, its particles a little displaced, with edges that a float cannot hold.
/// Forces nearly cancel, so that rounding of coordinates does little.
Configuration compressed(double tilt) {
  Configuration c = fcc(6, 1.35);
  std::mt19937 generator(5);
  std::uniform_real_distribution<double> u(-0.02, 0.02);
  Box& box = c.box;
  const Box old = box;
  for (int axis = 0; axis < 3; ++axis) box.length[axis] = badly_rounded(8.5 + 0.1 * axis, true);
  box.xy = tilt == 0 ? 0 : badly_rounded(tilt, true);
  box.yz = tilt == 0 ? 0 : badly_rounded(tilt / 2, true);
  for (auto& r : c.position)
    r = box.point(old.fraction(r)) + Vec3<double>{u(generator), u(generator), u(generator)};
  return c;
}

struct Reference {
  double energy = 0, virial = 0;
};
Reference in_double(const Configuration& c, double cutoff) {
  const auto edge = c.box.edges();
  Reference sum;
  for (std::size_t i = 0; i < c.position.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Vec3<double> d = c.position[i] - c.position[j];
      for (std::size_t axis = 3; axis-- > 0;)  // right within less than half of the heights
        d = d - std::rint(d[int(axis)] / edge[axis][int(axis)]) * edge[axis];
      const double r2 = dot(d, d), s6 = 1 / (r2 * r2 * r2);
      if (r2 >= cutoff * cutoff) continue;
      sum.energy += 4 * s6 * (s6 - 1);
      sum.virial += 24 * s6 * (2 * s6 - 1);
    }
  return sum;
}

// All edges are rounded up by 4.5e-8 or more: without the correction the energy errs by that times
// the virial.
TEST_P(NistLj, EnergiesDoNotInheritTheRoundingOfTheEdges) {
  for (const double tilt : {0.0, 0.3}) {
    const Configuration c = compressed(tilt);
    const Reference expected = in_double(c, 3);
    ASSERT_GT(expected.virial, 5 * std::abs(expected.energy));
    for (const char* traversal : ways_of(device())) {
      SCOPED_TRACE(testing::Message() << traversal << ", tilt " << tilt);
      NeighborSettings settings = settings_of_way(traversal);
      Simulation s(device(), c, lennard_jones(device(), 3), 0, settings);
      EXPECT_NEAR(s.totals().potential, expected.energy, 1e-8 * expected.virial);
    }
  }
}

/// Forces by id, and energy and virial, of pairs whose sigma depends on both types.
struct MixtureReference {
  std::vector<Vec3<double>> force;
  double energy = 0;
  std::array<double, 6> virial{};
};
constexpr double mixture_cutoff = 2.5;
double mixture_sigma(std::uint32_t a, std::uint32_t b) { return 0.7 + 0.03 * ((a + b) % 9); }

MixtureReference mixture_in_double(const Configuration& c) {
  MixtureReference sum;
  sum.force.resize(c.position.size());
  for (std::size_t i = 0; i < c.position.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Vec3<double> d = c.position[i] - c.position[j];
      for (int k = 0; k < 3; ++k) d[k] -= c.box.length[k] * std::rint(d[k] / c.box.length[k]);
      const double r2 = dot(d, d), sigma = mixture_sigma(c.type[i], c.type[j]);
      if (r2 >= mixture_cutoff * mixture_cutoff) continue;
      const double s6 = std::pow(sigma * sigma / r2, 3);
      const Vec3<double> f = (24 * s6 * (2 * s6 - 1) / r2) * d;
      sum.energy += 4 * s6 * (s6 - 1);
      sum.force[i] += f, sum.force[j] -= f;
      const double six[6] = {d.x * f.x, d.y * f.y, d.z * f.z, d.x * f.y, d.x * f.z, d.y * f.z};
      for (std::size_t k = 0; k < 6; ++k) sum.virial[k] += six[k];
    }
  return sum;
}

// Coefficients by types are brought to the loops in several ways, by how many types there are.
TEST_P(NistLj, EveryPairOfTypesHasParametersOfItsOwn) {
  const double precision = sizeof(Real) == 4 ? 3e-6 : 1e-8;
  for (const std::uint32_t types : {1u, 3u, 40u}) {
    Configuration c = compressed(0);
    std::vector<LennardJonesPair> pairs;
    c.types.clear();
    for (std::uint32_t a = 0; a < types; ++a) {
      c.types.push_back(fmt::format("T{}", a));
      for (std::uint32_t b = 0; b < types; ++b)
        pairs.push_back({mixture_sigma(a, b), mixture_cutoff});
    }
    for (std::size_t i = 0; i < c.type.size(); ++i) c.type[i] = std::uint32_t(i * 7 / 3) % types;
    const MixtureReference expected = mixture_in_double(c);
    double largest = 0;
    for (const auto& f : expected.force) largest = std::max(largest, std::sqrt(dot(f, f)));
    for (const char* traversal : ways_of(device())) {
      SCOPED_TRACE(testing::Message() << traversal << ", " << types << " types");
      NeighborSettings settings = settings_of_way(traversal);
      Simulation s(device(), c, lennard_jones(device(), pairs, mixture_cutoff), 0, settings);
      const Totals& t = s.totals();
      const double scale = std::abs(expected.virial[0]) + std::abs(expected.energy);
      EXPECT_NEAR(t.potential, expected.energy, precision * scale);
      for (std::size_t k = 0; k < 6; ++k)
        EXPECT_NEAR(t.virial[k], expected.virial[k], precision * scale);
      s.ensure_forces();
      const auto force = s.particles().by_id(s.particles().force());
      double wrong = 0;
      for (std::size_t i = 0; i < force.size(); ++i)
        for (int k = 0; k < 3; ++k)
          wrong = std::max(wrong, std::abs(double(force[i].xyz()[k]) - expected.force[i][k]));
      EXPECT_LT(wrong, 10 * precision * largest);
    }
  }
}

PERRIN_INSTANTIATE_DEVICES(NistLj);

}  // namespace
}  // namespace perrin
