// The one way in which particles move: positions in units of 2^-40 of the edges.
#include "integrators/drift.h"

#include <cmath>
#include <random>

#include "engine/device/parallel.h"
#include "engine/dynamics/resolution.h"
#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "tests/devices.h"

namespace perrin {
namespace {

std::int64_t place(std::uint32_t p, std::int32_t remainder) {  // in units of 2^-40
  return std::int64_t(p) * 256 + remainder;
}

/// Displacements of every size, both signs, ties included; and 0 with both signs.
std::vector<Real> displacements() {
  std::vector<Real> list{Real(0), Real(-0.0)};
  for (int power = -12; power <= 29; ++power)
    for (const double factor : {1.0, 1.25, 1.5, 1.501, 1.7, 1.99609375, 1.998046875}) {
      list.push_back(Real(std::ldexp(factor, power)));
      list.push_back(-list.back());
    }
  for (int k = -2100; k <= 2100; ++k)
    list.push_back(Real(k) / Real(512));  // ties of both roundings
  return list;
}

struct MoveByAxes {
  const Real4* by;
  Position* position;
  PERRIN_HD void operator()(std::int64_t i) const {
    position[i] = moved_by_axes(position[i], by[i]);
  }
};
struct MoveWords {
  const Real4* by;
  Position* position;
  PERRIN_HD void operator()(std::int64_t i) const { position[i] = moved(position[i], by[i]); }
};

class Drift : public DeviceTest {};

/// Positions with every remainder, near the faces and elsewhere, each to be moved.
struct Moves {
  std::vector<Position> from;
  std::vector<Real4> by;

  Moves() {
    std::mt19937 random(3);
    const std::uint32_t corner[] = {0u, 1u, 0xffffffffu, 0x80000000u, 0x7fffffffu};
    const auto coordinate = [&] {
      const std::uint32_t r = random();
      return r % 3 == 0 ? r : corner[r % 5];
    };
    const auto byte = [&] {
      const std::uint32_t r = random() % 300;
      return r < 256 ? int(r) - 128 : r % 2 ? 127 : -128;
    };
    const auto list = displacements();
    for (std::size_t k = 0; k < 3 * list.size(); ++k) {
      Position p{coordinate(), coordinate(), coordinate(),
                 std::uint32_t(random() % Position::type_count)};
      p.set_remainders(byte(), byte(), byte());
      from.push_back(p);
      by.push_back({list[k % list.size()], list[random() % list.size()],
                    list[random() % list.size()], Real(0)});
    }
  }
  template <class Body>
  std::vector<Position> run(const Device& device, const std::vector<Position>& start,
                            const std::vector<Real4>& u) const {
    Buffer<Position> position(device, start);
    const Buffer<Real4> displacement(device, u);
    for_each(device, "move", position.size(), Body{displacement.data(), position.data()});
    return position.to_host();
  }
};

TEST_P(Drift, IsExactInUnitsOfTheFineGrid) {
  const Moves m;
  const auto to = m.run<MoveWords>(device(), m.from, m.by);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Position &p = m.from[i], &q = to[i];
    ASSERT_EQ(p.type(), q.type());
    const std::uint32_t before[] = {p.x, p.y, p.z}, after[] = {q.x, q.y, q.z};
    const Real by[] = {m.by[i].x, m.by[i].y, m.by[i].z};
    for (int axis = 0; axis < 3; ++axis) {
      const std::int32_t wraps = crossing(before[axis], after[axis], by[axis]);
      const std::int64_t change = place(after[axis], q.remainder(axis)) -
                                  place(before[axis], p.remainder(axis)) +
                                  (std::int64_t(wraps) << 40);
      // A number of 24 bits times 256, to the nearest even: exact in double.
      ASSERT_EQ(change, std::int64_t(std::nearbyint(256.0 * double(by[axis]))))
          << before[axis] << " + " << p.remainder(axis) << "/256 by " << double(by[axis]);
    }
  }
}

TEST_P(Drift, WordsAndAxesAreTheSame) {
  const Moves m;
  const auto words = m.run<MoveWords>(device(), m.from, m.by);
  const auto axes = m.run<MoveByAxes>(device(), m.from, m.by);
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(words[i].x, axes[i].x);
    ASSERT_EQ(words[i].y, axes[i].y);
    ASSERT_EQ(words[i].z, axes[i].z);
    ASSERT_EQ(words[i].tail, axes[i].tail);
  }
}

TEST_P(Drift, TheOppositeDisplacementLeadsBack) {
  const Moves m;
  auto back = m.by;
  for (Real4& u : back) u = {-u.x, -u.y, -u.z, Real(0)};
  const auto there = m.run<MoveWords>(device(), m.from, m.by);
  const auto again = m.run<MoveWords>(device(), there, back);
  for (std::size_t i = 0; i < again.size(); ++i) {
    ASSERT_EQ(again[i].x, m.from[i].x);
    ASSERT_EQ(again[i].y, m.from[i].y);
    ASSERT_EQ(again[i].z, m.from[i].z);
    ASSERT_EQ(again[i].tail, m.from[i].tail);
  }
}

