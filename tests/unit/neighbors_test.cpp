// The Verlet list against all pairs by brute force, in double precision on the host.
#include "neighbor/neighbors.h"

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "tests/devices.h"

namespace perrin {
namespace {

struct System {
  const char* name;
  std::function<Configuration()> make;
  double range;
};

Configuration random_in(Box box, std::size_t n, unsigned seed,
                        const std::function<Vec3<double>(std::mt19937&)>& fraction) {
  Configuration c;
  c.box = box;
  c.types = {"A"};
  std::mt19937 generator(seed);
  for (std::size_t k = 0; k < n; ++k) c.position.push_back(box.point(fraction(generator)));
  c.type.assign(n, 0);
  return c;
}

Vec3<double> uniform(std::mt19937& g) {
  std::uniform_real_distribution<double> u(0, 1);
  return {u(g), u(g), u(g)};
}

Vec3<double> clustered(std::mt19937& g) {
  std::normal_distribution<double> u(0.97, 0.03);  // a droplet across three faces
  return {u(g), u(g), u(g)};
}

Box box_of(double x, double y, double z) {
  Box box;
  box.length = {x, y, z};
  box.origin = {-x / 2, -y / 2, -z / 2};
  return box;
}

std::vector<System> systems() {
  return {
      {"random", [] { return random_in(box_of(12, 11, 13), 1500, 1, uniform); }, 2.0},
      {"clustered", [] { return random_in(box_of(40, 40, 40), 1200, 2, clustered); }, 1.5},
      {"thin", [] { return random_in(box_of(60, 4.5, 5), 900, 3, uniform); }, 1.9},
      {"small", [] { return random_in(box_of(4.1, 4.1, 4.1), 60, 4, uniform); }, 2.0},
      {"nearly empty", [] { return random_in(box_of(1000, 1000, 1000), 40, 5, uniform); }, 300.0},
      {"triclinic",
       [] {
         Box box = box_of(12, 10, 11);
         box.xy = 4, box.xz = -3, box.yz = 2.5;
         return random_in(box, 1300, 6, uniform);
       },
       1.8},
      {"2D",
       [] {
         Box box = box_of(30, 25, 1);
         box.dimension = 2;
         return random_in(box, 800, 7, [](std::mt19937& g) {
           Vec3<double> f = uniform(g);
           f.z = 0.5;
           return f;
         });
       },
       2.2},
      {"slab, not periodic in z",
       [] {
         Box box = box_of(12, 12, 9);
         box.periodic[2] = false;
         return random_in(box.padded_for(2.5), 1000, 8, uniform);
       },
       2.0},
  };
}

std::set<std::pair<std::uint32_t, std::uint32_t>> brute_force(const Particles& particles,
                                                              double reach) {
  const auto position = particles.position.to_host();
  const auto id = particles.id.to_host();
  const double two32 = 4294967296.0;
  const auto edges = particles.box.edges();
  double stretch[3];
  for (int axis = 0; axis < 3; ++axis)
    stretch[axis] =
        particles.box.periodic[std::size_t(axis)] ? 1 : 1 + 2 * particles.box.padding[axis];
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::size_t i = 0; i < position.size(); ++i)
    for (std::size_t j = 0; j < position.size(); ++j) {
      if (i == j) continue;
      const auto along = [&](std::uint32_t a, std::uint32_t b, int axis) {
        return double(std::int32_t(a - b)) / two32 * stretch[axis];
      };
      const double fx = along(position[i].x, position[j].x, 0);
      const double fy = along(position[i].y, position[j].y, 1);
      const double fz = along(position[i].z, position[j].z, 2);
      const Vec3<double> d = fx * edges[0] + fy * edges[1] + fz * edges[2];
      if (dot(d, d) < reach * reach) pairs.insert({id[i], id[j]});
    }
  return pairs;
}

std::set<std::pair<std::uint32_t, std::uint32_t>> listed(Particles& particles,
                                                         const Neighbors& neighbors,
                                                         const Buffer<std::uint32_t>& count,
                                                         const Buffer<std::uint32_t>& entries) {
  const auto id = particles.id.to_host();
  const auto n = count.to_host();
  const auto all = entries.to_host();
  const NeighborListView list = neighbors.list();
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::size_t total = 0;
  for (std::size_t i = 0; i < n.size(); ++i)
    for (std::uint32_t m = 0; m < n[i]; ++m, ++total)
      pairs.insert({id[i], id[all[std::size_t(list.slot(list.row(std::int64_t(i)), m))]]});
  EXPECT_EQ(pairs.size(), total) << "a pair is listed twice";
  return pairs;
}

class NeighborsTest : public DeviceTest {};

TEST_P(NeighborsTest, ListEqualsBruteForce) {
  for (const auto& system : systems())
    for (const int lanes : {1, 4, 32}) {
      SCOPED_TRACE(testing::Message() << system.name << ", " << lanes << " lanes");
      Particles particles(device(), system.make());
      NeighborSettings settings;
      settings.lanes = lanes;
      settings.skin = 0.1 * system.range;
      Neighbors neighbors(particles, system.range, settings);
      neighbors.update();
      const double reach = neighbors.range() + neighbors.skin();
      const auto expected = brute_force(particles, reach);
      const auto got =
          listed(particles, neighbors, neighbors.count_buffer(), neighbors.entries_buffer());
      // A pair within rounding of the list's edge may be on either side.
      std::size_t differing = 0;
      for (const auto& pair : expected) differing += got.count(pair) == 0;
      for (const auto& pair : got) differing += expected.count(pair) == 0;
      EXPECT_LE(differing, 2u);
      EXPECT_GT(expected.size(), 50u);
      // Memory is sorted by (cell, id), and the index follows.
      const auto id = particles.id.to_host();
      const auto index = particles.index.to_host();
      for (std::size_t i = 0; i < id.size(); ++i) ASSERT_EQ(index[id[i]], i);
    }
}

TEST_P(NeighborsTest, RebuildsWhenAndOnlyWhenHalfTheSkinIsReached) {
  Particles particles(device(), random_in(box_of(12, 12, 12), 500, 9, uniform));
  NeighborSettings settings;
  settings.skin = 0.5;
  Neighbors neighbors(particles, 2, settings);
  neighbors.update();
  EXPECT_EQ(neighbors.builds(), 1);
  const auto move = [&](double distance) {
    auto p = particles.position.to_host();
    p[17].x += std::uint32_t(distance / 12 * 4294967296.0);
    particles.position.assign(p);
    neighbors.update();
  };
  move(0.249);
  EXPECT_EQ(neighbors.builds(), 1);
  move(0.002);
  EXPECT_EQ(neighbors.builds(), 2);
  move(0.1);
  EXPECT_EQ(neighbors.builds(), 2);
}

TEST_P(NeighborsTest, FullListIsEnlarged) {
  // The density of the droplet is far above the mean from which the capacity is guessed.
  Particles particles(device(), random_in(box_of(60, 60, 60), 3000, 10, clustered));
  Neighbors neighbors(particles, 2.5, {});
  neighbors.update();
  const auto expected = brute_force(particles, neighbors.range() + neighbors.skin());
  const auto got =
      listed(particles, neighbors, neighbors.count_buffer(), neighbors.entries_buffer());
  EXPECT_NEAR(double(got.size()), double(expected.size()), 4.0);
  EXPECT_GT(neighbors.version(), 0);
}

TEST_P(NeighborsTest, ExclusionsLeaveTheListAlone) {
  Configuration c = random_in(box_of(8, 8, 8), 300, 11, uniform);
  c.topology.bond_types = {"b"};
  for (std::uint32_t i = 0; i + 1 < 300; i += 2) c.topology.bonds.push_back({i, i + 1, 0});
  Particles particles(device(), c);
  NeighborSettings settings;
  settings.skin = 0.2;
  Neighbors neighbors(particles, 3.5, settings);
  neighbors.update();
  auto expected = brute_force(particles, 3.7);
  for (std::uint32_t i = 0; i + 1 < 300; i += 2) {
    expected.erase({i, i + 1});
    expected.erase({i + 1, i});
  }
  EXPECT_EQ(listed(particles, neighbors, neighbors.count_buffer(), neighbors.entries_buffer()),
            expected);
}

TEST_P(NeighborsTest, RangeBeyondHalfTheBoxIsRefused) {
  Particles particles(device(), random_in(box_of(4, 9, 9), 30, 12, uniform));
  EXPECT_THROW(Neighbors(particles, 2.1, {}), UserError);
}

PERRIN_INSTANTIATE_DEVICES(NeighborsTest);

}  // namespace
}  // namespace perrin
