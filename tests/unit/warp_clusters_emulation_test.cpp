// The GPU's cluster lists (neighbor/warp_clusters/warp_clusters.h), run by an emulated GPU: pairs against all pairs by
// brute force, and who has been put where.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "tests/unit/cuda_emulation.h"

#define PERRIN_EMULATED
#include "neighbor/warp_clusters/warp_cluster_build.cuh"
#include "neighbor/warp_clusters/warp_cluster_loop.h"

namespace perrin {
namespace {

using Point = std::function<Vec3<double>(std::mt19937&)>;

Vec3<double> uniform(std::mt19937& g) {
  std::uniform_real_distribution<double> u(0, 1);
  return {u(g), u(g), u(g)};
}

Configuration random_in(Box box, std::size_t n, unsigned seed, const Point& fraction = uniform) {
  Configuration c;
  c.box = box;
  c.types = {"A"};
  std::mt19937 generator(seed);
  for (std::size_t k = 0; k < n; ++k) c.position.push_back(box.point(fraction(generator)));
  c.type.assign(n, 0);
  return c;
}

Box box_of(double x, double y, double z) {
  Box box;
  box.length = {x, y, z};
  box.origin = {-x / 2, -y / 2, -z / 2};
  return box;
}

PERRIN_HD Real checksum(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
  return Real((std::uint64_t(a) * b + a + b) % modulus);
}

/// Sum of vectors, number, and two checksums of all neighbours of a particle.
constexpr int checks = 6;
struct CheckBody {
  static constexpr int sums = checks, odd = 3;
  static constexpr bool has_extra = true;
  const std::uint32_t* id;
  Real range2;
  Real* result;
  struct Own {
    std::uint32_t id;
  };
  Own own(std::int64_t i) const { return {id[i]}; }
  Real4 extra(std::uint32_t j) const { return {Real(id[j])}; }
  void pair(const Own& own, Real3 d, std::uint32_t, const Real4& extra, bool real,
            Real (&term)[sums]) const {
    const bool inside = real && dot(d, d) < range2;
    const std::uint32_t other = std::uint32_t(extra.x);
    term[0] = inside ? d.x : Real(0), term[1] = inside ? d.y : Real(0);
    term[2] = inside ? d.z : Real(0), term[3] = inside ? Real(1) : Real(0);
    term[4] = inside ? checksum(own.id, other, 1009) : Real(0);
    term[5] = inside ? checksum(own.id, other, 757) : Real(0);
  }
  void store(std::int64_t i, const Real (&sum)[sums]) const {
    for (int k = 0; k < sums; ++k) result[std::int64_t(id[i]) * sums + k] = sum[k];
  }
};

unsigned char* block_memory() {
  alignas(32) static unsigned char memory[227 * 1024];
  return memory;
}

void order_kernel(const detail::OrderClusters* order, std::uint32_t bricks) {
  __shared__ detail::OrderClusters::Scratch scratch[detail::OrderClusters::warps];
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t brick = blockIdx.x * detail::OrderClusters::warps + warp;
  if (brick < bricks) (*order)(brick, scratch[warp]);
}
template <bool General>
void build_kernel(const detail::BuildClusters* build) {
  build->operator()<General>(block_memory());
}
template <class Loop>
void loop_kernel(const Loop* loop) {
  (*loop)(block_memory());
}

/// Particles with their list, and how many times something was full.
struct Rig {
  Particles particles;
  WarpClusters list;
  std::vector<std::uint32_t> exclusion_begin, excluded;
  std::uint32_t flag = 1, halt = 0;
  std::int64_t builds = 0;
  int enlarged = 0;

  /// Of how many multiprocessors the GPU consists decides about the size of bricks.
  Rig(const Configuration& c, double reach, int multiprocessors = 1)
      : particles(Device::cpu(multiprocessors), c), list(particles, reach, 0) {}

