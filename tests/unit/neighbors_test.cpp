// Every traversal of pairs against all pairs by brute force, in double precision on the host.
#include "neighbor/neighbors.h"

#include <cmath>
#include <functional>
#include <random>

#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/choices.h"
#include "tests/count_neighbors.h"
#include "tests/devices.h"
#include "tests/fluids.h"
#include "tests/unit/neighbors_check.h"
#include "tests/ways.h"

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

class NeighborsTest : public DeviceTest {
 protected:
  struct Way {
    std::string name;
    NeighborSettings settings;
  };
  std::vector<Way> ways() {
    std::vector<Way> all;
    for (const std::string name : ways_of(device())) {
      NeighborSettings settings = settings_of_way(name);
      all.push_back({name, settings});
      if (settings.traversal != "cells" || name == "cells, axes" || device().is_cuda()) continue;
      settings.cells = 2;  // to the range
      all.push_back({name, settings});
    }
    if (device().is_cuda()) {
      NeighborSettings in_place;
      in_place.traversal = "verlet_list";
      in_place.reorder = false;
      all.push_back({"verlet_list", in_place});
    }
    return all;
  }
};

TEST_P(NeighborsTest, PairsEqualBruteForce) {
  for (const auto& system : systems())
    for (auto [traversal, settings] : ways()) {
      SCOPED_TRACE(testing::Message() << system.name << ", " << traversal << " " << settings.cells);
      Particles particles(device(), system.make());
      settings.skin = 0.1 * system.range;
      Neighbors neighbors(particles, system.range, settings);
      neighbors.update();
      EXPECT_GT(compare_with_brute_force(neighbors).in_range, 50u);
      const auto id = particles.id().to_host();
      const auto index = particles.index().to_host();
      for (std::size_t i = 0; i < id.size(); ++i) ASSERT_EQ(index[id[i]], i);
    }
}

TEST_P(NeighborsTest, PairsEqualBruteForceAfterTenThousandSteps) {
  Configuration c = fcc(4, 0.8442);
  thermalize(c, 1.44, 13);
  for (const auto& [traversal, settings] : ways()) {
    SCOPED_TRACE(testing::Message() << traversal << " " << settings.cells);
    Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"), 0, settings);
    VelocityVerlet integrator({0.004});
    integrator.begin(s);
    s.advance(integrator, 10000);
    EXPECT_GT(compare_with_brute_force(*s.neighbors()).in_range, 256u * 40);
  }
}

