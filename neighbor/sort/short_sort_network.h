// The comparator network behind every short sort, for GPU warps and for SIMD registers alike.
//
// L lanes hold one array, E keys ("rows") each. Every lane first sorts its own E keys by Batcher's
// merge exchange (Knuth, The Art of Computer Programming 3, Algorithm 5.2.2M: any E); runs of 1, 2,
// 4, … lanes are then merged by Batcher's bitonic merge: one exchange with the mirrored lane and
// row, log2 exchanges between lanes, and the rest inside the lanes. After sort_lanes the key of
// rank r is in lane r / E, row r % E. Before it any key may be in any lane and row: the first loads
// are free to be coalesced.
//
// How the lanes of a row compare and exchange is the parameter Ops:
//   Row                                    one key in each lane
//   void order(Row& low, Row& high)        low, high = min, max in every lane
//   template <int Mask> void swap_lanes(const Row& from, Row& to)
//                                          to = from of the lane whose number differs by xor Mask
//   template <int Bit> void keep(Row& mine, const Row& other)
//                                          min in the lanes whose number has Bit clear, else max
//
// Included once for each instruction set, with PERRIN_SORT_ISA naming the namespace: GCC compiles a
// template for the target that was in force where it was defined. Hence no include guard. The
// including file has included <cstddef> and <utility> before.
#ifndef PERRIN_SORT_ISA
#error "define PERRIN_SORT_ISA, the namespace of the network, before including this file"
#endif
#ifdef __CUDACC__
#define PERRIN_SORT_FN __device__ __forceinline__
#define PERRIN_SORT_UNROLL _Pragma("unroll")
#else
#define PERRIN_SORT_FN inline __attribute__((always_inline))
#define PERRIN_SORT_UNROLL _Pragma("GCC unroll 32")
#endif

namespace perrin::short_sort_detail::PERRIN_SORT_ISA {

/// The comparators of merge exchange for n keys, in an order in which they may be carried out.
template <int n>
struct MergeExchange {
  struct List {
    int size = 0;
    int low[n * (n + 1) / 2 + 1]{}, high[n * (n + 1) / 2 + 1]{};
  };
  static constexpr List make() {
    List list;
    int top = 1;
    while (top * 2 < n) top *= 2;
    if (n < 2) return list;
    for (int p = top; p > 0; p /= 2) {
      int q = top, r = 0, d = p;
      for (;;) {
        for (int i = 0; i < n - d; ++i)
          if ((i & p) == r) {
            list.low[list.size] = i;
            list.high[list.size++] = i + d;
          }
        if (q == p) break;
        d = q - p;
        q /= 2;
        r = p;
      }
    }
    return list;
  }
  static constexpr List list = make();
};

template <int low, int high, class Ops, class Row, int E>
PERRIN_SORT_FN void order_rows(Ops& ops, Row (&rows)[E]) {
  ops.order(rows[low], rows[high]);
}

template <class Ops, class Row, int E, std::size_t... I>
PERRIN_SORT_FN void sort_rows(Ops& ops, Row (&rows)[E], std::index_sequence<I...>) {
  (order_rows<MergeExchange<E>::list.low[I], MergeExchange<E>::list.high[I]>(ops, rows), ...);
}

/// Sorts the bitonic rows [First, First + N) of every lane. Halving needs an even number; three
/// keys that remain (N = 3·2^k) are simply sorted.
template <int First, int N, class Ops, class Row, int E>
PERRIN_SORT_FN void merge_rows(Ops& ops, Row (&rows)[E]) {
  static_assert(N == 1 || N == 3 || N % 2 == 0);
  if constexpr (N == 3) {
    ops.order(rows[First], rows[First + 2]);
    ops.order(rows[First], rows[First + 1]);
    ops.order(rows[First + 1], rows[First + 2]);
  } else if constexpr (N > 1) {
    PERRIN_SORT_UNROLL
    for (int i = First; i < First + N / 2; ++i) ops.order(rows[i], rows[i + N / 2]);
    merge_rows<First, N / 2>(ops, rows);
    merge_rows<First + N / 2, N / 2>(ops, rows);
  }
}

/// Rows of lanes at distance Distance, then half of it, … : the bitonic merge down to single lanes.
template <int Distance, class Ops, class Row, int E>
PERRIN_SORT_FN void merge_across(Ops& ops, Row (&rows)[E]) {
  if constexpr (Distance > 0) {
    PERRIN_SORT_UNROLL
    for (int i = 0; i < E; ++i) {
      Row other;
      ops.template swap_lanes<Distance>(rows[i], other);
      ops.template keep<Distance>(rows[i], other);
    }
    merge_across<Distance / 2>(ops, rows);
  }
}

/// Merges sorted runs of Run lanes, pair by pair, until a run has L lanes.
template <int Run, int L, class Ops, class Row, int E>
PERRIN_SORT_FN void merge_runs(Ops& ops, Row (&rows)[E]) {
  if constexpr (Run < L) {
    // The mirrored row of the mirrored lane: two rows change places at a time.
    PERRIN_SORT_UNROLL
    for (int i = 0; i < (E + 1) / 2; ++i) {
      Row mirrored, other;
      ops.template swap_lanes<2 * Run - 1>(rows[E - 1 - i], mirrored);
      ops.template swap_lanes<2 * Run - 1>(rows[i], other);
      ops.template keep<Run>(rows[i], mirrored);
      if (i != E - 1 - i) ops.template keep<Run>(rows[E - 1 - i], other);
    }
    merge_across<Run / 2>(ops, rows);
    merge_rows<0, E>(ops, rows);
    merge_runs<2 * Run, L>(ops, rows);
  }
}

template <int L, class Ops, class Row, int E>
PERRIN_SORT_FN void sort_lanes(Ops& ops, Row (&rows)[E]) {
  sort_rows(ops, rows, std::make_index_sequence<std::size_t(MergeExchange<E>::list.size)>());
  merge_runs<1, L>(ops, rows);
}

}  // namespace perrin::short_sort_detail::PERRIN_SORT_ISA
#undef PERRIN_SORT_FN
#undef PERRIN_SORT_UNROLL