  void build() {
    const TileGeometry& g = list.geometry();
    const std::int64_t n = particles.size();
    const Particles::Arrays from = particles.arrays(), spare = particles.spare_arrays();
    std::vector<std::uint32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto ka = g.key(from.position[a]), kb = g.key(from.position[b]);
      return ka != kb ? ka < kb : from.id[a] < from.id[b];
    });
    std::vector<std::uint32_t> start(std::size_t(g.cell_count()) + 1, 0);
    for (std::int64_t i = 0; i < n; ++i) {
      spare.copy(i, from, order[std::size_t(i)]);
      ++start[g.key(spare.position[i]) + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<Position> reference(static_cast<std::size_t>(n));
    auto ordering = list.ordering(particles, start.data(), order.data(), reference.data());
    const auto bricks = std::uint32_t(g.brick_count());
    constexpr auto warps = std::uint32_t(detail::OrderClusters::warps);
    emulation::launch((bricks + warps - 1) / warps, int(32 * warps), order_kernel, &ordering,
                      bricks);
    auto building =
        list.building(start.data(), exclusion_begin.empty() ? nullptr : exclusion_begin.data(),
                      excluded.data(), {&flag, &builds});
    building.halt = &halt;
    emulation::launch(building.blocks, int(32 * building.warps),
                      list.view().geometry.lengths ? build_kernel<false> : build_kernel<true>,
                      &building);
    for (std::int64_t i = 0; i < n; ++i) {
      const Position &a = particles.position.data()[i], &b = reference[std::size_t(i)];
      ASSERT_TRUE(a.x == b.x && a.y == b.y && a.z == b.z);
      ASSERT_EQ(particles.index.data()[particles.id.data()[i]], i);
    }
    if (halt == 0) return;
    halt = 0;
    ++enlarged;
    ASSERT_TRUE(list.enlarge());
    if (list.fits()) build();
  }

  template <class Body, bool General>
  void run(const Body& body) {
    const WarpClusterView view = list.view();
    const detail::WarpClusterLoop<Body, General> loop{
        body, particles.position.data(), particles.box.metric(), view, view.warps_for(Body::sums)};
    ASSERT_LE(loop.bytes(), 227u * 1024);
    emulation::launch(view.blocks, int(32 * loop.warps),
                      loop_kernel<detail::WarpClusterLoop<Body, General>>, &loop);
  }
};

bool is_excluded(const Rig& rig, std::uint32_t a, std::uint32_t b) {
  for (std::uint32_t k = rig.exclusion_begin.empty() ? 0 : rig.exclusion_begin[a];
       !rig.exclusion_begin.empty() && k < rig.exclusion_begin[a + 1]; ++k)
    if (rig.excluded[k] == b) return true;
  return false;
}

/// Returns the number of pairs in range.
std::size_t compare_with_brute_force(Rig& rig, double range) {
  const Particles& particles = rig.particles;
  const auto n = std::size_t(particles.size());
  const Position* position = particles.position.data();
  const std::uint32_t* id = particles.id.data();
  std::vector<Real> got(n * checks, Real(-1));
  const CheckBody body{id, Real(range * range), got.data()};
  rig.run<CheckBody, true>(body);  // serves every list
  if (rig.list.view().geometry.lengths) {
    const std::vector<Real> general = got;
    rig.run<CheckBody, false>(body);
    EXPECT_EQ(got, general);
  }
  const auto edges = particles.box.edges();
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double expected[checks] = {};
    bool marginal = false;
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j || is_excluded(rig, id[i], id[j])) continue;
      const auto along = [&](std::uint32_t a, std::uint32_t b, int axis) {
        return double(std::int32_t(a - b)) / 4294967296.0 * (1 + 2 * particles.box.padding[axis]);
      };
      const Vec3<double> d = along(position[i].x, position[j].x, 0) * edges[0] +
                             along(position[i].y, position[j].y, 1) * edges[1] +
                             along(position[i].z, position[j].z, 2) * edges[2];
      const double r = std::sqrt(dot(d, d));
      if (std::abs(r - range) < 1e-5 * range) marginal = true;
      if (!(r < range)) continue;
      ++pairs;
      expected[0] += d.x, expected[1] += d.y, expected[2] += d.z, expected[3] += 1;
      expected[4] += double(checksum(id[i], id[j], 1009));
      expected[5] += double(checksum(id[i], id[j], 757));
    }
    if (marginal) continue;
    const Real* mine = &got[id[i] * checks];
    for (int k = 3; k < checks; ++k) EXPECT_EQ(double(mine[k]), expected[k]) << id[i];
    const double tolerance = (sizeof(Real) == 4 ? 1e-6 : 1e-12) * range * (1 + expected[3]);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(double(mine[k]), expected[k], tolerance) << id[i];
    if (testing::Test::HasFailure()) break;
  }
  return pairs;
}