/// Free particles that go `share` of an edge in every step, in different directions.
Configuration free_flight(const Box& box, double share, double dt) {
  Configuration c;
  c.box = box;
  c.types = {"A"};
  const double directions[][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {-0.7, 0.4, 0.9}, {0.3, 1, -1}};
  for (const auto& s : directions) {
    const Vec3<double> there = box.point({0.5 + s[0], 0.5 + s[1], 0.5 + s[2]});
    c.position.push_back(box.point({0.5, 0.999999999, 1e-9}));
    c.velocity.push_back(share / dt * (there - box.point({0.5, 0.5, 0.5})));
    c.type.push_back(0);
  }
  return c;
}

TEST_P(Drift, FreeFlightIsRightFromOneUpToTheTenthDecimalOfAnEdge) {
  constexpr int steps = 2000;
  const double dt = 0.005;
  for (const bool tilted : {false, true})
    for (const double share : {1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 3e-10, 1e-10}) {
      Box box;
      box.length = {2e6, 3e5, 1e6};
      if (tilted) box.xy = 4e4, box.xz = -3e5, box.yz = 1e4;
      const Configuration start = free_flight(box, share, dt);
      Simulation simulation(device(), start, {});
      VelocityVerlet integrator({dt});
      integrator.begin(simulation);
      simulation.advance(integrator, steps);
      const auto end = simulation.particles().configuration();
      for (std::size_t i = 0; i < end.position.size(); ++i) {
        const auto s = box.fraction(end.position[i]), s0 = box.fraction(start.position[i]);
        const auto v = box.fraction(box.origin + start.velocity[i]);
        for (int axis = 0; axis < 3; ++axis) {
          const double expected = steps * dt * v[axis];
          // Per step half a unit of the grid; roundings of the numbers that are multiplied, each of
          // at most 2^-24 of the largest part of the sum. At the start another half unit.
          const double bound = (steps + 1) * 0x1p-41 + 8 * 0x1p-24 * steps * share * 2;
          EXPECT_NEAR(s[axis] + end.image[i][axis] - s0[axis], expected, bound)
              << "share " << share << ", particle " << i << ", axis " << axis << ", " << tilted;
        }
      }
    }
}

TEST(Positions, KeepPointsToTheFortiethBinaryPlace) {
  Box box;
  box.length = {7, 11, 13};
  box.origin = {-1, 2, 3};
  std::mt19937 random(8);
  std::uniform_real_distribution<double> u(-2, 3);
  for (int k = 0; k < 20000; ++k) {
    Vec3<double> s{u(random), u(random), u(random)};
    if (k % 4 == 0) s.x = std::ldexp(u(random), -40);  // just above and below a face
    Image image{};
    const Position p = box.fixed(box.point(s), 255, &image);
    EXPECT_EQ(p.type(), 255u);
    const auto back = box.fraction(box.point(p));
    for (int axis = 0; axis < 3; ++axis)
      ASSERT_NEAR(back[axis] + image[axis], s[axis], 0x1p-41 + 1e-14) << s[axis];
    Image none{};
    const Position again = box.fixed(box.point(p), 255, &none);
    ASSERT_EQ(again.tail, p.tail);
    ASSERT_EQ(again.x, p.x);
    ASSERT_EQ(again.y, p.y);
    ASSERT_EQ(again.z, p.z);
    ASSERT_EQ(none, Image{});
  }
}

TEST(Resolution, WarnsWhereTheGridIsTooCoarse) {
  const auto warnings = [](double edge) {
    Box box;
    box.length = {10, edge, 10};
    Configuration c = free_flight(box, 0, 1);
    c.velocity.assign(c.velocity.size(), {1, -1, 1});
    Simulation simulation(Device::cpu(1), c, {});
    return resolution_warnings(simulation, VelocityVerlet({0.001}));
  };
  // 1 % of 0.001 is 2^-41 of 2.199e7.
  EXPECT_TRUE(warnings(2.19e7).empty());
  const auto list = warnings(2.3e7);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_NE(list[0].find("along y (height 2.3e+07)"), std::string::npos) << list[0];
  EXPECT_NE(list[0].find("up to a height of 2.199e+07"), std::string::npos) << list[0];
}

/// A typical particle moves by more than the grid, and one among them does not.
TEST(Resolution, WarnsOfSingleParticles) {
  const auto warnings = [](double slow, double edge) {
    Box box;
    box.length = {edge, 10, 10};
    Configuration c = free_flight(box, 0, 1);
    c.velocity.assign(c.velocity.size(), {1, -1, 1});
    c.velocity[3] = {slow, 0, 0};
    Simulation simulation(Device::cpu(1), c, {});
    return resolution_warnings(simulation, VelocityVerlet({0.001}));
  };
  // 2^-41 of 1e6 is 4.5e-7, a tenth of what a velocity of 4.5e-3 goes.
  EXPECT_TRUE(warnings(5e-3, 1e6).empty());
  EXPECT_TRUE(warnings(0, 1e6).empty());  // at rest
  for (const double slow : {4e-3, -1e-7}) {
    const auto list = warnings(slow, 1e6);
    ASSERT_EQ(list.size(), 1u) << slow;
    EXPECT_NE(list[0].find("steps of 1 of 5 particles: along x"), std::string::npos) << list[0];
    EXPECT_NE(list[0].find("particle 3 moves by"), std::string::npos) << list[0];
  }
  EXPECT_TRUE(warnings(4e-3, 1e5).empty());
}

PERRIN_INSTANTIATE_DEVICES(Drift);

}  // namespace
}  // namespace perrin