TEST_P(NeighborsTest, ThreadsDoNotMatterWithoutLists) {
  if (device().is_cuda()) GTEST_SKIP() << "a GPU has no choice";
  for (const char* sorting : {"axes", "x", "none"}) {
    std::vector<std::vector<Real>> results;
    for (const int threads : {1, 2, 5}) {
      Particles particles(Device::cpu(threads), random_in(box_of(40, 40, 40), 6000, 14, clustered));
      NeighborSettings settings;
      settings.traversal = "cells";
      settings.interaction_sorting = sorting;
      Neighbors neighbors(particles, 1.5, settings);
      neighbors.update();
      Buffer<Real> result(particles.device(), 6000 * checks);
      Buffer<Real> range2(particles.device(), std::span<const Real>(std::vector{Real(2.25)}));
      pair_loop("check", neighbors,
                CheckBody{particles.position().data(), particles.id().data(), range2.data(), 1,
                          result.data()});
      results.push_back(result.to_host());
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

TEST_P(NeighborsTest, RoomGrowsInTheMiddleOfARun) {
  // A lattice that implodes: what is enough for a neighbourhood at first is not later.
  Configuration c;
  c.box = box_of(36, 36, 36);
  c.types = {"A"};
  for (int x = 0; x < 12; ++x)
    for (int y = 0; y < 12; ++y)
      for (int z = 0; z < 12; ++z) {
        const Vec3<double> r{3.0 * x - 16.5, 3.0 * y - 16.5 + 0.01 * x, 3.0 * z - 16.5};
        c.position.push_back(r);
        c.velocity.push_back(-0.25 * r);
      }
  c.type.assign(c.position.size(), 0);
  for (const auto& [traversal, settings] : ways()) {
    SCOPED_TRACE(testing::Message() << traversal << " " << settings.cells);
    Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"), 0, settings);
    VelocityVerlet integrator({0.002});
    integrator.begin(s);
    const double energy = s.totals().potential + s.totals().kinetic;
    s.advance(integrator, 1100);
    if (device().is_cuda() && settings.interaction_sorting != "axes") {  // whose room is of a cell
      EXPECT_GT(s.neighbors()->version(), 0);
    }
    EXPECT_GT(compare_with_brute_force(*s.neighbors()).in_range, 1728u * 15);
    EXPECT_NEAR(s.totals().potential + s.totals().kinetic, energy, 2e-4 * energy);
    const auto id = s.particles().id().to_host();
    const auto index = s.particles().index().to_host();
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
    auto p = particles.position().to_host();
    p[17].x += std::uint32_t(distance / 12 * 4294967296.0);
    particles.position().assign(p);
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
  // Room is made for what the particles see at first; then they gather in a droplet.
  Particles particles(device(), random_in(box_of(60, 60, 60), 3000, 10, uniform));
  NeighborSettings settings;
  if (!device().is_cuda())
    settings.traversal = "verlet_list";  // clusters have no capacity to exceed
  Neighbors neighbors(particles, 2.5, settings);
  neighbors.update();
  const auto version = neighbors.version();
  const Particles droplet(device(), random_in(box_of(60, 60, 60), 3000, 10, clustered));
  particles.position().copy_from(droplet.position());
  neighbors.update();
  compare_with_brute_force(neighbors);
  EXPECT_GT(neighbors.version(), version);
}

TEST_P(NeighborsTest, BlocksThatStartWhileRoomIsMissingStopAsAWhole) {
  if (!device().is_cuda()) GTEST_SKIP() << "needs blocks that start while others halt the device";
  // So many that blocks begin when others have already found that there is too little room.
  Configuration c = fcc(40, 0.4);
  thermalize(c, 2, 1);
  VelocityVerlet integrator({0.004});
  {
    Simulation s(device(), c, lennard_jones(device(), 2.5));
    integrator.begin(s);
    s.advance(integrator, 1000);
    c = s.particles().configuration();
  }
  for (const auto& [traversal, settings] : ways()) {
    SCOPED_TRACE(testing::Message() << traversal << " " << settings.cells);
    for (int k = 0; k < 5; ++k) {
      Simulation s(device(), c, lennard_jones(device(), 2.5), 0, settings);
      integrator.begin(s);
      const double energy = s.totals().potential + s.totals().kinetic;
      s.advance(integrator, 20);
      EXPECT_NEAR(s.totals().potential + s.totals().kinetic, energy,
                  0.005 * double(s.particles().size()));
    }
  }
}

TEST_P(NeighborsTest, ExclusionsLeaveTheListAlone) {
  Configuration c = random_in(box_of(8, 8, 8), 300, 11, uniform);
  c.topology.bond_types = {"b"};
  for (std::uint32_t i = 0; i + 1 < 300; i += 2) c.topology.bonds.push_back({i, i + 1, 0});
  for (auto [traversal, settings] : ways()) {
    SCOPED_TRACE(traversal);
    Particles particles(device(), c);
    settings.skin = 0.2;
    Neighbors neighbors(particles, 3.5, settings);
    neighbors.update();
    compare_with_brute_force(neighbors,
                             [](std::uint32_t a, std::uint32_t b) { return a / 2 == b / 2; });
  }
}

TEST_P(NeighborsTest, CellsInAVeryLargeBox) {
  // A clump of 400 in a box 20 000 ranges wide: on the CPU columns would be too wide for exact
  // coordinates.
  Configuration c = random_in(box_of(20000, 20000, 20000), 400, 15, [](std::mt19937& g) {
    std::normal_distribution<double> u(0.5, 0.0001);
    return Vec3<double>{u(g), u(g), u(g)};
  });
  for (const std::string way : ways_of(device())) {
    const NeighborSettings settings = settings_of_way(way);
    if (settings.traversal != "cells") continue;
    SCOPED_TRACE(way);
    Particles particles(device(), c);
    Neighbors neighbors(particles, 1, settings);
    neighbors.update();
    EXPECT_GT(compare_with_brute_force(neighbors).in_range, 50u);
  }
}

TEST_P(NeighborsTest, CellsOfMoreParticlesThanAGroupHas) {
  // Some 580 in a cell. On the CPU a group has 256 at most, and there is room for 512 candidates; a
  // block of a GPU has 256 threads.
  const bool gpu = device().is_cuda();  // which wants three cells along each axis
  for (const double tilt : {0.0, 1.3}) {
    Box box = gpu ? box_of(6.9, 6.4, 6.4) : box_of(4.6, 4.3, 6.4);
    box.xy = tilt, box.yz = -tilt;
    Particles particles(device(), random_in(box, gpu ? 15500 : 7000, 16, uniform));
    Neighbors neighbors(particles, 2, settings_of_way("cells, axes"));
    neighbors.update();
    EXPECT_EQ(neighbors.report(), "cells sorted along axes");
    compare_with_brute_force(neighbors);
  }
}

TEST_P(NeighborsTest, ACellOfMoreParticlesThanSixteenBitsCount) {
  if (device().is_cuda()) GTEST_SKIP() << "the CPU's";
#ifdef PERRIN_SANITIZED
  GTEST_SKIP() << "four thousand million pairs, which a sanitizer slows down";
#endif
  // A clump in the middle of one cell: everybody meets everybody.
  constexpr std::size_t n = 66000;
  Particles particles(device(), random_in(box_of(9, 9, 9), n, 17, [](std::mt19937& g) {
                        const Vec3<double> f = uniform(g);
                        return Vec3<double>{0.5 + 0.01 * f.x, 0.5 + 0.01 * f.y, 0.5 + 0.01 * f.z};
                      }));
  Neighbors neighbors(particles, 2.9, settings_of_way("cells, axes"));
  neighbors.update();
  Buffer<Real> result(particles.device(), std::int64_t(n));
  pair_loop("count", neighbors, CountNeighbors{Real(2.9 * 2.9), result.data()});
  const auto got = result.to_host();
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], Real(n - 1)) << i;
}

TEST_P(NeighborsTest, InteractionsAreSortedAlongAxesWhereCellsHoldMany) {
  const auto report = [&](std::size_t n, const char* sorting, int cells) {
    Particles particles(device(), random_in(box_of(9.5, 9.5, 9.5), n, 18, uniform));
    NeighborSettings settings;
    settings.traversal = "cells";
    settings.interaction_sorting = sorting;
    settings.cells = cells;
    return Neighbors(particles, 3, settings).report();
  };
  const std::string axes = "cells sorted along axes", x = "cells", none = "cells unsorted";
  EXPECT_EQ(report(4000, "auto", 0), axes);
  EXPECT_EQ(report(1100, "auto", 0), device().is_cuda() ? x : axes);  // 36 in a cell
  EXPECT_EQ(report(300, "auto", 0), x);
  EXPECT_EQ(report(4000, "auto", 2), x);
  EXPECT_EQ(report(4000, "x", 0), x);
  EXPECT_EQ(report(4000, "none", 0), none);
  EXPECT_EQ(report(300, "axes", 0), axes);
  EXPECT_EQ(report(300, "axes", 1), axes);
  EXPECT_THROW(report(300, "axes", 2), UserError);
}

TEST_P(NeighborsTest, StandardTakesAxesOnAGpuWhereCellsAreCrowded) {
  const auto chosen = [&](std::size_t n, const NeighborSettings& settings = {}) {
    const Particles particles(device(), random_in(box_of(33, 33, 33), n, 21, uniform));
    return choose_neighbors(particles, Ranges(3), settings);
  };
  const bool gpu = device().is_cuda();
  const NeighborChoices crowded = chosen(200'000);  // 150 in a cell
  EXPECT_EQ(crowded.traversal, gpu ? "cells" : "clusters");
  EXPECT_EQ(crowded.sorting, "axes");
  EXPECT_EQ(chosen(120'000).traversal, gpu ? "tiles" : "clusters");
  NeighborSettings with_skin;  // which asks for lists
  with_skin.skin = 0.4;
  EXPECT_EQ(chosen(200'000, with_skin).traversal, gpu ? "tiles" : "clusters");
}

TEST_P(NeighborsTest, RangeBeyondHalfTheBoxIsRefused) {
  Particles particles(device(), random_in(box_of(4, 9, 9), 30, 12, uniform));
  EXPECT_THROW(Neighbors(particles, 2.1, {}), UserError);
}

PERRIN_INSTANTIATE_DEVICES(NeighborsTest);

}  // namespace
}  // namespace perrin