/// Builds and compares, moves everybody by half the skin, compares again.
void check(const Configuration& c, double range, int multiprocessors = 1, int enlarged = 0) {
  Rig rig(c, 1.1 * range, multiprocessors);
  ASSERT_TRUE(rig.list.fits());
  rig.build();
  EXPECT_EQ(rig.builds, 1);
  EXPECT_GE(rig.enlarged, enlarged);
  EXPECT_GT(compare_with_brute_force(rig, range), 50u);
  std::mt19937 g(3);
  const Metric metric = rig.particles.box.metric();
  for (std::int64_t i = 0; i < rig.particles.size(); ++i) {
    Real3 step;
    for (int k = 0; k < c.box.dimension; ++k)
      step[k] = Real((uniform(g).x - 0.5) * 0.1 / std::sqrt(3) * range);
    const Real3 f = metric.fixed(step);
    Position& p = rig.particles.position.data()[i];
    p.x += std::uint32_t(std::int64_t(f.x)), p.y += std::uint32_t(std::int64_t(f.y));
    p.z += std::uint32_t(std::int64_t(f.z));
  }
  compare_with_brute_force(rig, range);
  // Where particles are and who they are decides, not their order in memory.
  const auto ids = rig.particles.id.to_host();
  rig.build();
  const auto once = rig.particles.id.to_host();
  rig.build();
  EXPECT_EQ(once, rig.particles.id.to_host());
}

TEST(WarpClustersEmulated, Uniform) { check(random_in(box_of(10, 9, 11), 900, 1), 2.0); }
TEST(WarpClustersEmulated, SmallBricks) { check(random_in(box_of(9, 8, 10), 600, 1), 2.0, 132); }
TEST(WarpClustersEmulated, LargeBricks) { check(random_in(box_of(6, 6, 6), 900, 2), 1.2); }
TEST(WarpClustersEmulated, DropletAcrossFacesOutgrowsItsRoom) {
  const Point droplet = [](std::mt19937& g) {
    std::normal_distribution<double> u(0.97, 0.03);
    return Vec3<double>{u(g), u(g), u(g)};
  };
  check(random_in(box_of(40, 40, 40), 700, 3, droplet), 1.5, 1, 1);
}
TEST(WarpClustersEmulated, Thin) { check(random_in(box_of(60, 4.5, 5), 900, 4), 1.9); }
TEST(WarpClustersEmulated, Small) { check(random_in(box_of(4.5, 4.5, 4.5), 60, 5), 2.0); }
TEST(WarpClustersEmulated, NearlyEmpty) {
  check(random_in(box_of(1000, 1000, 1000), 40, 6), 300.0);
}
TEST(WarpClustersEmulated, Triclinic) {
  Box box = box_of(12, 10, 11);
  box.xy = 4, box.xz = -3, box.yz = 2.5;
  check(random_in(box, 800, 7), 1.8);
}
TEST(WarpClustersEmulated, TwoDimensions) {
  Box box = box_of(30, 25, 1);
  box.dimension = 2;
  check(random_in(box, 800, 8,
                  [](std::mt19937& g) {
                    Vec3<double> f = uniform(g);
                    f.z = 0.5;
                    return f;
                  }),
        2.2);
}
TEST(WarpClustersEmulated, NotPeriodicInZ) {
  Box box = box_of(12, 12, 9);
  box.periodic[2] = false;
  check(random_in(box.padded_for(2.5), 1000, 9), 2.0);
}

TEST(WarpClustersEmulated, ExclusionsLeaveTheList) {
  const Configuration c = random_in(box_of(9, 9, 9), 400, 10);
  Rig rig(c, 3.2);
  for (std::uint32_t i = 0; i < 400; ++i) {
    rig.exclusion_begin.push_back(std::uint32_t(rig.excluded.size()));
    for (std::uint32_t k = i / 4 * 4; k < i / 4 * 4 + 4; ++k)
      if (k != i) rig.excluded.push_back(k);
  }
  rig.exclusion_begin.push_back(std::uint32_t(rig.excluded.size()));
  rig.build();
  EXPECT_GT(compare_with_brute_force(rig, 3.0), 400u);
}

}  // namespace
}  // namespace perrin
