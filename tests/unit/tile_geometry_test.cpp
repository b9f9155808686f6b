// Coordinates in tiles (neighbor/tiles/tile_geometry.h): whichever tile a pair is seen from, its
// vector is the same, and it is the one that 64-bit arithmetic on the positions gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "neighbor/choices.h"
#include "neighbor/tiles/brick_curve.h"
#include "neighbor/tiles/tile_plan.h"

namespace perrin {
namespace {

struct TileGeometryTest : testing::Test {
  std::mt19937 generator{5};

  std::uint32_t random() { return std::uint32_t(generator()); }
  Vec3<std::uint32_t> some_origin(const TileGeometry& g) {
    return g.origin(g.first_cell(random() % std::uint32_t(g.brick_count())));
  }
  /// A position within `reach` of an origin, along each axis.
  Position near(const Box& box, const Vec3<std::uint32_t>& origin, double reach) {
    std::uniform_real_distribution<double> u(-reach, reach);
    const auto heights = box.padded_heights();
    Position p{};
    for (int axis = 0; axis < 3; ++axis)
      (axis == 0   ? p.x
       : axis == 1 ? p.y
                   : p.z) =
          origin[axis] + std::uint32_t(std::int64_t(u(generator) / heights[axis] * 0x1p32));
    return p;
  }
};

TEST_F(TileGeometryTest, VectorsDoNotDependOnTheTile) {
  for (const double edge : {40.0, 107.3, 400.0}) {
    Box box;
    box.length = {edge, 1.1 * edge, 0.9 * edge};
    const double reach = 2.9;
    const auto particles = std::int64_t(0.84 * box.volume());
    const TileGeometry g = choose_tile_geometry(box, reach, particles, {0.84, 1, 132, 0, 0});
    ASSERT_FALSE(g.is_general());
    const Metric metric = box.metric();
    const auto heights = box.padded_heights();
    for (int repeat = 0; repeat < 20000; ++repeat) {
      const auto one = some_origin(g);
      auto other = one;  // of a tile nearby, perhaps across the faces of the box
      for (int axis = 0; axis < 3; ++axis)
        other[axis] +=
            std::uint32_t(std::int64_t(double(int(random() % 5) - 2) / g.cells[axis] * 0x1p32));
      const Position p = near(box, one, reach), q = near(box, one, reach);
      const Real3 a = g.vector<false>(metric, g.local<false>(p, one) - g.local<false>(q, one));
      const Real3 b = g.vector<false>(metric, g.local<false>(q, other) - g.local<false>(p, other));
      // Two roundings down to the grid, and its edge, a whole number of units.
      const std::uint32_t from[] = {p.x - q.x, p.y - q.y, p.z - q.z};
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(a[axis], -b[axis]);
        const double exact = double(std::int32_t(from[axis])) * 0x1p-32 * heights[axis];
        const double unit =
            g.lengths ? double(g.unit[axis]) : double(~g.mask[axis] + 1) * 0x1p-32 * heights[axis];
        EXPECT_NEAR(double(a[axis]), exact, 1.001 * unit + 6e-8 * std::abs(exact));
        EXPECT_LT(unit, 2e-6 * reach);
      }
    }
  }
}

/// Or the device would halt for another cut again and again.
TEST_F(TileGeometryTest, ABoxThatIsCutAgainIsServed) {
  for (double edge = 8; edge < 80; edge *= 1.007) {
    Box box;
    box.length = {edge, 1.3 * edge, 1.7 * edge};
    NeighborChoices choices;
    choices.cut_again(box);
    Vec3<double> least, most;
    const TileGeometry g =
        choose_tile_geometry(choices.box, 2.9, std::int64_t(0.84 * box.volume()),
                             {0.84, 1, 132, 0, 0, choices.growth}, &least, &most);
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_LT(least[axis], 0.98 * box.length[axis]) << edge;
      if (g.lengths) {
        EXPECT_GT(most[axis], 1.03 * box.length[axis]) << edge;
      }
    }
  }
}

TEST_F(TileGeometryTest, LengthsArePowersOfTwo) {
  if (sizeof(Real) > 4) GTEST_SKIP() << "in units of positions in double precision";
  Box box;
  box.length = {40, 50, 60};
  const TileGeometry g = choose_tile_geometry(box, 2.9, 100000, {0.84, 1, 132, 0, 0});
  ASSERT_TRUE(g.lengths);
  for (int axis = 0; axis < 3; ++axis) {
    int exponent = 0;
    EXPECT_EQ(std::frexp(double(g.unit[axis]), &exponent), 0.5);
    EXPECT_NEAR(g.grid[axis] * double(g.unit[axis]), box.padded_heights()[axis],
                0.51 * double(g.unit[axis]));
  }
  for (int repeat = 0; repeat < 10000; ++repeat) {
    const auto origin = some_origin(g);
    const Real3 r = g.local<false>(near(box, origin, 8), origin);
    for (int axis = 0; axis < 3; ++axis) {
      const double units = double(r[axis]) / double(g.unit[axis]);
      EXPECT_EQ(units, std::rint(units));
      EXPECT_LT(std::abs(units), 0x1p24);
    }
  }
}

using Bricks = Vec3<std::int32_t>;

