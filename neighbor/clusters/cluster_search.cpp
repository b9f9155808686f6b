#include "neighbor/clusters/cluster_search.h"

#include <algorithm>
#include <limits>

#include "engine/device/parallel.h"
#include "neighbor/inline.h"

namespace perrin {
namespace {

constexpr int width = cluster_size;

/// Finds the clusters that members of a cluster reach.
struct Candidates {
  ClusterSearch search;
  ClusterBoxes c = search.clusters;

  /// One column in one periodic image, seen from another.
  struct Image {
    std::uint32_t next, end;   // clusters; those before `next` are too low by now
    std::int64_t w;            // the image's shift along the columns, fixed-point
    Vec3<std::int64_t> fixed;  // the whole shift
    Real3 shift;               // the same as a length
  };

  PERRIN_INLINE Real3 length(Vec3<std::int64_t> d) const {
    return length_of(c.metric, double(d.x), double(d.y), double(d.z));
  }

  PERRIN_INLINE static Real gap2(Real low_i, Real high_i, Real low_j, Real high_j) {
    const Real below = low_i - high_j, above = low_j - high_i;
    const Real gap = below > above ? below : above;
    return gap > Real(0) ? gap * gap : Real(0);
  }

  PERRIN_INLINE static Real distance2(Real x, Real y, Real z, Real u, Real v, Real w) {
    return (x - u) * (x - u) + (y - v) * (y - v) + (z - w) * (z - w);
  }

  /// Lanes of cluster i that have a member of cluster j within reach.
  PERRIN_INLINE std::uint32_t reaching(std::int64_t i, std::int64_t j, Real3 d) const {
    const Real* a = c.coordinates + i * (3 * width);
    const Real* q = c.coordinates + j * (3 * width);
    alignas(64) Real best[width], x[width], y[width], z[width];
#pragma omp simd simdlen(width)
    for (int k = 0; k < width; ++k) {
      best[k] = std::numeric_limits<Real>::max();
      x[k] = a[k] - d.x, y[k] = a[width + k] - d.y, z[k] = a[2 * width + k] - d.z;
    }
    for (int m = 0; m < width; m += 4, q += 4) {
#pragma omp simd simdlen(width)
      for (int k = 0; k < width; ++k) {
        const Real r0 = distance2(x[k], y[k], z[k], q[0], q[width], q[2 * width]);
        const Real r1 = distance2(x[k], y[k], z[k], q[1], q[width + 1], q[2 * width + 1]);
        const Real r2 = distance2(x[k], y[k], z[k], q[2], q[width + 2], q[2 * width + 2]);
        const Real r3 = distance2(x[k], y[k], z[k], q[3], q[width + 3], q[2 * width + 3]);
        const Real s = r0 < r1 ? r0 : r1, t = r2 < r3 ? r2 : r3, least = s < t ? s : t;
        best[k] = least < best[k] ? least : best[k];
      }
    }
    std::uint32_t bits = 0;
#pragma omp simd reduction(| : bits)
    for (int k = 0; k < width; ++k) bits |= best[k] < search.reach2 ? 1u << k : 0u;
    return bits;
  }

  /// The columns that cluster pairs of one column reach: half of those around it, in all images.
  PERRIN_INLINE void surroundings(std::uint32_t column, std::vector<Image>& images) const {
    images.clear();
    const std::int32_t nu = c.grid.cells[0], nv = c.grid.cells[1];
    const auto cu = std::int32_t(column) / nv, cv = std::int32_t(column) % nv;
    for (std::int32_t du = 0; du <= c.grid.reach[0]; ++du)
      for (std::int32_t dv = du == 0 ? 0 : -c.grid.reach[1]; dv <= c.grid.reach[1]; ++dv) {
        const auto floor_of = [](std::int32_t a, std::int32_t n) {
          return a >= 0 ? a / n : -((n - 1 - a) / n);
        };
        const std::int32_t mu = floor_of(cu + du, nu), mv = floor_of(cv + dv, nv);
        const std::int32_t other = (cu + du - mu * nu) * nv + (cv + dv - mv * nv);
        const std::uint32_t begin = c.column_first[other], end = c.column_first[other + 1];
        if (begin == end) continue;
        const bool same = du == 0 && dv == 0;
        for (std::int32_t mw = same ? 0 : -1; mw <= 1; ++mw) {
          const std::int64_t turn = std::int64_t(1) << 32;
          Vec3<std::int64_t> fixed{};
          fixed[c.grid.axis[0]] = mu * turn;
          fixed[c.grid.axis[1]] += mv * turn;
          fixed[c.grid.axis[2]] += mw * turn;
          images.push_back({begin, end, mw * turn, fixed, length(fixed)});
        }
      }
  }

