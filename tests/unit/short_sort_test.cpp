// The short sorts and their plan, on every device there is.
#include "neighbor/sort/short_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "neighbor/sort/short_sort_cpu.h"
#include "neighbor/sort/short_sort_plan.h"
#include "neighbor/sort/short_sort_rank.h"

namespace perrin {
namespace {

using Words = std::vector<std::uint32_t>;

struct Batch {
  std::vector<std::int32_t> offsets{0};
  Words words;
  std::int64_t count() const { return std::int64_t(offsets.size()) - 1; }
};

/// How coordinates are drawn.
enum class Kind { random, few, equal, ends, ascending, descending };

std::uint32_t coordinate(Kind kind, int i, std::mt19937& random) {
  switch (kind) {
    case Kind::random:
      return random() >> 16;
    case Kind::few:
      return random() % 3 * 21845;
    case Kind::equal:
      return 4711;
    case Kind::ends:
      return random() % 2 == 0 ? 0 : 65535;
    case Kind::ascending:
      return std::uint32_t(i) * 7;
    case Kind::descending:
      return 65535 - std::uint32_t(i) * 7;
  }
  return 0;
}
constexpr Kind kinds[] = {Kind::random, Kind::few,       Kind::equal,
                          Kind::ends,   Kind::ascending, Kind::descending};

Batch make_batch(const std::vector<int>& lengths, Kind kind, unsigned seed) {
  std::mt19937 random(seed);
  Batch batch;
  for (const int length : lengths) {
    for (int i = 0; i < length; ++i)
      batch.words.push_back(short_sort_word(coordinate(kind, i, random), std::uint32_t(i)));
    batch.offsets.push_back(std::int32_t(batch.words.size()));
  }
  return batch;
}

/// The first array that is not in order, or not the elements it was, or not stable.
::testing::AssertionResult is_sorted_permutation(const Batch& batch, const Words& result) {
  for (std::size_t a = 0; a + 1 < batch.offsets.size(); ++a) {
    const std::size_t begin = std::size_t(batch.offsets[a]),
                      end = std::size_t(batch.offsets[a + 1]);
    std::vector<bool> seen(end - begin, false);
    const auto fail = [&](std::size_t k, const char* what) {
      return ::testing::AssertionFailure() << "array " << a << " of length " << end - begin
                                           << ", place " << k - begin << ": " << what;
    };
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t index = short_sort_index(result[k]);
      if (index >= end - begin) return fail(k, "no index of this array");
      if (seen[index]) return fail(k, "an element twice");
      seen[index] = true;
      if (result[k] != batch.words[begin + index]) return fail(k, "not the element of this index");
      if (k == begin) continue;
      if (short_sort_coordinate(result[k - 1]) > short_sort_coordinate(result[k]))
        return fail(k, "out of order");
      if (short_sort_coordinate(result[k - 1]) == short_sort_coordinate(result[k]) &&
          short_sort_index(result[k - 1]) > index)
        return fail(k, "equal coordinates have changed their order");
    }
  }
  return ::testing::AssertionSuccess();
}

std::vector<int> mixed_lengths(int longest, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> lengths(static_cast<std::size_t>(count));
  for (int& n : lengths) n = int(random() % unsigned(longest + 1));
  return lengths;
}

class ShortSort : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
    device = Device::parse(GetParam(), 2);
  }
  Words sort(const Batch& batch) const {
    const Buffer<std::int32_t> offsets(device, batch.offsets);
    const Buffer<std::uint32_t> in(device, batch.words);
    Buffer<std::uint32_t> out(device, in.size());
    short_sort(device, in.data(), out.data(), offsets.data(), batch.count());
    EXPECT_EQ(in.to_host(), batch.words);  // the input is left alone
    return out.to_host();
  }
  Device device;
};

