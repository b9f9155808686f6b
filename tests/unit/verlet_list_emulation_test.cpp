// The kernel that finds rows on a GPU, emulated on the CPU, against all pairs and against the CPU's
// search.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "neighbor/verlet_list/row_plan.h"
#include "tests/unit/cuda_emulation.h"

namespace perrin {
inline bool begin_kernel(const std::uint32_t* halt) { return *halt != 0; }
}  // namespace perrin

#include "neighbor/verlet_list/row_search.cuh"

namespace perrin {
namespace {

struct Rows {
  std::vector<std::uint32_t> begin, count, entries;
  std::vector<std::uint32_t> row(std::size_t i) const {
    const auto first = entries.begin() + std::ptrdiff_t(begin[i] * row_unit);
    return {first, first + std::ptrdiff_t(count[i])};
  }
};

/// Particles sorted by cell, as VerletList does, and what is to be searched.
struct Sorted {
  Box box;
  Ranges reaches;
  RowPlan plan;
  std::vector<Position> position;
  std::vector<std::uint32_t> id, cell_start, exclusion_begin, excluded;
  std::vector<Real> reach2;

  Sorted(const Box& the_box, const Ranges& the_reaches, std::vector<Position> p, double density)
      : box(the_box), reaches(the_reaches), position(std::move(p)) {
    const std::size_t types = std::max<std::size_t>(1, reaches.types());
    Crowding crowding{density, 1, std::vector<std::int64_t>(types)};
    for (const Position& q : position) ++crowding.by_type[q.type()];
    plan = plan_rows(box, reaches, crowding, {12});
    const auto key = [&](const Position& q) { return plan.grids[plan.class_of[q.type()]].key(q); };
    std::stable_sort(position.begin(), position.end(),
                     [&](const Position& a, const Position& b) { return key(a) < key(b); });
    cell_start.assign(std::size_t(plan.cells()) + 1, 0);
    for (const Position& q : position) ++cell_start[key(q) + 1];
    for (std::size_t c = 1; c < cell_start.size(); ++c) cell_start[c] += cell_start[c - 1];
    for (std::size_t a = 0; a < types; ++a)
      for (std::size_t b = 0; b < types; ++b) reach2.push_back(Real(reaches(a, b) * reaches(a, b)));
    for (std::uint32_t i = 0; i < position.size(); ++i) id.push_back(i);
    position.resize(position.size() + 16);  // the CPU's vectors read beyond the end
  }
  std::size_t size() const { return id.size(); }