  /// Clusters of a column that have members near those of cluster i.
  PERRIN_INLINE void candidates(std::uint32_t i, Image& image, bool same,
                                ClusterTaskList& list) const {
    const std::int64_t slack = c.grid.slack;
    const std::int64_t from = std::int64_t(c.low[i]) - search.reach_w - image.w - slack;
    const std::int64_t to = std::int64_t(c.high[i]) + search.reach_w - image.w + slack;
    if (to < 0 || from >> 32 > 0) return;  // most images along the column
    while (image.next < image.end && std::int64_t(c.high[image.next]) < from) ++image.next;
    std::uint32_t begin = image.next, end = begin;
    if (same && begin <= i) begin = end = i + 1;
    while (end < image.end && std::int64_t(c.low[end]) <= to) ++end;
    const bool mine = search.own(i);
    const std::int64_t n = c.clusters;
    const Real x0 = c.boxes[i] - image.shift.x, x1 = c.boxes[3 * n + i] - image.shift.x;
    const Real y0 = c.boxes[n + i] - image.shift.y, y1 = c.boxes[4 * n + i] - image.shift.y;
    const Real z0 = c.boxes[2 * n + i] - image.shift.z, z1 = c.boxes[5 * n + i] - image.shift.z;
    for (std::uint32_t start = begin; start < end; start += width) {
      const Real* box = c.boxes + start;
      std::uint32_t bits = 0;
#pragma omp simd reduction(| : bits) simdlen(width)
      for (int k = 0; k < width; ++k) {
        const Real r2 = gap2(x0, x1, box[k], box[3 * n + k]) +
                        gap2(y0, y1, box[n + k], box[4 * n + k]) +
                        gap2(z0, z1, box[2 * n + k], box[5 * n + k]);
        bits |= r2 < search.box_reach2 ? 1u << k : 0u;
      }
      if (end - start < std::uint32_t(width)) bits &= (1u << (end - start)) - 1;
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t j = start + std::uint32_t(__builtin_ctz(bits));
        if ((!mine && !search.own(j)) || !search.interact(i, j)) continue;
        const Position &a = c.origin[i], &b = c.origin[j];
        const Real3 d = length({image.fixed.x + std::int64_t(b.x) - std::int64_t(a.x),
                                image.fixed.y + std::int64_t(b.y) - std::int64_t(a.y),
                                image.fixed.z + std::int64_t(b.z) - std::int64_t(a.z)});
        const std::uint32_t near = reaching(i, j, d);
        if (near == 0) continue;
        list.candidates.push_back({j, d.x, d.y, d.z});
        list.near.push_back(std::uint16_t(near));
      }
    }
  }
};

/// Makes rows of the candidates of a cluster.
struct RowWriter {
  ClusterSearch s;

  /// Pairs of the particle with memory index i and the members of a cluster that are excluded.
  PERRIN_INLINE std::uint32_t excluded_in(std::uint32_t i, std::uint32_t cluster) const {
    std::uint32_t bits = 0;
    const std::uint32_t me = s.id[i];
    for (std::uint32_t k = s.exclusions.begin[me]; k < s.exclusions.begin[me + 1]; ++k) {
      // Where j was long ago if it is not known here.
      const std::uint32_t j = s.exclusions.excluded[k], place = s.index[j];
      const std::uint32_t first = s.clusters.first[cluster];
      if (place >= first && place < s.clusters.end[cluster] && s.id[place] == j)
        bits |= 1u << (place - first);
    }
    return bits;
  }
  /// Of pairs of the row's two particles, lane and lane + 1, within their own cluster i: each meets
  /// those that come after it.
  PERRIN_INLINE std::uint32_t own_mask(std::uint32_t i, std::uint32_t lane,
                                       std::uint32_t count) const {
    std::uint32_t mask = 0;
    if (!s.own(i) || !s.interact(i, i)) return mask;
    for (std::uint32_t k = lane; k < lane + 2 && k < count; ++k) {
      std::uint32_t after = (0xffffu << (k + 1)) & ((1u << count) - 1);
      if (s.exclusions) after &= ~excluded_in(s.clusters.first[i] + k, i);
      mask |= after << (k == lane ? 0 : width);
    }
    return mask;
  }

  /// Numbers the candidates, and finds excluded pairs.
  PERRIN_INLINE void prepare(std::uint32_t i, std::uint32_t count, ClusterTaskList& list) const {
    const std::size_t found = list.candidates.size();
    list.excluded.assign(s.exclusions ? found * count : 0, 0);
    for (std::size_t k = 0; k < found; ++k) {
      std::uint32_t& j = list.candidates[k].cluster;
      for (std::uint32_t lane = 0; s.exclusions && lane < count; ++lane)
        list.excluded[lane * found + k] = std::uint16_t(excluded_in(s.clusters.first[i] + lane, j));
      j = list.number_of(j);
    }
  }

