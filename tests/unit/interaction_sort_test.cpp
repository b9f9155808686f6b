// The sorting of interactions (tests/benchmarks/interaction_sort.h): every pair in range once, and
// the share of the candidates that is in range against the geometry.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/benchmarks/interaction_sort_cells.h"
#include "tests/benchmarks/interaction_sort_molecules.h"
#include "tests/benchmarks/interaction_sort_shares.h"

namespace perrin::interaction_sort {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;
constexpr Cut cuts[] = {Cut::none, Cut::by_x, Cut::axes};
constexpr double edge = 5.37;  // range 1: cells a little wider than it

std::vector<Position> random_positions(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Position> positions(static_cast<std::size_t>(n));
  for (Position& p : positions) p.x = random(), p.y = random(), p.z = random();
  return positions;
}

/// Particles on the faces of cells and next to them, and some on one another.
std::vector<Position> marginal_positions(int cells) {
  std::vector<Position> positions;
  std::mt19937 random(3);
  for (int k = 0; k < 700; ++k) {
    const auto along = [&] {
      const auto face =
          std::uint32_t((std::uint64_t(random() % unsigned(cells)) << 32) / unsigned(cells));
      return random() % 3 == 0 ? std::uint32_t(random()) : face + random() % 3 - 1;
    };
    Position p{};
    p.x = along(), p.y = along(), p.z = along();
    positions.push_back(p);
    if (k % 10 == 0) positions.push_back(p);
  }
  return positions;
}

double square_of(const Position& a, const Position& b) {
  const auto along = [](std::uint32_t p, std::uint32_t q) {
    return double(std::int32_t(p - q)) * (edge / 4294967296.0);
  };
  const double x = along(a.x, b.x), y = along(a.y, b.y), z = along(a.z, b.z);
  return x * x + y * y + z * z;
}

/// All pairs in range, first < second. Those at the range to within rounding may be there or not:
/// `doubtful`.
std::vector<Pair> brute_force(const std::vector<Position>& position, std::vector<Pair>& doubtful) {
  std::vector<Pair> pairs;
  for (std::uint32_t i = 0; i < position.size(); ++i)
    for (std::uint32_t j = i + 1; j < position.size(); ++j) {
      const double r2 = square_of(position[i], position[j]);
      if (std::abs(r2 - 1) < 1e-5)
        doubtful.emplace_back(i, j);
      else if (r2 < 1)
        pairs.emplace_back(i, j);
    }
  return pairs;
}

/// `found` holds what brute force finds, each `times` times.
void compare(std::vector<Pair> found, const std::vector<Position>& position, int times) {
  std::vector<Pair> doubtful, expected;
  for (const Pair& pair : brute_force(position, doubtful))
    for (int k = 0; k < times; ++k) expected.push_back(pair);
  ASSERT_GT(expected.size(), 500u);
  std::erase_if(found, [&](const Pair& pair) {
    return std::binary_search(doubtful.begin(), doubtful.end(), pair);
  });
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found.size(), expected.size());
  EXPECT_TRUE(found == expected);
}

std::vector<Pair> pairs_of_particles(const Orders& orders) {
  const View v = orders.view();
  constexpr std::uint32_t most = 400;
  Buffer<std::uint32_t> entries(orders.device(), most * v.n), length(orders.device(), v.n);
  search_particles(orders, ListBody{Real(1), v.n, most, entries.data(), length.data()});
  const auto entry = entries.to_host(), count = length.to_host(),
             number = orders.number().to_host();
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < count.size(); ++i) {
    EXPECT_LE(count[i], most);
    for (std::size_t k = 0; k < std::min(count[i], most); ++k) {
      const std::uint32_t a = number[i], b = number[entry[k * count.size() + i]];
      pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
  }
  return pairs;
}

std::vector<Pair> pairs_of_cells(const Orders& orders) {
  const auto n = std::size_t(orders.view().n);
  std::vector<std::uint32_t> entries, length(n);
  std::vector<std::uint64_t> begin(n);
  CellResult result;
  result.entries = &entries, result.begin = begin.data(), result.length = length.data();
  search_cells<Work::lists>(orders, result);
  const auto number = orders.number().to_host();
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < n; ++i)
    for (std::uint32_t k = 0; k < length[i]; ++k) {
      const std::uint32_t a = number[i], b = number[entries[begin[i] + k]];
      pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
  return pairs;
}