  void exclude_pairs() {
    for (std::uint32_t i = 0; i < id.size(); ++i) {
      exclusion_begin.push_back(std::uint32_t(excluded.size()));
      if ((i ^ 1u) < id.size()) excluded.push_back(i ^ 1u);
    }
    exclusion_begin.push_back(std::uint32_t(excluded.size()));
  }
  RowSearch search(Rows& to, std::uint32_t* used) {
    to.begin.assign(size(), 0), to.count.assign(size(), 0);
    return {plan.grids.data(),
            plan.pairs.data(),
            std::uint32_t(plan.classes()),
            std::uint32_t(plan.class_of.size()),
            plan.class_of.data(),
            reach2.data(),
            cell_start.data(),
            nullptr,
            position.data(),
            id.data(),
            {box.metric(), nullptr},
            box.orthogonal(),
            exclusion_begin.empty() ? ExclusionView{}
                                    : ExclusionView{exclusion_begin.data(), excluded.data()},
            to.begin.data(),
            to.count.data(),
            to.entries.data(),
            used,
            std::uint32_t(to.entries.size() / row_unit),
            std::int64_t(size()),
            {0, std::int64_t(size())}};
  }
  std::vector<std::uint32_t> by_brute_force(std::uint32_t i) const {
    std::vector<std::uint32_t> all;
    const Metric m = box.metric();
    for (std::uint32_t j = 0; j < size(); ++j) {
      const Real3 d = m.vector(position[i], position[j]);
      if (j != i && (exclusion_begin.empty() || j != (i ^ 1u)) &&
          dot(d, d) < reach2[position[i].type() * plan.class_of.size() + position[j].type()])
        all.push_back(j);
    }
    return all;
  }
  std::vector<RowGroup> groups(int log2_lanes) const {
    std::vector<RowGroup> all;
    std::uint32_t first = 0;
    for (const std::int64_t members : plan.members) {
      const std::uint32_t end = first + std::uint32_t(members), each = 32u >> log2_lanes;
      for (; first < end; first += each)
        all.push_back(
            {first, std::uint16_t(std::min(each, end - first)), std::uint16_t(log2_lanes)});
      first = end;
    }
    return all;
  }
};

std::vector<Position> random_positions(std::size_t n, double share_of_b, double clump) {
  std::mt19937 g(3);
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<Position> all(n);
  for (Position& p : all) {
    const auto along = [&] { return std::uint32_t(std::int64_t(u(g) * clump * 4294967295.0)); };
    p = {along(), along() - 1000000u, along(), u(g) < share_of_b ? 1u : 0u};
  }
  return all;
}

Box cube(double edge) {
  Box box;
  box.length = {edge, edge, edge};
  return box;
}

void check(Sorted& s) {
  const std::uint32_t go = 0;
  Rows cpu;
  cpu.entries.resize(400000);
  std::uint32_t used = 0;
  search_rows(Device::cpu(2), s.search(cpu, &used));
  for (const int log2_lanes : {0, 3, 5}) {
    SCOPED_TRACE(testing::Message() << (1 << log2_lanes) << " lanes");
    Rows gpu;
    gpu.entries.resize(400000);
    used = 0;
    const auto groups = s.groups(log2_lanes);
    const auto count = std::int64_t(groups.size());
    emulation::launch((count + 3) / 4, detail::row_search_block, detail::build_rows_kernel,
                      s.search(gpu, &used), groups.data(), count, &go);
    ASSERT_LE(used * row_unit, gpu.entries.size());
    std::size_t entries = 0;
    for (std::uint32_t i = 0; i < s.size(); ++i) {
      auto expected = s.by_brute_force(i), row = gpu.row(i), other = cpu.row(i);
      entries += row.size();
      std::sort(row.begin(), row.end());
      std::sort(other.begin(), other.end());
      ASSERT_EQ(row, expected) << i;
      ASSERT_EQ(other, expected) << i;
    }
    EXPECT_GT(entries, s.size() / 2);
  }
}

TEST(RowsEmulation, Uniform) {
  Sorted s(cube(7), 1.8, random_positions(250, 0, 1), 250 / 343.0);
  check(s);
}

TEST(RowsEmulation, MixtureInClassesWithExclusions) {
  Sorted s(cube(12.5), {2, {1.1, 3.3, 3.3, 6}}, random_positions(450, 0.03, 1), 450 / 2000.0);
  EXPECT_EQ(s.plan.classes(), 2u);
  s.exclude_pairs();
  check(s);
}

// A cell is sorted in a time that grows with the square of its particles.
TEST(RowsEmulation, ATypeWithoutRangeIsSpreadOverCells) {
  Sorted s(cube(12.5), {2, {2, 0, 0, 0}}, random_positions(3000, 0.5, 1), 3000 / 1953.0);
  EXPECT_EQ(s.plan.classes(), 2u);
  std::uint32_t most = 0;
  for (std::size_t c = 1; c < s.cell_start.size(); ++c)
    most = std::max(most, s.cell_start[c] - s.cell_start[c - 1]);
  EXPECT_LT(most, 64u);
  check(s);
}

TEST(RowsEmulation, OneClassOfDifferentRanges) {
  Sorted s(cube(7), {2, {1.8, 1.9, 1.9, 2}}, random_positions(250, 0.5, 1), 250 / 343.0);
  EXPECT_EQ(s.plan.classes(), 1u);
  EXPECT_TRUE(s.plan.pairs[0].mixed);
  check(s);
}

TEST(RowsEmulation, ClumpInAFoldedBox) {
  Sorted s(cube(4000), 2, random_positions(250, 0, 0.0015), 1);
  EXPECT_GT(s.plan.grids[0].fold.x, 4);
  check(s);
}

TEST(RowsEmulation, LongRowsAreFoundASecondTime) {
  Sorted s(cube(9), 3, random_positions(250, 0, 0.4), 6);  // 32 places for each at one lane
  check(s);
}

TEST(RowsEmulation, SaysWhatRoomItWanted) {
  Sorted s(cube(7), 1.8, random_positions(250, 0, 1), 250 / 343.0);
  const std::uint32_t go = 0;
  std::uint32_t used = 0;
  Rows gpu;
  gpu.entries.resize(64 * row_unit);
  const auto groups = s.groups(3);
  const auto count = std::int64_t(groups.size());
  emulation::launch((count + 3) / 4, detail::row_search_block, detail::build_rows_kernel,
                    s.search(gpu, &used), groups.data(), count, &go);
  std::uint32_t wanted = 0;
  for (const std::uint32_t n : gpu.count) wanted += (n + row_unit - 1) / row_unit;
  EXPECT_GT(used, 64u);
  EXPECT_EQ(used, wanted);
}

}  // namespace
}  // namespace perrin