  /// The row of the particles lane and lane + 1 of a cluster. First what has a mask: the cluster
  /// itself, and where pairs are excluded.
  PERRIN_INLINE ClusterRow write(std::uint32_t own_number, std::uint32_t own_mask,
                                 std::uint32_t lane, std::uint32_t count,
                                 ClusterTaskList& list) const {
    const std::size_t found = list.candidates.size();
    if (list.entries.size() < std::int64_t(list.used + found) + 1)
      list.entries.resize(std::int64_t(list.used + found) * 3 / 2 + 1024);
    std::size_t n = list.used;
    ClusterRow row{std::uint32_t(n), 0, 0, std::uint32_t(list.masks.size())};
    ClusterEntry* entries = list.entries.data();
    if (own_mask != 0) {
      entries[n++] = {own_number, 0, 0, 0};
      list.masks.push_back(own_mask);
    }
    const ClusterEntry* candidate = list.candidates.data();
    const std::uint16_t* near = list.near.data();
    const auto excluded_pairs = [&](std::size_t k) {
      const std::uint32_t a = list.excluded[lane * found + k];
      const std::uint32_t b = lane + 1 < count ? list.excluded[(lane + 1) * found + k] : 0u;
      return a | b << width;
    };
    if (s.exclusions)
      for (std::size_t k = 0; k < found; ++k) {
        const std::uint32_t out = (near[k] >> lane & 3) == 0 ? 0u : excluded_pairs(k);
        if (out == 0) continue;
        entries[n++] = candidate[k];
        list.masks.push_back(~out);
      }
    row.plain = std::uint32_t(n);
    for (std::size_t k = 0; k < found; ++k) {
      entries[n] = candidate[k];
      const bool masked = s.exclusions && excluded_pairs(k) != 0;
      n += !masked && (near[k] >> lane & 3) != 0 ? 1 : 0;
    }
    row.end = std::uint32_t(n);
    list.used = n;
    return row;
  }

  PERRIN_INLINE void operator()(std::uint32_t i, const ClusterTask& task,
                                ClusterTaskList& list) const {
    const std::uint32_t count = s.clusters.end[i] - s.clusters.first[i];
    prepare(i, count, list);
    for (std::uint32_t lane = 0; lane < count; lane += 2)
      s.rows[std::int64_t(i) * (width / 2) + lane / 2] =
          write(i - task.begin, own_mask(i, lane, count), lane, count, list);
  }
};

struct SearchTask {
  ClusterSearch search;
  ClusterTask* task;
  ClusterTaskList* list;

  PERRIN_INLINE void operator()(std::int64_t) const {
    const Candidates find{search};
    const RowWriter write{search};
    const std::uint32_t* column_first = search.clusters.column_first;
    std::vector<Candidates::Image> images;
    std::uint32_t column = 0;
    while (column_first[column + 1] <= task->begin) ++column;
    for (std::uint32_t i = task->begin; i < task->end;) {
      while (column_first[column + 1] <= i) ++column;
      find.surroundings(column, images);
      const std::uint32_t stop = std::min(task->end, column_first[column + 1]);
      for (; i < stop; ++i) {
        list->candidates.clear();
        list->near.clear();
        for (std::size_t k = 0; k < images.size() && search.meets_any(i); ++k)
          find.candidates(i, images[k], k == 0, *list);  // the first is the column itself
        write(i, *task, *list);
      }
    }
  }
};

}  // namespace

void ClusterTaskList::clear(std::int64_t all) {
  used = 0;
  fixed.clear();
  masks.clear();
  if (number.size() == std::size_t(all))
    for (const std::uint32_t c : clusters) number[c] = none;
  else
    number.assign(std::size_t(all), none);
  clusters.clear();
}

void ClusterTaskList::begin(const ClusterTask& task, std::int64_t all) {
  clear(all);
  for (std::uint32_t c = task.begin; c < task.end; ++c) number_of(c);
}

void search_clusters(const ClusterSearch& search, ClusterTask& task, ClusterTaskList& list) {
  list.begin(task, search.clusters.clusters);
  run_range(SearchTask{search, &task, &list}, 0, 1);
  task.entries = list.entries.data();
  task.masks = list.masks.data();
  task.span = std::uint32_t(list.clusters.size());
  task.clusters = list.clusters.data();
}

}  // namespace perrin
