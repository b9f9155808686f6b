// Cluster lists against all pairs by brute force, in double precision on the host.
#include "neighbor/clusters/clusters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "neighbor/clusters/cluster_loop.h"

namespace perrin {
namespace {

/// A pair within the cut-off adds: the vector, weighted (odd); 1 and a number that tells which two
/// particles it was (even).
struct Witness {
  static constexpr int sums = 5;
  static constexpr int odd = 3;
  static constexpr bool has_extra = true;
  const std::uint32_t* id;
  Real cutoff2;
  double* result;  // [id][sums]

  struct Own {
    std::uint32_t id;
  };
  PERRIN_HD static Real weight(Real r2) { return Real(1) / (Real(0.1) + r2); }
  PERRIN_HD static std::uint32_t mark(std::uint32_t a, std::uint32_t b) { return (a ^ b) & 1023u; }
  PERRIN_HD Own own(std::int64_t i) const { return {id[i]}; }
  PERRIN_HD Real4 extra(std::uint32_t j) const { return {Real(id[j]), 0, 0, 0}; }
  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4& other, bool real,
                      Real (&term)[sums]) const {
    const Real r2 = dot(d, d);
    const bool inside = real && r2 < cutoff2;
    const Real w = inside ? weight(r2) : Real(0);
    term[0] = w * d.x, term[1] = w * d.y, term[2] = w * d.z;
    term[3] = inside ? Real(1) : Real(0);
    const Real m = Real(std::int32_t(mark(own.id, std::uint32_t(std::int32_t(other.x)))));
    term[4] = inside ? m + Real(std::int32_t(type & 1u)) * 0 : Real(0);
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    for (int s = 0; s < sums; ++s) result[std::int64_t(id[i]) * sums + s] = double(sum[s]);
  }
};

struct System {
  const char* name;
  std::function<Configuration()> make;
  double range;
};

Vec3<double> uniform(std::mt19937& g) {
  std::uniform_real_distribution<double> u(0, 1);
  return {u(g), u(g), u(g)};
}

Vec3<double> droplet(std::mt19937& g) {
  std::normal_distribution<double> u(0.97, 0.03);  // across three faces
  return {u(g), u(g), u(g)};
}

Configuration filled(Box box, std::size_t n, unsigned seed,
                     const std::function<Vec3<double>(std::mt19937&)>& fraction) {
  Configuration c;
  c.box = box;
  c.types = {"A"};
  std::mt19937 generator(seed);
  for (std::size_t k = 0; k < n; ++k) c.position.push_back(box.point(fraction(generator)));
  c.type.assign(n, 0);
  return c;
}

Box edges(double x, double y, double z) {
  Box box;
  box.length = {x, y, z};
  box.origin = {-x / 2, -y / 2, -z / 2};
  return box;
}

Box sheared(Box box, double xy, double xz, double yz) {
  box.xy = xy, box.xz = xz, box.yz = yz;
  return box;
}

Box flat(double x, double y) {
  Box box = edges(x, y, 1);
  box.dimension = 2;
  return box;
}

Vec3<double> in_the_plane(std::mt19937& g) {
  Vec3<double> f = uniform(g);
  f.z = 0.5;
  return f;
}

std::vector<System> systems() {
  return {
      {"random", [] { return filled(edges(12, 11, 13), 1500, 1, uniform); }, 2.0},
      {"droplet", [] { return filled(edges(40, 40, 40), 1200, 2, droplet); }, 1.5},
      {"droplet in vapour",
       [] {
         return filled(edges(40, 30, 35), 1500, 3,
                       [](std::mt19937& g) { return g() % 3 == 0 ? uniform(g) : droplet(g); });
       },
       1.5},
      {"thin along x", [] { return filled(edges(60, 4.5, 5), 900, 4, uniform); }, 1.9},
      {"thin along z", [] { return filled(edges(5, 4.5, 60), 900, 5, uniform); }, 1.9},
      {"plate", [] { return filled(edges(25, 3.9, 30), 1500, 6, uniform); }, 1.75},
      {"two ranges wide", [] { return filled(edges(4.4, 4.4, 4.4), 60, 7, uniform); }, 2.0},
      {"two ranges wide, dense", [] { return filled(edges(4.4, 4.4, 4.4), 700, 8, uniform); }, 2.0},
      {"two particles", [] { return filled(edges(9, 9, 9), 2, 9, uniform); }, 4.0},
      {"nearly empty", [] { return filled(edges(1000, 1000, 1000), 40, 10, uniform); }, 300.0},
      {"a gas", [] { return filled(edges(80, 80, 80), 1000, 11, uniform); }, 6.0},
      {"triclinic",
       [] { return filled(sheared(edges(12, 10, 11), 4, -3, 2.5), 1300, 12, uniform); }, 1.8},
      {"triclinic, two ranges wide",
       [] { return filled(sheared(edges(6, 5, 5.5), 2, -1.5, 1.2), 200, 13, uniform); }, 2.0},
      {"2D", [] { return filled(flat(30, 25), 800, 14, in_the_plane); }, 2.2},
      {"2D, narrow", [] { return filled(flat(4.4, 25), 300, 15, in_the_plane); }, 2.0},
      {"slab, not periodic in z",
       [] {
         Box box = edges(12, 12, 9);
         box.periodic[2] = false;
         return filled(box.padded_for(2.5), 1000, 16, uniform);
       },
       2.0},
      {"a crystal",
       [] {
         Configuration c = filled(edges(10, 10, 10), 0, 0, uniform);
         for (int k = 0; k < 1000; ++k)
           c.position.push_back({k % 10 - 5.0, k / 10 % 10 - 5.0, k / 100 - 5.0});
         c.type.assign(1000, 0);
         return c;
       },
       2.5},
  };
}

/// Vectors of the minimum image from the fixed-point positions, in double.
struct Exact {
  explicit Exact(const Particles& particles)
      : position(particles.position().to_host()), id(particles.id().to_host()) {
    const auto e = particles.box().edges();
    for (int axis = 0; axis < 3; ++axis) {
      const double stretch =
          particles.box().periodic[std::size_t(axis)] ? 1 : 1 + 2 * particles.box().padding[axis];
      edge[axis] = (stretch / 4294967296.0) * e[std::size_t(axis)];
    }
  }
  Vec3<double> vector(std::size_t i, std::size_t j) const {
    const auto& a = position[i];
    const auto& b = position[j];
    return double(std::int32_t(a.x - b.x)) * edge[0] + double(std::int32_t(a.y - b.y)) * edge[1] +
           double(std::int32_t(a.z - b.z)) * edge[2];
  }
  std::vector<Position> position;
  std::vector<std::uint32_t> id;
  Vec3<double> edge[3];
};

/// Every `stride`-th particle's sums must be those of all its pairs. Pairs within rounding of the
/// cut-off may be in or out; `skip` leaves out what is excluded (ids).
void expect_all_pairs(const Particles& particles, const std::vector<double>& result, double cutoff,
                      std::size_t stride = 1,
                      const std::function<bool(std::uint32_t, std::uint32_t)>& skip = nullptr) {
  const Exact exact(particles);
  const std::size_t n = exact.id.size();
  std::size_t wrong = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < n; i += stride) {
    double low[Witness::sums] = {}, size = 0;
    bool doubtful = false;
    const std::uint32_t me = exact.id[i];
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t other = exact.id[j];
      if (i == j || (skip && skip(me, other))) continue;
      const Vec3<double> d = exact.vector(i, j);
      const double r2 = dot(d, d);
      if (std::abs(r2 - cutoff * cutoff) < 1e-5 * cutoff * cutoff) doubtful = true;
      if (!(r2 < cutoff * cutoff)) continue;
      const double w = 1 / (0.1 + r2);
      low[0] += w * d.x, low[1] += w * d.y, low[2] += w * d.z, low[3] += 1;
      low[4] += Witness::mark(me, other);
      size += w * std::sqrt(r2);
    }
    pairs += low[3];
    if (doubtful) continue;
    const double* got = result.data() + std::size_t(me) * Witness::sums;
    bool good = got[3] == low[3] && got[4] == low[4];
    for (int s = 0; s < 3; ++s) good = good && std::abs(got[s] - low[s]) <= 2e-5 * size;
    if (!good && ++wrong <= 3)
      ADD_FAILURE() << "particle " << me << ": " << got[3] << " pairs, mark " << got[4] << ", ("
                    << got[0] << ", " << got[1] << ", " << got[2] << "); expected " << low[3]
                    << ", " << low[4] << ", (" << low[0] << ", " << low[1] << ", " << low[2] << ")";
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GE(pairs, n > 100 ? 20 : 0);
}