class InteractionSort : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
    device = Device::parse(GetParam(), 2);
  }
  Device device;
};

TEST_P(InteractionSort, EveryPairInRangeIsFoundOnceFromBothSides) {
  for (const int reach : {1, 2})
    for (const auto& position :
         {random_positions(1500, 1), random_positions(300, 2), marginal_positions(5 * reach)})
      for (const Cut cut : cuts) {
        SCOPED_TRACE(std::string(name_of(cut)) + ", " + std::to_string(reach) +
                     " cells to the range");
        const Buffer<Position> on_device(device, std::span<const Position>(position));
        Orders orders(device, on_device.size(), edge, 1, reach, cut);
        orders.prepare(on_device.data());
        compare(pairs_of_particles(orders), position, 2);
        if (!device.is_cuda()) compare(pairs_of_cells(orders), position, 1);
      }
}

TEST_P(InteractionSort, UsefulShareIsThatOfTheGeometry) {
  // Places drawn evenly, cells exactly as wide as the range or its half.
  const std::int64_t n = 8 * 8 * 8 * 24;
  const Buffer<Position> position(device, std::span<const Position>(random_positions(n, 4)));
  for (const int reach : {1, 2})
    for (const Cut cut : cuts) {
      SCOPED_TRACE(std::string(name_of(cut)) + ", " + std::to_string(reach) +
                   " cells to the range");
      Orders orders(device, n, 8 * (1 + 1e-9), 1, reach, cut);
      orders.prepare(position.data());
      Buffer<std::uint32_t> met(device, n), near(device, n);
      search_particles(orders, CountBody{Real(1), met.data(), near.data()});
      double all = 0, in_range = 0;
      for (const auto m : met.to_host()) all += m;
      for (const auto m : near.to_host()) in_range += m;
      EXPECT_NEAR(in_range / all, expected_share(cut, reach, 100000), 0.008);
      // Of these many pairs, each from both sides: four standard deviations.
      const double mean = double(n) * double(n) / 512 * 4.18879;
      EXPECT_NEAR(in_range, mean, 4 * std::sqrt(2 * mean) + 1e-3 * mean);
      if (device.is_cuda()) continue;
      CellResult result;
      search_cells<Work::count>(orders, result);
      EXPECT_NEAR(2 * double(result.near), in_range, 1e-5 * in_range + 4);
      EXPECT_NEAR(2 * double(result.met) / all, 1, 2e-3);
    }
}

TEST(InteractionSortShares, AreThoseOfThePaper) {
  // E. S. Fomin: 16 % with whole cells, some 60 % when sorted along the axes.
  EXPECT_NEAR(expected_share(Cut::none, 1, 100000), 4 * M_PI / 3 / 27, 1e-3);
  const double share = expected_share(Cut::axes, 1, 100000);
  EXPECT_GT(share, 0.60);
  EXPECT_LT(share, 0.69);
}

