// The CUDA kernels of the short sorts, run on an emulated warp.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "tests/unit/cuda_emulation.h"
// After the emulated names of CUDA.
#include "neighbor/sort/short_sort_gpu.cuh"
#include "neighbor/sort/short_sort_rank.cuh"

namespace perrin::short_sort_detail {
namespace {

struct Batch {
  std::vector<std::int32_t> offsets{0};
  std::vector<std::uint32_t> words;
  std::int64_t count() const { return std::int64_t(offsets.size()) - 1; }
};

enum class Words { packed, free };

/// Packed words (all different), or any words with many equal ones and both ends of the range.
Batch make_batch(const std::vector<int>& lengths, Words kind, unsigned seed) {
  std::mt19937 random(seed);
  Batch batch;
  for (const int length : lengths) {
    for (int i = 0; i < length; ++i) {
      std::uint32_t word = random();
      if (kind == Words::packed)
        word = (random() % 4 == 0 ? word >> 31 << 31 : word) >> 16 << 16 | std::uint32_t(i);
      else if (word % 3 == 0)
        word = random() % 2 == 0 ? 0xffffffffu : random() % 4;
      batch.words.push_back(word);
    }
    batch.offsets.push_back(std::int32_t(batch.words.size()));
  }
  return batch;
}

std::vector<std::uint32_t> sorted(const Batch& batch) {
  std::vector<std::uint32_t> words = batch.words;
  for (std::size_t i = 0; i + 1 < batch.offsets.size(); ++i)
    std::sort(words.begin() + batch.offsets[i], words.begin() + batch.offsets[i + 1]);
  return words;
}

constexpr std::uint32_t untouched = 0xabcdefu;

template <int L, int E, int Batches, Store store, int Multiply>
void check_uniform() {
  SCOPED_TRACE(std::to_string(L) + " lanes of " + std::to_string(E));
  // One block full, the second with one array only.
  using Shape = UniformShape<L, E>;
  const int count = Shape::warps * Shape::arrays * Batches + 1, length = L * E;
  const Batch batch = make_batch(std::vector<int>(std::size_t(count), length), Words::free, 7);
  std::vector<uint4> in(batch.words.size() / 4), out(in.size() + 1);
  std::memcpy(in.data(), batch.words.data(), in.size() * sizeof(uint4));
  out.back().x = untouched;
  emulation::launch(2, Shape::threads, sort_uniform_kernel<L, E, Batches, store, Multiply>,
                    in.data(), out.data(), std::int64_t(count), 1u, ~0u);
  std::vector<std::uint32_t> result(batch.words.size());
  std::memcpy(result.data(), out.data(), result.size() * 4);
  EXPECT_EQ(result, sorted(batch));
  EXPECT_EQ(out.back().x, untouched);
}

TEST(ShortSortEmulated, UniformKernels) {
  check_uniform<2, 4, 4, Store::direct, 0>();
  check_uniform<2, 8, 2, Store::exchange, 0>();
  check_uniform<4, 8, 2, Store::exchange, 0>();
  check_uniform<4, 8, 2, Store::staged, 1>();
  check_uniform<8, 8, 2, Store::exchange, 1>();
  check_uniform<8, 12, 1, Store::staged, 0>();
  check_uniform<4, 24, 1, Store::exchange, 1>();
  check_uniform<8, 16, 1, Store::exchange, 1>();
  check_uniform<4, 32, 1, Store::direct, 0>();
  check_uniform<4, 16, 1, Store::exchange, 1>();
  check_uniform<8, 24, 1, Store::exchange, 1>();
  check_uniform<8, 32, 1, Store::exchange, 1>();
  check_uniform<8, 32, 1, Store::staged, 1>();
  check_uniform<16, 16, 1, Store::exchange, 1>();
}

/// Places `start` words further on in memory than an aligned start, with guards at both ends.
void check_ragged(const Batch& batch, int chunk, bool in_place, int start) {
  std::vector<std::uint32_t> in(batch.words.size() + std::size_t(start) + 1, untouched);
  std::copy(batch.words.begin(), batch.words.end(), in.begin() + start);
  std::vector<std::int32_t> offsets = batch.offsets;
  for (auto& offset : offsets) offset += start;
  std::vector<std::uint32_t> out(in.size(), untouched);
  const std::int64_t per_block = std::int64_t(ragged_warps) * chunk;
  emulation::launch((batch.count() + per_block - 1) / per_block, 32 * ragged_warps,
                    sort_ragged_kernel, in.data(), in_place ? in.data() : out.data(),
                    Extent{offsets.data(), 0}, batch.count(), chunk);
  std::vector<std::uint32_t> expected(in.size(), untouched);
  const auto words = sorted(batch);
  std::copy(words.begin(), words.end(), expected.begin() + start);
  EXPECT_EQ(in_place ? in : out, expected);
}

TEST(ShortSortEmulated, RaggedKernelEveryLength) {
  std::vector<int> lengths;
  for (int n = 0; n <= 256; ++n) lengths.push_back(n);
  for (const int chunk : {32, 8, 2}) {
    SCOPED_TRACE(chunk);
    check_ragged(make_batch(lengths, Words::free, 3), chunk, false, chunk % 3);
  }
}

TEST(ShortSortEmulated, RaggedKernelMixedLengths) {
  std::mt19937 random(11);
  for (const int longest : {9, 33, 100, 300}) {
    SCOPED_TRACE(longest);
    std::vector<int> lengths(150);
    for (int& n : lengths) n = int(random() % unsigned(longest));
    check_ragged(make_batch(lengths, Words::packed, 5), 32, true, 13);
  }
  // Long arrays between short ones, empty arrays at the ends of chunks, one array alone.
  check_ragged(make_batch({0, 700, 3, 0, 256, 257, 1, 0}, Words::free, 5), 4, false, 1);
  check_ragged(make_batch({77}, Words::free, 5), 32, false, 0);
}

TEST(ShortSortEmulated, RaggedKernelRoundTheClasses) {
  // Mostly at the limit of a class, a tenth just beyond it: in every place of a warp's window.
  std::mt19937 random(17);
  for (const int limit : {8, 16, 32, 64, 96, 128, 192, 256}) {
    SCOPED_TRACE(limit);
    std::vector<int> lengths(160);
    for (int& n : lengths) n = random() % 10 == 0 ? limit + 1 : limit - int(random() % 3);
    check_ragged(make_batch(lengths, Words::packed, 5), 32, false, 3);
  }
}

enum class Variant { all_pairs, divide, element };

/// Runs a rank sort of arrays up to N on packed words, or on the bits of floats.
template <int N, class Keys>
std::vector<std::uint32_t> sort_by_rank(Variant variant, const Batch& batch) {
  const Extent extents{batch.offsets.data(), 0};
  std::vector<std::uint32_t> out(batch.words.size() + 1, untouched);
  const auto launch = [&](int arrays, int threads, auto kernel) {
    emulation::launch((batch.count() + arrays - 1) / arrays, threads, kernel, batch.words.data(),
                      out.data(), extents, batch.count());
  };
  using Pairs = PairsShape<N>;
  using Element = ElementShape<N>;
  if (variant == Variant::all_pairs)
    launch(Pairs::arrays, Pairs::threads, rank_all_pairs_kernel<N, Keys>);
  if (variant == Variant::divide)
    launch(Element::arrays, Element::threads, rank_divide_kernel<N, Keys>);
  if (variant == Variant::element)
    launch(Element::arrays, Element::threads, rank_element_kernel<N, Keys>);
  EXPECT_EQ(out.back(), untouched);
  out.pop_back();
  return out;
}

/// Floats of few different values, zeros of both signs, infinities and NaN.
Batch make_floats(const std::vector<int>& lengths, unsigned seed) {
  std::mt19937 random(seed);
  const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-42f, -3.5f, 3.5f};
  Batch batch = make_batch(lengths, Words::free, seed);
  for (auto& word : batch.words) {
    const float value = random() % 3 == 0   ? special[random() % 8]
                        : random() % 2 == 0 ? float(int(random() % 7) - 3)
                                            : std::bit_cast<float>(std::uint32_t(random()));
    word = std::bit_cast<std::uint32_t>(value);
  }
  return batch;
}

std::vector<std::uint32_t> sorted_floats(const Batch& batch) {
  std::vector<std::uint32_t> words = batch.words;
  const auto before = [](std::uint32_t a, std::uint32_t b) {
    return std::strong_order(std::bit_cast<float>(a), std::bit_cast<float>(b)) < 0;
  };
  for (std::size_t i = 0; i + 1 < batch.offsets.size(); ++i)
    std::sort(words.begin() + batch.offsets[i], words.begin() + batch.offsets[i + 1], before);
  return words;
}

/// All lengths from `from` to N, and some shorter ones; where there are none, N - 1 alone.
template <int N>
void check_ranks(int from, std::vector<Variant> variants) {
  SCOPED_TRACE(N);
  std::vector<int> lengths{N - 1};
  if (from <= N) lengths = {N, 0, 1, N / 2};
  for (int length = from; length <= N; ++length) lengths.push_back(length);
  const Batch batch = make_batch(lengths, Words::packed, N);
  const Batch floats = make_floats(lengths, N);
  for (const Variant variant : variants) {
    SCOPED_TRACE(int(variant));
    EXPECT_EQ((sort_by_rank<N, WordKeys>(variant, batch)), sorted(batch));
    EXPECT_EQ((sort_by_rank<N, FloatKeys>(variant, floats)), sorted_floats(floats));
  }
}

TEST(ShortSortEmulated, RankKernelsEveryLength) {
  // Long arrays of all pairs are too many for an emulator: see below.
  const std::vector<Variant> all{Variant::all_pairs, Variant::divide, Variant::element};
  check_ranks<8>(0, all);
  check_ranks<16>(9, all);
  check_ranks<32>(17, all);
  check_ranks<64>(33, all);
  check_ranks<96>(65, {Variant::divide, Variant::element});
  check_ranks<128>(97, {Variant::divide, Variant::element});
  check_ranks<192>(129, {Variant::divide, Variant::element});
  check_ranks<256>(193, {Variant::divide, Variant::element});
  check_ranks<384>(257, {Variant::divide, Variant::element});
  check_ranks<512>(385, {Variant::divide, Variant::element});
  check_ranks<768>(513, {Variant::divide, Variant::element});
  check_ranks<1024>(769, {Variant::divide, Variant::element});
}

TEST(ShortSortEmulated, RankKernelsAllPairsOfLongArrays) {
  const std::vector<Variant> all_pairs{Variant::all_pairs};
  check_ranks<96>(95, all_pairs);
  check_ranks<192>(192, all_pairs);
  check_ranks<256>(257, all_pairs);
  check_ranks<768>(769, all_pairs);
  check_ranks<1024>(1025, all_pairs);
}

}  // namespace
}  // namespace perrin::short_sort_detail