std::vector<double> run(const ClusterList& list, double cutoff) {
  const Particles& particles = list.particles();
  std::vector<double> result(std::size_t(particles.size()) * Witness::sums, -1);
  run_pairs("witness", list, Witness{particles.id().data(), Real(cutoff * cutoff), result.data()});
  return result;
}

/// Moves every particle by at most `distance`.
void shake(Particles& particles, double distance, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Metric metric = particles.box().metric();
  auto p = particles.position().to_host();
  for (auto& q : p) {
    Vec3<double> d{u(generator), u(generator), u(generator)};
    if (particles.box().dimension == 2) d.z = 0;
    d *= distance / std::sqrt(3.0);
    const Real3 f = metric.fixed({Real(d.x), Real(d.y), Real(d.z)});
    q.x += std::uint32_t(std::int32_t(f.x)), q.y += std::uint32_t(std::int32_t(f.y));
    q.z += std::uint32_t(std::int32_t(f.z));
  }
  particles.position().assign(p);
}

TEST(Clusters, EveryPairOnceBeforeAndAfterMoves) {
  for (const auto& system : systems()) {
    SCOPED_TRACE(system.name);
    const double skin = 0.1 * system.range;
    Particles particles(Device::cpu(2), system.make());
    ClusterList list(particles, system.range + skin, {});
    list.build();
    const auto id = particles.id().to_host();
    const auto index = particles.index().to_host();
    for (std::size_t i = 0; i < id.size(); ++i) ASSERT_EQ(index[id[i]], i);
    expect_all_pairs(particles, run(list, system.range), system.range);
    shake(particles, 0.49 * skin, 1);
    expect_all_pairs(particles, run(list, system.range), system.range);
    list.build();
    expect_all_pairs(particles, run(list, system.range), system.range);
  }
}

