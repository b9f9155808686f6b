// Cluster lists: the neighbour list of the CPU, made for vectors and for Newton's third law.
//
// Particles are sorted into columns, along each column by the short sort, and cut into clusters of
// sixteen. The memory of the particles takes that order, so that a cluster is contiguous and what
// is known of its members is a handful of whole vectors. A row of the list belongs to two
// particles and names clusters: one entry is two vectors of sixteen pairs. Every pair is listed
// once; the forces on the particles of a row stay in registers, those on the clusters are added, a vector at
// a time, to blocks that belong to the task which works on the row (cluster_loop.h). An entry is
// listed only where one of its pairs was within reach when the list was built.
//
// Clusters as units of pair lists: S. Páll, B. Hess, Comput. Phys. Commun. 184, 2641 (2013).
#pragma once

#include <emmintrin.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/core/particles.h"
#include "neighbor/columns/column_sort.h"

namespace perrin {

constexpr int cluster_size = 16;

/// The particles of the row meet a cluster, by its number among those of the task. (x, y, z) is the vector from the origin of the row's own
/// cluster to that of the other one, in the periodic image that is meant.
struct alignas(16) ClusterEntry {
  std::uint32_t cluster;
  Real x, y, z;
};

/// Entries begin … end - 1 of the task. Of those below `plain` only the pairs marked in masks[mask
/// + k - begin] count (the first particle's in the lower half); of the others all.
struct ClusterRow {
  std::uint32_t begin, plain, end, mask;
};

/// A part of the rows, worked on by one thread; the division depends on the system alone.
struct ClusterTask {
  std::uint32_t begin, end;       // its rows are those of the particles of these clusters
  std::uint32_t span;             // clusters that it adds to …
  std::uint32_t block;            // … in blocks of results from here on
  const std::uint32_t* clusters;  // which they are: first its own, in order
  const ClusterEntry* entries;
  const std::uint32_t* masks;
};

struct ClusterView {
  std::uint32_t clusters;
  std::int64_t tasks, blocks, longest_span;
  const std::uint32_t* first;  // cluster c holds the particles first[c] … first[c+1]-1 in memory
  const std::uint32_t* type;   // [cluster][lane]
  const ClusterRow* row;       // [cluster][pair of lanes]
  const ClusterTask* task;
  const std::uint32_t* source_begin;  // blocks that hold sums of cluster c, in order of tasks:
  const std::uint32_t* source;        // source[source_begin[c] … source_begin[c+1]-1]
};

namespace detail {

/// Writes the present coordinates of a cluster's members, seen from its origin: x, y, z of all
/// lanes. Lanes without a particle are put where nothing reaches them.
struct LoadCluster {
  const Position* position;
  const Position* origin;
  const std::uint32_t* first;
  Metric metric;
  Real far;

  // By reference: vectors of four doubles have no calling convention on every x86-64.
  static inline __attribute__((always_inline)) void convert(__m128i v, FourReals& to) {
    to = __builtin_convertvector(reinterpret_cast<FourInts>(v), FourReals);
  }
  inline __attribute__((always_inline)) void operator()(std::int64_t cluster, Real* to) const {
    constexpr int width = cluster_size;
    const std::uint32_t count = first[cluster + 1] - first[cluster];
    const Position* p = position + first[cluster];
    const Position o = origin[cluster];
    // Four whole words at a time, transposed: GCC would take them one number at a time. Beyond the
    // last member other particles or spare memory are read, and then overwritten.
    const __m128i shift = _mm_load_si128(reinterpret_cast<const __m128i*>(&o));
    for (int k = 0; k < width; k += 4) {
      const auto load = [&](int n) __attribute__((always_inline)) {
        return _mm_sub_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(p + k + n)), shift);
      };
      const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
      const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
      const __m128i ab2 = _mm_unpackhi_epi32(a, b), cd2 = _mm_unpackhi_epi32(c, d);
      FourReals x, y, z;
      convert(_mm_unpacklo_epi64(ab, cd), x);
      convert(_mm_unpackhi_epi64(ab, cd), y);
      convert(_mm_unpacklo_epi64(ab2, cd2), z);
      *reinterpret_cast<FourReals*>(to + k) = metric.xx * x + metric.xy * y + metric.xz * z;
      *reinterpret_cast<FourReals*>(to + width + k) = metric.yy * y + metric.yz * z;
      *reinterpret_cast<FourReals*>(to + 2 * width + k) = metric.zz * z;
    }
    for (std::uint32_t k = count; k < std::uint32_t(width); ++k)
      to[k] = to[width + k] = to[2 * width + k] = far;
  }
};

}  // namespace detail

class ClusterList {
 public:
  ClusterList();
  ~ClusterList();

  /// Sorts the particles in memory and lists all pairs closer than `reach`, which must not exceed
  /// half of the box. Exclusions by id as in Neighbors; nullptr: none. The order and the list depend
  /// on positions and ids alone.
  void build(Particles& particles, double reach, const std::uint32_t* exclusion_begin,
             const std::uint32_t* excluded);

  ClusterView view() const;
  detail::LoadCluster loader(const Particles& particles) const;
  /// Scratch memory of at least this many numbers.
  Real* workspace(std::int64_t numbers) const;
  /// Mean number of pairs that are looked at per particle (each pair counts once).
  double mean_tests() const;
  std::int64_t bytes() const;  // of memory

 private:
  struct Columns;
  struct TaskList;
  struct Search;
  void cut(const Particles& particles, double reach);
  void make_boxes(const Particles& particles);
  void make_tasks();
  void collect_sources();

  std::unique_ptr<Columns> columns_;
  ColumnSort sort_;
  std::vector<std::uint32_t> first_, column_first_;
  std::vector<Position> origin_;
  std::vector<std::uint32_t> low_, high_;  // along the columns, by cluster
  std::vector<Real> boxes_;                // [lower x, y, z, upper x, y, z][cluster]
  Buffer<std::uint32_t> type_;
  Buffer<Real> coordinates_;
  std::vector<ClusterRow> rows_;
  std::vector<std::unique_ptr<TaskList>> lists_;
  std::vector<ClusterTask> tasks_;
  std::vector<std::uint32_t> source_begin_, source_;
  std::vector<std::uint32_t> cluster_of_;  // by memory index, where there are exclusions
  Real box_slack_ = 0, far_ = 0;
  mutable Buffer<Real> workspace_;
};

}  // namespace perrin