TEST(BrickCurve, PassesEveryBrickOnceAndGoesToNeighbours) {
  std::size_t far = 0, all = 0;
  for (const std::int32_t x : {1, 2, 3, 7, 8, 12, 19})
    for (const std::int32_t y : {1, 2, 5, 6, 16, 21})
      for (const std::int32_t z : {1, 3, 4, 9, 20}) {
        const auto curve = brick_curve({x, y, z});
        std::vector<std::uint32_t> sorted = curve;
        std::ranges::sort(sorted);
        ASSERT_EQ(sorted.size(), std::size_t(x * y * z));
        for (std::size_t k = 0; k < sorted.size(); ++k) ASSERT_EQ(sorted[k], k);
        const bool even = x % 2 == 0 && y % 2 == 0 && z % 2 == 0;
        for (std::size_t k = 1; k < curve.size(); ++k) {
          const auto apart = [&](std::int32_t period, std::int32_t step) {
            return std::abs(std::int32_t(curve[k]) / step % period -
                            std::int32_t(curve[k - 1]) / step % period);
          };
          const std::int32_t steps = apart(x, 1) + apart(y, x) + apart(z, x * y);
          ASSERT_LE(steps, even ? 1 : 2) << x << " " << y << " " << z;
          far += steps > 1;
        }
        all += curve.size();
      }
  EXPECT_LT(double(far), 0.02 * double(all));  // corners of odd blocks
}

/// Of the bricks around the share of most of them, in shares of the share.
double largest_surface(const Bricks& bricks, int shares) {
  const auto curve = brick_curve(bricks);
  std::vector<int> owner(curve.size());
  for (std::size_t k = 0; k < curve.size(); ++k)
    owner[curve[k]] = int(k * std::size_t(shares) / curve.size());
  std::vector<std::set<std::size_t>> around(static_cast<std::size_t>(shares));
  const auto row = [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    return (std::size_t((z + bricks.z) % bricks.z) * std::size_t(bricks.y) +
            std::size_t((y + bricks.y) % bricks.y)) *
               std::size_t(bricks.x) +
           std::size_t((x + bricks.x) % bricks.x);
  };
  for (std::int32_t z = 0; z < bricks.z; ++z)
    for (std::int32_t y = 0; y < bricks.y; ++y)
      for (std::int32_t x = 0; x < bricks.x; ++x)
        for (int k = 0; k < 27; ++k) {
          const std::size_t other = row(x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1);
          const int whose = owner[row(x, y, z)];
          if (owner[other] != whose) around[std::size_t(whose)].insert(other);
        }
  std::size_t most = 0;
  for (const auto& of_share : around) most = std::max(most, of_share.size());
  return double(most) * shares / double(curve.size());
}

/// Cubes have (k + 2)³ - k³ bricks around them; of layers a 64th has 2.4 of its own.
TEST(BrickCurve, SharesAreCompact) {
  EXPECT_NEAR(largest_surface({32, 32, 32}, 64), 488 / 512.0, 1e-12);
  EXPECT_NEAR(largest_surface({32, 32, 32}, 8), (18 * 18 * 18 - 16 * 16 * 16) / 4096.0, 1e-12);
  EXPECT_NEAR(largest_surface({32, 32, 32}, 2), 2.0 / 16, 1e-12);  // two layers
  EXPECT_LT(largest_surface({31, 31, 31}, 64), 1.6);
  EXPECT_LT(largest_surface({30, 30, 60}, 2), 0.07);  // across the long edge
  EXPECT_LT(largest_surface({30, 60, 30}, 2), 0.07);
}

TEST(BrickOrder, BlocksFollowOneAnother) {
  const Bricks bricks{7, 4, 10}, blocks{3, 1, 2};
  const BrickOrder order = brick_order(bricks, blocks);
  ASSERT_EQ(order.row_of_number.size(), std::size_t(7 * 4 * 10));
  std::vector<std::size_t> block_of;
  for (std::size_t k = 0; k < order.row_of_number.size(); ++k) {
    const std::uint32_t row = order.row_of_number[k];
    ASSERT_EQ(order.number_of_row[row], k);
    // Blocks begin at bricks 0, 2 and 4 along x, 0 and 5 along z.
    const std::uint32_t x = row % 7, z = row / 28;
    block_of.push_back((z < 5 ? 0 : 3) + (x < 2 ? 0 : x < 4 ? 1 : 2));
  }
  EXPECT_TRUE(std::ranges::is_sorted(block_of));
  EXPECT_EQ(std::set<std::uint32_t>(order.row_of_number.begin(), order.row_of_number.end()).size(),
            order.row_of_number.size());
  // More blocks than bricks: some are empty.
  EXPECT_EQ(brick_order({2, 1, 1}, {4, 3, 1}).row_of_number, (std::vector<std::uint32_t>{0, 1}));
}

/// Large systems are sampled. Of a lattice whose rows are a multiple of the stride long a sample of
/// every so many particles would be planes, as dense as a layered system.
TEST(Crowding, ALatticeThatIsSampledIsEven) {
  constexpr int edge = 120;  // a stride of two
  Configuration c;
  c.types = {"A"};
  c.box.length = {edge, edge, edge};
  c.box.origin = {0, 0, 0};
  for (int k = 0; k < edge * edge * edge; ++k)
    c.position.push_back({k % edge + 0.5, k / edge % edge + 0.5, k / edge / edge + 0.5});
  c.type.assign(c.position.size(), 0);
  const Particles particles(Device{}, c);
  const Crowding crowding = measure_crowding(particles, 3);  // 27 particles in every cell
  EXPECT_DOUBLE_EQ(crowding.density, 1);
  EXPECT_DOUBLE_EQ(crowding.occupied, 1);
}

}  // namespace
}  // namespace perrin