TEST(Clusters, SameBitsWhateverTheThreads) {
  const auto system = systems()[0];
  std::vector<double> expected;
  for (const int threads : {1, 2, 3, 7}) {
    Particles particles(Device::cpu(threads), system.make());
    ClusterList list(particles, system.range + 0.2, {});
    list.build();
    shake(particles, 0.09, 1);
    const auto result = run(list, system.range);
    if (expected.empty()) expected = result;
    EXPECT_EQ(result, expected);
  }
}

TEST(Clusters, BuildingAgainChangesNothing) {
  for (const auto& system : systems()) {
    SCOPED_TRACE(system.name);
    Particles particles(Device::cpu(1), system.make());
    ClusterList list(particles, 1.1 * system.range, {}), other(particles, 1.1 * system.range, {});
    list.build();
    const auto id = particles.id().to_host();
    const auto expected = run(list, system.range);
    other.build();
    EXPECT_EQ(particles.id().to_host(), id);
    EXPECT_EQ(run(other, system.range), expected);
  }
}

TEST(Clusters, ExclusionsByMask) {
  // Chains of ten: neighbours along the chain and the ends of an angle are left out.
  for (const double range : {3.5, 1.5}) {
    Particles particles(Device::cpu(2), filled(edges(8, 8, 8), 300, 20, uniform));
    const auto skip = [](std::uint32_t a, std::uint32_t b) {
      return a / 10 == b / 10 && (a > b ? a - b : b - a) <= 2;
    };
    std::vector<std::uint32_t> begin{0}, excluded;
    for (std::uint32_t a = 0; a < 300; ++a) {
      for (std::uint32_t b = 0; b < 300; ++b)
        if (a != b && skip(a, b)) excluded.push_back(b);
      begin.push_back(std::uint32_t(excluded.size()));
    }
    ClusterList list(particles, range + 0.3, {begin.data(), excluded.data()});
    list.build();
    shake(particles, 0.14, 2);
    expect_all_pairs(particles, run(list, range), range, 1, skip);
  }
}