TEST_P(ShortSort, EveryLengthTogether) {
  std::vector<int> lengths(257);
  std::iota(lengths.begin(), lengths.end(), 0);
  for (const Kind kind : kinds) {
    SCOPED_TRACE(int(kind));
    const Batch batch = make_batch(lengths, kind, 1);
    EXPECT_TRUE(is_sorted_permutation(batch, sort(batch)));
  }
}

TEST_P(ShortSort, EveryLengthUniform) {
  for (int length = 0; length <= 256; ++length) {
    // 19 arrays: no multiple of the number that any kernel takes at once.
    const Batch batch = make_batch(std::vector<int>(19, length), kinds[length % 6], 2);
    Buffer<std::uint32_t> words(device, batch.words);
    short_sort_uniform(device, words.data(), words.data(), length, batch.count());
    EXPECT_TRUE(is_sorted_permutation(batch, words.to_host()));
  }
}

TEST_P(ShortSort, UniformArraysOffAlignment) {
  for (const int length : {8, 32, 96, 256}) {
    const Batch batch = make_batch(std::vector<int>(37, length), Kind::random, 3);
    Words shifted{1, 2, 3};
    shifted.insert(shifted.end(), batch.words.begin(), batch.words.end());
    const Buffer<std::uint32_t> in(device, shifted);
    Buffer<std::uint32_t> out(device, in.size() + 1);
    short_sort_uniform(device, in.data() + 3, out.data() + 1, length, batch.count());
    const Words all = out.to_host();
    EXPECT_TRUE(is_sorted_permutation(batch, Words(all.begin() + 1, all.end())));
    EXPECT_EQ(all[0], 0u);
  }
}

TEST_P(ShortSort, RaggedBatches) {
  for (const int longest : {5, 20, 40, 70, 130, 256})
    for (const int count : {1, 31, 3000}) {
      SCOPED_TRACE(std::to_string(count) + " arrays up to " + std::to_string(longest));
      const Batch batch = make_batch(mixed_lengths(longest, count, 4), Kind::few, 5);
      EXPECT_TRUE(is_sorted_permutation(batch, sort(batch)));
    }
}

TEST_P(ShortSort, LengthsRoundTheClasses) {
  // Mostly at the limit of a class, a tenth just beyond it.
  std::mt19937 random(20);
  for (const int limit : {8, 16, 32, 64, 96, 128, 192, 256}) {
    SCOPED_TRACE(limit);
    std::vector<int> lengths(5000);
    for (int& n : lengths) n = random() % 10 == 0 ? limit + 1 : limit - int(random() % 3);
    const Batch batch = make_batch(lengths, Kind::random, 21);
    EXPECT_TRUE(is_sorted_permutation(batch, sort(batch)));
  }
}

TEST_P(ShortSort, LargeRaggedBatch) {
  // Enough arrays for the largest share of a warp; mostly short, a few of every length.
  std::vector<int> lengths = mixed_lengths(12, 200000, 6);
  const std::vector<int> others = mixed_lengths(256, 300, 7);
  for (std::size_t i = 0; i < others.size(); ++i) lengths[i * 613] = others[i];
  const Batch batch = make_batch(lengths, Kind::random, 8);
  EXPECT_TRUE(is_sorted_permutation(batch, sort(batch)));
}

TEST_P(ShortSort, ArraysBeyondTheLimit) {
  const Batch batch = make_batch({3, 257, 0, 1000, 256, 4097, 1}, Kind::few, 9);
  EXPECT_TRUE(is_sorted_permutation(batch, sort(batch)));
}

TEST_P(ShortSort, AnyWords) {
  // Words that are not packed ones: equal words, both ends of the range.
  std::mt19937 random(10);
  Batch batch = make_batch(mixed_lengths(256, 500, 11), Kind::random, 12);
  for (auto& word : batch.words)
    word = random() % 3 == 0 ? 0xffffffffu : random() % 2 == 0 ? random() % 3 : random();
  const Words result = sort(batch);
  for (std::size_t a = 0; a + 1 < batch.offsets.size(); ++a)
    std::sort(batch.words.begin() + batch.offsets[a], batch.words.begin() + batch.offsets[a + 1]);
  EXPECT_EQ(result, batch.words);
}

