// The short sort with SIMD registers of PERRIN_SORT_WIDTH keys in place of a warp: the network of
// short_sort_network.h, several short arrays side by side in a register. Included once for each
// instruction set by short_sort_cpu.cpp, between target pragmas, hence no include guard.

#include "neighbor/sort/short_sort_network.h"

namespace perrin::short_sort_detail::PERRIN_SORT_ISA {

constexpr int width = PERRIN_SORT_WIDTH;

// Where a lane of a shuffled register comes from: a lane of the first, or, from `width` on, of the
// second register.
template <int xor_mask>
constexpr int swapped(int lane) {
  return lane ^ xor_mask;
}
template <int bit>
constexpr int kept(int lane) {
  return (lane & bit) / bit * width + lane;
}
template <int from>  // of four: from, from of the second, from + 1, from + 1 of the second
constexpr int alternating(int lane) {
  return (lane & ~3) + from + (lane & 3) / 2 + (lane & 1) * width;
}
template <int from>  // of four: from, from + 1, both of the second
constexpr int joined(int lane) {
  return (lane & ~3) + from + (lane & 1) + (lane & 3) / 2 * width;
}

struct VectorOps {
  typedef std::uint32_t Row __attribute__((vector_size(4 * width)));

  template <int (*place)(int), int... lane>
  static inline __attribute__((always_inline)) Row shuffle(const Row& a, const Row& b,
                                                           std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(a, b, place(lane)...);
  }
  template <int (*place)(int)>
  static inline __attribute__((always_inline)) Row shuffle(const Row& a, const Row& b) {
    return shuffle<place>(a, b, std::make_integer_sequence<int, width>());
  }

  static inline __attribute__((always_inline)) void order(Row& low, Row& high) {
    const Row a = low, b = high;
    low = a < b ? a : b;
    high = a < b ? b : a;
  }
  template <int xor_mask>
  static inline __attribute__((always_inline)) void swap_lanes(const Row& from, Row& to) {
    to = shuffle<swapped<xor_mask>>(from, from);
  }
  template <int bit>
  static inline __attribute__((always_inline)) void keep(Row& mine, const Row& other) {
    const Row a = mine, b = other;
    const Row low = a < b ? a : b, high = a < b ? b : a;
    mine = shuffle<kept<bit>>(low, high);
  }

  /// Transposes the 4 × 4 keys of each group of four lanes in four rows.
  static inline __attribute__((always_inline)) void transpose(Row& a, Row& b, Row& c, Row& d) {
    const Row ab01 = shuffle<alternating<0>>(a, b), ab23 = shuffle<alternating<2>>(a, b);
    const Row cd01 = shuffle<alternating<0>>(c, d), cd23 = shuffle<alternating<2>>(c, d);
    a = shuffle<joined<0>>(ab01, cd01);
    b = shuffle<joined<2>>(ab01, cd01);
    c = shuffle<joined<0>>(ab23, cd23);
    d = shuffle<joined<2>>(ab23, cd23);
  }
};

/// Sorts `take` ≤ width / L consecutive arrays of at most L·E keys.
template <int L, int E>
void sort_batch(const CpuArrays& arrays, std::int64_t first, int take) {
  static_assert(E % 4 == 0 && L <= width);
  using Row = VectorOps::Row;
  alignas(64) std::uint32_t tile[E * width];
  for (int g = 0; g < width / L; ++g) {
    const std::int64_t begin = g < take ? arrays.begin(first + g) : 0;
    const int n = g < take ? int(arrays.begin(first + g + 1) - begin) : 0;
    const std::uint32_t* from = arrays.in + begin;
    std::uint32_t* to = tile + g * L;
    int row = 0;
    for (; row < n / L; ++row) std::memcpy(to + row * width, from + row * L, 4 * L);
    for (; row < E; ++row)
      for (int j = 0; j < L; ++j)
        to[row * width + j] = row * L + j < n ? from[row * L + j] : 0xffffffffu;
  }
  VectorOps ops;
  Row rows[E];
  std::memcpy(rows, tile, sizeof rows);
  sort_lanes<L>(ops, rows);
  for (int i = 0; i < E; i += 4) ops.transpose(rows[i], rows[i + 1], rows[i + 2], rows[i + 3]);
  std::memcpy(tile, rows, sizeof rows);
  // Four keys in a row of a lane now lie side by side, in the lane's group of four.
  for (int g = 0; g < take; ++g) {
    const std::int64_t begin = arrays.begin(first + g);
    const int n = int(arrays.begin(first + g + 1) - begin);
    std::uint32_t* to = arrays.out + begin;
    for (int p = 0; p < n; p += 4) {
      const int lane = g * L + p / E, row = p % E + lane % 4;
      const std::uint32_t* piece = tile + row * width + lane / 4 * 4;
      if (p + 4 <= n)
        std::memcpy(to + p, piece, 16);
      else
        for (int j = 0; p + j < n; ++j) to[p + j] = piece[j];
    }
  }
}

/// Any length.
inline void sort_any(const CpuArrays& arrays, std::int64_t i) {
  const std::int64_t begin = arrays.begin(i), end = arrays.begin(i + 1);
  if (arrays.in != arrays.out) std::copy(arrays.in + begin, arrays.in + end, arrays.out + begin);
  std::sort(arrays.out + begin, arrays.out + end);
}

struct Class {
  int length, arrays;
  void (*sort)(const CpuArrays&, std::int64_t, int);
};

template <int L, int E>
constexpr Class make_class() {
  return {L * E, width / L, sort_batch<L, E>};
}

#if PERRIN_SORT_WIDTH == 16
constexpr Class classes[] = {make_class<1, 8>(),  make_class<2, 8>(),  make_class<4, 8>(),
                             make_class<4, 16>(), make_class<4, 24>(), make_class<8, 16>(),
                             make_class<8, 24>(), make_class<16, 16>()};
#else
constexpr Class classes[] = {make_class<1, 8>(),  make_class<2, 8>(),  make_class<4, 8>(),
                             make_class<8, 8>(),  make_class<8, 12>(), make_class<8, 16>(),
                             make_class<8, 24>(), make_class<8, 32>()};
#endif

void sort_arrays(const CpuArrays& arrays, std::int64_t first, std::int64_t end) {
  const auto* last = std::end(classes) - 1;
  for (std::int64_t i = first; i < end;) {
    // The class of the longest of the next four arrays; then as many as its register holds.
    std::int64_t longest = 0;
    for (std::int64_t j = i; j < std::min(i + 4, end); ++j)
      longest = std::max(longest, arrays.begin(j + 1) - arrays.begin(j));
    const Class* shape = classes;
    while (shape < last && shape->length < longest) ++shape;
    int take = 0;
    while (take < shape->arrays && i + take < end &&
           arrays.begin(i + take + 1) - arrays.begin(i + take) <= shape->length)
      ++take;
    if (take == 0) {
      sort_any(arrays, i);
      take = 1;
    } else {
      shape->sort(arrays, i, take);
    }
    i += take;
  }
}

}  // namespace perrin::short_sort_detail::PERRIN_SORT_ISA