TEST(Clusters, TypesThatDoNotInteractAreNotPairs) {
  // A wall that fills half of the box, of a type that does not interact with itself.
  Configuration c = filled(edges(8, 8, 24), 3000, 22, uniform);
  c.types = {"A", "W"};
  for (std::size_t k = 0; k < c.position.size(); ++k)
    c.type[k] = c.position[k].z < std::uint32_t(1) << 31 ? 1 : 0;
  Particles particles(Device::cpu(2), c);
  ClusterList all(particles, 1.5, {}), list(particles, Ranges(2, {1.5, 1.5, 1.5, 0}), {});
  all.build(), list.build();
  const auto expected = run(all, 1.3), found = run(list, 1.3);
  double pairs_of_wall = 0, less = 0;
  for (std::size_t k = 0; k < c.position.size(); ++k) {
    const std::size_t at = k * Witness::sums;
    for (std::size_t s = 0; s < Witness::sums && c.type[k] == 0; ++s)
      EXPECT_EQ(found[at + s], expected[at + s]) << k;
    if (c.type[k] == 0) continue;
    pairs_of_wall += expected[at + 3];
    less += expected[at + 3] - found[at + 3];
  }
  EXPECT_GT(less, 0.6 * pairs_of_wall);  // but for those of mixed clusters, at two surfaces
  EXPECT_LT(list.mean_entries(), 0.8 * all.mean_entries());
}

TEST(Clusters, TypesThatInteractWithNoneTakeNoRoom) {
  // Every third particle, as the centres of rigid dimers: lists are those of the others alone.
  for (const auto& box :
       {edges(12, 11, 13), sheared(edges(12, 10, 11), 4, -3, 2.5), flat(40, 38)}) {
    const auto place = box.dimension == 2 ? in_the_plane : uniform;
    Configuration c = filled(box, 2400, 24, place), others = c;
    c.types = {"A", "C"};
    for (std::size_t k = 1600; k < 2400; ++k) c.type[k] = 1;
    others.position.resize(1600), others.type.resize(1600);
    Particles alone(Device::cpu(1), others);
    ClusterList expected(alone, 2.0, {});
    expected.build();
    const auto wanted = run(expected, 1.8);
    std::vector<double> first;
    for (const int threads : {1, 3}) {
      Particles particles(Device::cpu(threads), c);
      ClusterList list(particles, Ranges(2, {2.0, 0, 0, 0}), {});
      list.build();
      const auto found = run(list, 1.8);
      if (first.empty()) first = found;
      EXPECT_EQ(found, first);
      for (std::size_t k = 0; k < 2400; ++k) {
        const std::size_t pairs = k * Witness::sums + 3;
        EXPECT_EQ(found[pairs], k < 1600 ? wanted[pairs] : 0) << k;
        EXPECT_EQ(found[pairs + 1], k < 1600 ? wanted[pairs + 1] : 0) << k;
      }
      EXPECT_LT(list.mean_entries() * 2400, 1.05 * expected.mean_entries() * 1600);
    }
  }
}

TEST(Clusters, BinsOfMoreThan65535) {
  // A speck in a huge box: nearly all particles fall into one column and one bin.
  Particles particles(Device::cpu(2), filled(edges(1e5, 1e5, 1e5), 70000, 21, [](std::mt19937& g) {
                        std::normal_distribution<double> u(0.5, 1.5e-5);
                        return Vec3<double>{u(g), u(g), u(g)};
                      }));
  ClusterList list(particles, 0.11, {});
  list.build();
  expect_all_pairs(particles, run(list, 0.1), 0.1, 251);
}