TEST_P(InteractionSort, ForcesAgree) {
  const auto position = random_positions(900, 7);
  const Buffer<Position> on_device(device, std::span<const Position>(position));
  std::vector<Vec3<double>> expected(position.size());
  double expected_energy = 0;
  for (std::size_t i = 0; i < position.size(); ++i)
    for (std::size_t j = 0; j < position.size(); ++j) {
      const double r2 = square_of(position[i], position[j]);
      if (i == j || r2 >= 1) continue;
      const auto along = [](std::uint32_t p, std::uint32_t q) {
        return double(std::int32_t(p - q)) * (edge / 4294967296.0);
      };
      const double i6 = 1 / (r2 * r2 * r2), f = i6 / r2 * (48 * i6 - 24);
      expected[i] +=
          f * Vec3<double>{along(position[i].x, position[j].x), along(position[i].y, position[j].y),
                           along(position[i].z, position[j].z)};
      expected_energy += 2 * i6 * (i6 - 1);
    }
  const auto check = [&](const Orders& orders, const std::vector<Real4>& force) {
    const auto number = orders.number().to_host();
    double energy = 0;
    for (std::size_t k = 0; k < force.size(); ++k) {
      const Vec3<double> f = expected[number[k]];
      const Vec3<double> error = f - Vec3<double>{force[k].x, force[k].y, force[k].z};
      // Forces of pairs that nearly touch have large errors of rounding.
      EXPECT_LE(dot(error, error), 1e-6 * dot(f, f) + 1e-2) << k;
      energy += force[k].w;
    }
    EXPECT_NEAR(energy / expected_energy, 1, 1e-3);
  };
  for (const Cut cut : cuts) {
    SCOPED_TRACE(name_of(cut));
    Orders orders(device, on_device.size(), edge, 1, 1, cut);
    orders.prepare(on_device.data());
    Buffer<Real4> force(device, on_device.size());
    search_particles(orders, ForceBody{Real(1), force.data()});
    check(orders, force.to_host());
    if (device.is_cuda()) continue;
    std::vector<Real4> by_cells(position.size());
    CellResult result;
    result.force = by_cells.data();
    search_cells<Work::forces>(orders, result);
    check(orders, by_cells);
  }
}

TEST_P(InteractionSort, SitesOfRigidMoleculesMeetOnce) {
  // Base atoms are sorted; sites within 1 of one another count.
  const auto position = random_positions(600, 8);
  std::mt19937 random(9);
  std::uniform_real_distribution<double> along(-0.05, 0.05);
  std::vector<Real4> arms(position.size() * sites);
  for (std::size_t k = 0; k < arms.size(); ++k)
    if (k % sites != 0) arms[k] = {Real(along(random)), Real(along(random)), Real(along(random))};
  const double longest = 0.05 * std::sqrt(3.0), reach = 1 + 2 * longest;
  const auto n = std::int64_t(position.size());
  const Buffer<Position> on_device(device, std::span<const Position>(position));
  const Buffer<Real4> given(device, std::span<const Real4>(arms));
  std::vector<std::uint32_t> expected(position.size()), doubtful(position.size());
  for (std::size_t i = 0; i < position.size(); ++i)
    for (std::size_t j = 0; j < position.size(); ++j)
      for (std::size_t pair = 0; i != j && pair < sites * sites; ++pair) {
        const Real4 a = arms[i * sites + pair / sites], b = arms[j * sites + pair % sites];
        const auto part = [&](std::uint32_t p, std::uint32_t q, Real from, Real to) {
          return double(std::int32_t(p - q)) * (edge / 4294967296.0) + double(from) - double(to);
        };
        const double x = part(position[i].x, position[j].x, a.x, b.x),
                     y = part(position[i].y, position[j].y, a.y, b.y),
                     z = part(position[i].z, position[j].z, a.z, b.z);
        const double r2 = x * x + y * y + z * z;
        expected[i] += r2 < 1 ? 1 : 0;
        doubtful[i] += std::abs(r2 - 1) < 1e-5 ? 1 : 0;
      }
  for (const Cut cut : cuts) {
    SCOPED_TRACE(name_of(cut));
    Orders orders(device, n, edge, reach, 1, cut);
    orders.prepare(on_device.data());
    Buffer<Real4> placed(device, n * sites);
    for_each(device, "arms", n * sites,
             PlaceArms{orders.number().data(), given.data(), placed.data()});
    Buffer<std::uint32_t> met(device, n), near(device, n);
    search_particles(orders,
                     MoleculeBody<CountBody>{
                         {placed.data()}, Real(reach * reach), {Real(1), met.data(), near.data()}});
    const auto count = near.to_host(), number = orders.number().to_host();
    double all = 0;
    for (std::size_t k = 0; k < count.size(); ++k) {
      const std::uint32_t i = number[k];
      EXPECT_NEAR(count[k], expected[i], doubtful[i]) << i;
      all += count[k];
    }
    EXPECT_GT(all, 1e4);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, InteractionSort, ::testing::Values("cpu", "cuda"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace perrin::interaction_sort
