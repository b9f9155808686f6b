// The CUDA kernel of the sorting of interactions, run on an emulated device.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "tests/unit/cuda_emulation.h"
// After the emulated names of CUDA.
#include "tests/benchmarks/interaction_sort_blocks.cuh"

namespace perrin::interaction_sort {
namespace {

/// Of particles at random, range 1, a box of 4.2: each pair from both sides.
template <Cut cut, int Threads, int Most>
void check(int n, int reach) {
  SCOPED_TRACE(std::string(name_of(cut)) + ", " + std::to_string(reach) + " cells to the range");
  constexpr double edge = 4.2;
  std::mt19937 random(2);
  std::vector<Position> host(static_cast<std::size_t>(n));
  for (Position& p : host) p.x = random(), p.y = random(), p.z = random();
  const Device device = Device::parse("cpu", 1);
  const Buffer<Position> position(device, std::span<const Position>(host));
  Orders orders(device, n, edge, 1, reach, cut);
  orders.prepare(position.data());
  constexpr std::uint32_t most = 200;
  std::vector<std::uint32_t> entries(std::size_t(most) * host.size()), length(host.size());
  const ListBody body{Real(1), n, most, entries.data(), length.data()};
  emulation::launch(orders.cell_count(), Threads, cell_block_kernel<cut, ListBody, Threads, Most>,
                    orders.view(), body);
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Pair> found, expected;
  const auto number = orders.number().to_host();
  for (std::size_t i = 0; i < host.size(); ++i)
    for (std::size_t k = 0; k < length[i]; ++k)
      found.emplace_back(number[i], number[entries[k * host.size() + i]]);
  for (std::uint32_t i = 0; i < host.size(); ++i)
    for (std::uint32_t j = 0; j < host.size(); ++j) {
      const auto along = [](std::uint32_t a, std::uint32_t b) {
        return double(std::int32_t(a - b)) * (edge / 4294967296.0);
      };
      const double dx = along(host[i].x, host[j].x), dy = along(host[i].y, host[j].y),
                   dz = along(host[i].z, host[j].z);
      const double r2 = dx * dx + dy * dy + dz * dz;
      if (i != j && std::abs(r2 - 1) < 1e-5)
        std::erase(found, Pair(i, j));  // may be on either side
      else if (i != j && r2 < 1)
        expected.emplace_back(i, j);
    }
  std::sort(found.begin(), found.end());
  ASSERT_GT(expected.size(), 500u);
  EXPECT_TRUE(found == expected) << found.size() << " of " << expected.size();
}

TEST(InteractionSortEmulated, EveryPairInRangeIsFoundOnceFromBothSides) {
  check<Cut::axes, 32, 64>(700, 1);
  check<Cut::axes, 64, 64>(2000, 1);
  check<Cut::axes, 32, 64>(700, 2);
  check<Cut::none, 32, 64>(700, 1);
}

}  // namespace
}  // namespace perrin::interaction_sort