TEST(Clusters, MemoryFollowsTheParticles) {
  Particles particles(Device::cpu(1), filled(edges(1e5, 1e5, 1e5), 1000, 22, uniform));
  ClusterList list(particles, 3, {});
  list.build();
  EXPECT_LE(list.view().clusters, 1000u);
  EXPECT_LE(list.mean_entries(), 16.0);
}

/// Soft repulsion (1 - r/r_c)²/2 with its energy.
struct Soft {
  static constexpr int sums = 4;
  static constexpr int odd = 3;
  static constexpr bool has_extra = false;
  Real range;
  Real4* force;
  struct Own {};
  PERRIN_HD Own own(std::int64_t) const { return {}; }
  PERRIN_HD void pair(const Own&, Real3 d, std::uint32_t, const Real4&, bool real,
                      Real (&term)[sums]) const {
    const Real r = std::sqrt(dot(d, d) + Real(1e-20));
    const bool inside = real && r < range;
    const Real x = Real(1) - r / range, f = inside ? 30 * x / (r * range) : Real(0);
    term[0] = f * d.x, term[1] = f * d.y, term[2] = f * d.z;
    term[3] = inside ? 15 * x * x : Real(0);
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    force[i] = {sum[0], sum[1], sum[2], sum[3] / 2};
  }
};

TEST(Clusters, TenThousandSteps) {
  // Soft spheres, mobile: thousands of rebuilds. Energy is conserved, and at the end all pairs are
  // still there.
  const double range = 1.5, skin = 0.3, dt = 0.005;
  Particles particles(Device::cpu(1), filled(edges(6, 5, 7), 240, 23, uniform));
  ClusterList list(particles, range + skin, {});
  const Metric metric = particles.box().metric();
  std::vector<Position> built;
  const auto forces = [&] {
    bool moved = built.empty();
    for (std::size_t i = 0; i < built.size(); ++i) {
      const Real3 d = metric.vector(particles.position().data()[i], built[i]);
      moved = moved || double(dot(d, d)) > skin * skin / 4;
    }
    if (moved) {
      list.build();
      built = particles.position().to_host();
    }
    run_pairs("soft", list, Soft{Real(range), particles.force().data()});
    return moved;
  };
  const auto energy = [&] {
    double e = 0;
    for (std::int64_t i = 0; i < particles.size(); ++i) {
      const Real4 v = particles.velocity().data()[i];
      e += 0.5 * double(dot(v.xyz(), v.xyz())) + double(particles.force().data()[i].w);
    }
    return e;
  };
  forces();
  double start = 0;
  int builds = 0;
  for (int step = 0; step < 10000; ++step) {
    for (std::int64_t i = 0; i < particles.size(); ++i) {
      Real4& v = particles.velocity().data()[i];
      const Real4 f = particles.force().data()[i];
      v.x += Real(dt / 2) * f.x, v.y += Real(dt / 2) * f.y, v.z += Real(dt / 2) * f.z;
      const Real3 u = metric.fixed(Real(dt) * v.xyz());
      Position& p = particles.position().data()[i];
      p.x += std::uint32_t(std::int32_t(std::lrint(u.x)));
      p.y += std::uint32_t(std::int32_t(std::lrint(u.y)));
      p.z += std::uint32_t(std::int32_t(std::lrint(u.z)));
    }
    builds += forces();
    for (std::int64_t i = 0; i < particles.size(); ++i) {
      Real4& v = particles.velocity().data()[i];
      const Real4 f = particles.force().data()[i];
      v.x += Real(dt / 2) * f.x, v.y += Real(dt / 2) * f.y, v.z += Real(dt / 2) * f.z;
    }
    if (step == 0) start = energy();
  }
  EXPECT_GT(builds, 300);
  EXPECT_NEAR(energy(), start, 2e-3 * start);  // lost pairs change it by far more
  expect_all_pairs(particles, run(list, range), range);
}

}  // namespace
}  // namespace perrin