TEST_P(ShortSort, NothingToSort) {
  const Buffer<std::int32_t> offsets(device, std::int64_t(5));  // zeros: four empty arrays
  Buffer<std::uint32_t> words(device, std::int64_t(1));
  short_sort(device, words.data(), words.data(), offsets.data(), 4);
  short_sort(device, words.data(), words.data(), offsets.data(), 0);
  short_sort_uniform(device, words.data(), words.data(), 8, 0);
  short_sort_uniform(device, words.data(), words.data(), 0, 8);
  device.synchronize();
  EXPECT_EQ(words.to_host(), Words{0});
}

struct FirstOfMolecule {
  const float* x;
  PERRIN_HD std::uint32_t operator()(std::int64_t i) const {
    return short_sort_map(x[3 * i], -2.0f, 65536.0f / 4.0f);
  }
};

TEST_P(ShortSort, PlanOfBaseAtomsOrdersWholeMolecules) {
  // Molecules of three atoms, sorted within columns by their first atom.
  std::mt19937 random(13);
  std::uniform_real_distribution<float> place(-2, 2);
  const Batch columns = make_batch(mixed_lengths(100, 60, 14), Kind::equal, 15);
  const std::size_t molecules = columns.words.size();
  std::vector<float> x(3 * molecules);
  for (float& value : x) value = place(random);
  std::vector<std::int64_t> tags(molecules);
  std::iota(tags.begin(), tags.end(), 1000);

  const Buffer<std::int32_t> offsets(device, columns.offsets);
  const Buffer<float> atoms(device, x);
  const Buffer<std::int64_t> before(device, tags);
  ShortSortPlan plan(device, std::int64_t(molecules));
  plan.compute(offsets.data(), columns.count(), FirstOfMolecule{atoms.data()});
  Buffer<float> sorted_atoms(device, atoms.size());
  Buffer<std::int64_t> after(device, before.size());
  plan.apply(atoms.data(), sorted_atoms.data(), 3);
  plan.apply(before.data(), after.data());

  const std::vector<float> result = sorted_atoms.to_host();
  const std::vector<std::int64_t> order = after.to_host();
  for (std::size_t c = 0; c + 1 < columns.offsets.size(); ++c) {
    std::vector<std::int64_t> members;
    for (auto i = columns.offsets[c]; i < columns.offsets[c + 1]; ++i) members.push_back(i);
    std::stable_sort(members.begin(), members.end(), [&](std::int64_t a, std::int64_t b) {
      return short_sort_map(x[std::size_t(3 * a)], -2.0f, 16384.0f) <
             short_sort_map(x[std::size_t(3 * b)], -2.0f, 16384.0f);
    });
    for (std::size_t k = 0; k < members.size(); ++k) {
      const std::size_t place_of = std::size_t(columns.offsets[c]) + k;
      const std::size_t source = std::size_t(members[k]);
      ASSERT_EQ(order[place_of], tags[source]);
      for (std::size_t atom = 0; atom < 3; ++atom)
        ASSERT_EQ(result[3 * place_of + atom], x[3 * source + atom]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ShortSort, ::testing::Values("cpu", "cuda"),
                         [](const auto& test) { return test.param; });

TEST(ShortSortOnCpu, EveryInstructionSet) {
  std::vector<int> lengths(301);
  std::iota(lengths.begin(), lengths.end(), 0);
  const std::vector<int> more = mixed_lengths(256, 400, 16);
  lengths.insert(lengths.end(), more.begin(), more.end());
  const Batch batch = make_batch(lengths, Kind::random, 17);
  Words out(batch.words.size());
  const short_sort_detail::CpuArrays arrays{batch.words.data(), out.data(), batch.offsets.data(),
                                            0};
  short_sort_detail::sort_baseline(arrays, 0, batch.count());
  EXPECT_TRUE(is_sorted_permutation(batch, out));
  if (__builtin_cpu_supports("avx2")) {
    std::fill(out.begin(), out.end(), 0);
    short_sort_detail::sort_avx2(arrays, 0, batch.count());
    EXPECT_TRUE(is_sorted_permutation(batch, out));
  }
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    std::fill(out.begin(), out.end(), 0);
    short_sort_detail::sort_avx512(arrays, 0, batch.count());
    EXPECT_TRUE(is_sorted_permutation(batch, out));
  }
}

TEST(ShortSortKeys, MapCoordinatesToSixteenBits) {
  EXPECT_EQ(short_sort_map(0.0, 0.0, 65536.0), 0u);
  EXPECT_EQ(short_sort_map(0.5, 0.0, 65536.0), 32768u);
  EXPECT_EQ(short_sort_map(1.0, 0.0, 65536.0), 65535u);
  EXPECT_EQ(short_sort_map(-1e30, 0.0, 65536.0), 0u);
  EXPECT_EQ(short_sort_map(1e30, 0.0, 65536.0), 65535u);
  EXPECT_EQ(short_sort_map(std::numeric_limits<double>::infinity(), 0.0, 65536.0), 65535u);
  EXPECT_EQ(short_sort_map(std::numeric_limits<double>::quiet_NaN(), 0.0, 65536.0), 0u);
  EXPECT_EQ(short_sort_coordinate(short_sort_word(65535, 12)), 65535u);
  EXPECT_EQ(short_sort_index(short_sort_word(65535, 12)), 12u);
}

constexpr RankSort rank_sorts[] = {RankSort::all_pairs, RankSort::divide_and_conquer,
                                   RankSort::element};

TEST(RankSorts, EveryLength) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  const Device device = Device::cuda();
  for (const RankSort variant : rank_sorts)
    for (int longest = 0; longest <= rank_sort_length; ++longest) {
      std::vector<int> lengths = mixed_lengths(longest, 8, 18);
      lengths.back() = longest;
      const Batch batch = make_batch(lengths, kinds[longest % 6], 19);
      const Buffer<std::int32_t> offsets(device, batch.offsets);
      const Buffer<std::uint32_t> in(device, batch.words);
      Buffer<std::uint32_t> out(device, in.size());
      short_sort_rank(device, variant, in.data(), out.data(), offsets.data(), batch.count(),
                      longest);
      EXPECT_TRUE(is_sorted_permutation(batch, out.to_host())) << int(variant) << " " << longest;
      out.zero();
      const std::int64_t first = longest == 0 ? 0 : batch.count() - 1;  // the last array alone
      const std::int32_t begin = batch.offsets[std::size_t(first)];
      short_sort_rank_uniform(device, variant, in.data() + begin, out.data(), longest, 1);
      Words expected(batch.words.begin() + begin, batch.words.end());
      std::sort(expected.begin(), expected.end());
      Words result = out.to_host();
      result.resize(expected.size());
      EXPECT_EQ(result, expected) << int(variant) << " " << longest;
    }
}

TEST(RankSorts, FloatsOfWhichSomeAreEqual) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  const Device device = Device::cuda();
  std::mt19937 random(23);
  for (const RankSort variant : rank_sorts)
    for (int length = 1; length <= rank_sort_length; length += length < 40 ? 1 : 37)
      for (const unsigned values : {2u, 30u, 1u << 30}) {
        const std::int64_t count = 5;
        std::vector<float> host(std::size_t(length * count));
        for (float& x : host) x = (float(random() % values) - float(values / 2)) / 3;
        const Buffer<float> in(device, host);
        Buffer<float> out(device, in.size());
        short_sort_rank_uniform(device, variant, in.data(), out.data(), length, count);
        for (std::int64_t k = 0; k < count; ++k)
          std::sort(host.begin() + k * length, host.begin() + (k + 1) * length);
        EXPECT_EQ(out.to_host(), host) << int(variant) << " " << length << " " << values;
      }
}

}  // namespace
}  // namespace perrin
