#include "neighbor/clusters/clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/core/parallel.h"
#include "neighbor/clusters/clusters_columns.h"

#define PERRIN_INLINE inline __attribute__((always_inline))

namespace perrin {
namespace {

constexpr int width = cluster_size;

template <class F>
void share_out(const Device& device, std::int64_t n, std::int64_t grain, const F& f) {
  for_pieces(device, n, grain,
             [&](std::int64_t begin, std::int64_t end) { detail::run_range(f, begin, end); });
}

PERRIN_INLINE std::uint32_t along(const Position& p, int axis) {
  return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}
/// The end of the cluster that begins with particle `begin`: sixteen particles unless the column
/// ends or they are too far apart.
struct ClusterCut {
  const Position* position;
  const std::uint32_t* order;
  std::uint32_t limit[3];
  PERRIN_INLINE std::uint32_t end(std::uint32_t begin, std::uint32_t column_end) const {
    const std::uint32_t stop = std::min(begin + std::uint32_t(width), column_end);
    Position low = position[order[begin]], high = low;
    for (std::uint32_t k = begin + 1; k < stop; ++k) {
      const Position& p = position[order[k]];
      low.x = std::min(low.x, p.x), high.x = std::max(high.x, p.x);
      low.y = std::min(low.y, p.y), high.y = std::max(high.y, p.y);
      low.z = std::min(low.z, p.z), high.z = std::max(high.z, p.z);
      if (high.x - low.x > limit[0] || high.y - low.y > limit[1] || high.z - low.z > limit[2])
        return k;
    }
    return stop;
  }
};

struct CountClusters {
  ClusterCut cut;
  const std::int32_t* start;  // of bins
  std::int32_t bins;          // per column
  std::uint32_t* count;
  PERRIN_INLINE void operator()(std::int64_t column) const {
    const auto stop = std::uint32_t(start[(column + 1) * bins]);
    std::uint32_t n = 0;
    for (auto k = std::uint32_t(start[column * bins]); k < stop; ++n) k = cut.end(k, stop);
    count[column] = n;
  }
};

struct CutColumns {
  ClusterCut cut;
  const std::int32_t* start;
  std::int32_t bins;
  const std::uint32_t* column_first;
  std::uint32_t* first;
  PERRIN_INLINE void operator()(std::int64_t column) const {
    const auto stop = std::uint32_t(start[(column + 1) * bins]);
    std::uint32_t c = column_first[column];
    for (auto k = std::uint32_t(start[column * bins]); k < stop; ++c) {
      first[c] = k;
      k = cut.end(k, stop);
    }
  }
};

/// Orders the members of a cluster so that two that follow one another, and four, are close: halves
/// across one axis, quarters across the other, along the column within these.
struct OrderMembers {
  const Position* position;
  const std::uint32_t* first;
  ColumnGrid grid;
  std::uint32_t* order;

  PERRIN_INLINE void operator()(std::int64_t cluster) const {
    std::uint32_t* member = order + first[cluster];
    const std::uint32_t count = first[cluster + 1] - first[cluster];
    for (int pass = 0; pass < 3; ++pass) {
      // Lanes without a particle stay at the end. Four bits of the place keep the order stable.
      alignas(64) std::uint32_t key[width], place[width], from[width];
      for (std::uint32_t k = 0; k < std::uint32_t(width); ++k) {
        const std::uint32_t group = pass == 0 ? 0 : pass == 1 ? k >> 3 : k >> 2;
        from[k] = k < count ? member[k] : 0;
        key[k] = k < count
                     ? group << 29 |
                           (ColumnGrid::along(position[from[k]], grid.axis[pass]) >> 3 & ~15u) | k
                     : 0x80000000u | k;
        place[k] = 0;
      }
      for (int j = 0; j < width; ++j)
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) place[k] += key[j] < key[k] ? 1u : 0u;
      for (std::uint32_t k = 0; k < count; ++k) member[place[k]] = from[k];
    }
  }
};

struct LoadAll {
  detail::LoadCluster load;
  Real* coordinates;
  PERRIN_INLINE void operator()(std::int64_t c) const { load(c, coordinates + c * (3 * width)); }
};

struct MakeBoxes {
  const Position* position;
  const std::uint32_t* first;
  Metric metric;
  int axis;
  Position* origin;
  std::uint32_t *low_w, *high_w, *type;
  Real* boxes;
  std::int64_t n;
  PERRIN_INLINE void operator()(std::int64_t c) const {
    Position low = position[first[c]], high = low;
    for (std::uint32_t k = first[c]; k < first[c + 1]; ++k) {
      const Position& p = position[k];
      low.x = std::min(low.x, p.x), high.x = std::max(high.x, p.x);
      low.y = std::min(low.y, p.y), high.y = std::max(high.y, p.y);
      low.z = std::min(low.z, p.z), high.z = std::max(high.z, p.z);
      type[c * width + (k - first[c])] = p.type();
    }
    for (std::uint32_t k = first[c + 1] - first[c]; k < std::uint32_t(width); ++k)
      type[c * width + k] = 0;
    const Position o{low.x + (high.x - low.x) / 2, low.y + (high.y - low.y) / 2,
                     low.z + (high.z - low.z) / 2, 0};
    origin[c] = o;
    low_w[c] = along(low, axis), high_w[c] = along(high, axis);
    Real3 least{}, most{};
    for (std::uint32_t k = first[c]; k < first[c + 1]; ++k) {
      const Real3 d = metric.vector(position[k], o);
      least = {std::min(least.x, d.x), std::min(least.y, d.y), std::min(least.z, d.z)};
      most = {std::max(most.x, d.x), std::max(most.y, d.y), std::max(most.z, d.z)};
    }
    const Real x = Real(o.x), y = Real(o.y), z = Real(o.z);
    const Real3 centre{metric.xx * x + metric.xy * y + metric.xz * z, metric.yy * y + metric.yz * z,
                       metric.zz * z};
    const Real3 a = centre + least, b = centre + most;
    boxes[c] = a.x, boxes[n + c] = a.y, boxes[2 * n + c] = a.z;
    boxes[3 * n + c] = b.x, boxes[4 * n + c] = b.y, boxes[5 * n + c] = b.z;
  }
};

}  // namespace

struct ClusterList::Columns {
  ColumnGrid grid;
};

/// The entries of one task, growing as needed.
struct ClusterList::TaskList {
  static constexpr std::uint32_t none = 0xffffffffu;
  std::vector<std::uint32_t> clusters;  // that the task adds to
  std::vector<std::uint32_t> number;    // there, of every cluster; `none` of others
  Buffer<ClusterEntry> entries;         // from Device::allocate, which knows about large pages
  std::vector<std::uint32_t> masks;
  std::size_t used = 0;
  std::vector<ClusterEntry> candidates;  // of one cluster
  std::vector<std::uint16_t> near;       // lanes of the cluster that reach the candidate
  std::vector<std::uint16_t> excluded;   // [lane][candidate] excluded lanes of the candidate

  void begin(const ClusterTask& task, std::int64_t all) {
    used = 0;
    masks.clear();
    if (number.size() == std::size_t(all))
      for (const std::uint32_t c : clusters) number[c] = none;
    else
      number.assign(std::size_t(all), none);
    clusters.clear();
    for (std::uint32_t c = task.begin; c < task.end; ++c) number_of(c);
  }
  std::uint32_t number_of(std::uint32_t cluster) {
    std::uint32_t& n = number[cluster];
    if (n == none) n = std::uint32_t(clusters.size()), clusters.push_back(cluster);
    return n;
  }
};

/// Finds the entries of the rows of one task.
struct ClusterList::Search {
  ColumnGrid grid;
  Metric metric;
  Real reach2, box_reach2;
  std::int64_t reach_w;  // along the columns, in fixed-point units
  const std::uint32_t *first, *column_first, *low, *high;
  const Position* origin;
  const Real* boxes;
  const Real* coordinates;
  std::int64_t clusters;
  const std::uint32_t *id, *index, *cluster_of, *exclusion_begin, *excluded;  // or nullptr
  ClusterRow* rows;
  ClusterTask* tasks;
  std::unique_ptr<TaskList>* lists;

  /// One column in one periodic image, seen from another.
  struct Image {
    std::uint32_t next, end;   // clusters; those before `next` are too low by now
    std::int64_t w;            // the image's shift along the columns, fixed-point
    Vec3<std::int64_t> fixed;  // the whole shift
    Real3 shift;               // the same as a length
  };

  PERRIN_INLINE Real3 length(Vec3<std::int64_t> d) const {
    const double x = double(d.x), y = double(d.y), z = double(d.z);
    const Metric& m = metric;
    return {Real(double(m.xx) * x + double(m.xy) * y + double(m.xz) * z),
            Real(double(m.yy) * y + double(m.yz) * z), Real(double(m.zz) * z)};
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
    const Real* a = coordinates + i * (3 * width);
    const Real* q = coordinates + j * (3 * width);
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
    for (int k = 0; k < width; ++k) bits |= best[k] < reach2 ? 1u << k : 0u;
    return bits;
  }

  /// The columns that cluster pairs of one column reach: half of those around it, in all images.
  PERRIN_INLINE int surroundings(std::uint32_t column, std::vector<Image>& images) const {
    images.clear();
    const std::int32_t nu = grid.cells[0], nv = grid.cells[1];
    const auto cu = std::int32_t(column) / nv, cv = std::int32_t(column) % nv;
    for (std::int32_t du = 0; du <= grid.reach[0]; ++du)
      for (std::int32_t dv = du == 0 ? 0 : -grid.reach[1]; dv <= grid.reach[1]; ++dv) {
        const auto floor_of = [](std::int32_t a, std::int32_t n) {
          return a >= 0 ? a / n : -((n - 1 - a) / n);
        };
        const std::int32_t mu = floor_of(cu + du, nu), mv = floor_of(cv + dv, nv);
        const std::int32_t other = (cu + du - mu * nu) * nv + (cv + dv - mv * nv);
        const std::uint32_t begin = column_first[other], end = column_first[other + 1];
        if (begin == end) continue;
        const bool same = du == 0 && dv == 0;
        for (std::int32_t mw = same ? 0 : -1; mw <= 1; ++mw) {
          const std::int64_t turn = std::int64_t(1) << 32;
          Vec3<std::int64_t> fixed{};
          fixed[grid.axis[0]] = mu * turn;
          fixed[grid.axis[1]] += mv * turn;
          fixed[grid.axis[2]] += mw * turn;
          images.push_back({begin, end, mw * turn, fixed, length(fixed)});
        }
      }
    return int(images.size());
  }

  PERRIN_INLINE void candidates(std::uint32_t i, Image& image, bool same, TaskList& list) const {
    const std::int64_t slack = grid.slack;
    const std::int64_t from = std::int64_t(low[i]) - reach_w - image.w - slack;
    const std::int64_t to = std::int64_t(high[i]) + reach_w - image.w + slack;
    if (to < 0 || from >> 32 > 0) return;  // most images along the column
    while (image.next < image.end && std::int64_t(high[image.next]) < from) ++image.next;
    std::uint32_t begin = image.next, end = begin;
    if (same && begin <= i) begin = end = i + 1;
    while (end < image.end && std::int64_t(low[end]) <= to) ++end;
    const std::int64_t n = clusters;
    const Real x0 = boxes[i] - image.shift.x, x1 = boxes[3 * n + i] - image.shift.x;
    const Real y0 = boxes[n + i] - image.shift.y, y1 = boxes[4 * n + i] - image.shift.y;
    const Real z0 = boxes[2 * n + i] - image.shift.z, z1 = boxes[5 * n + i] - image.shift.z;
    for (std::uint32_t start = begin; start < end; start += width) {
      const Real* b = boxes + start;
      std::uint32_t bits = 0;
#pragma omp simd reduction(| : bits) simdlen(width)
      for (int k = 0; k < width; ++k) {
        const Real r2 = gap2(x0, x1, b[k], b[3 * n + k]) + gap2(y0, y1, b[n + k], b[4 * n + k]) +
                        gap2(z0, z1, b[2 * n + k], b[5 * n + k]);
        bits |= r2 < box_reach2 ? 1u << k : 0u;
      }
      if (end - start < std::uint32_t(width)) bits &= (1u << (end - start)) - 1;
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t j = start + std::uint32_t(__builtin_ctz(bits));
        const Position &a = origin[i], &c = origin[j];
        const Real3 d = length({image.fixed.x + std::int64_t(c.x) - std::int64_t(a.x),
                                image.fixed.y + std::int64_t(c.y) - std::int64_t(a.y),
                                image.fixed.z + std::int64_t(c.z) - std::int64_t(a.z)});
        const std::uint32_t near = reaching(i, j, d);
        if (near == 0) continue;
        list.candidates.push_back({j, d.x, d.y, d.z});
        list.near.push_back(std::uint16_t(near));
      }
    }
  }

  /// Pairs of the particle with memory index i and the members of a cluster that are excluded.
  PERRIN_INLINE std::uint32_t excluded_in(std::uint32_t i, std::uint32_t cluster) const {
    std::uint32_t bits = 0;
    const std::uint32_t me = id[i];
    for (std::uint32_t k = exclusion_begin[me]; k < exclusion_begin[me + 1]; ++k) {
      const std::uint32_t j = index[excluded[k]];
      if (cluster_of[j] == cluster) bits |= 1u << (j - first[cluster]);
    }
    return bits;
  }

  PERRIN_INLINE void write_rows(std::uint32_t i, const ClusterTask& task, TaskList& list) const {
    const std::uint32_t count = first[i + 1] - first[i];
    const std::size_t found = list.candidates.size();
    list.excluded.assign(exclusion_begin ? found * count : 0, 0);
    for (std::size_t k = 0; k < found; ++k) {
      std::uint32_t& j = list.candidates[k].cluster;
      for (std::uint32_t lane = 0; exclusion_begin && lane < count; ++lane)
        list.excluded[lane * found + k] = std::uint16_t(excluded_in(first[i] + lane, j));
      j = list.number_of(j);
    }
    for (std::uint32_t lane = 0; lane < count; lane += 2) {
      if (list.entries.size() < std::int64_t(list.used + found) + 1)
        list.entries.resize(std::int64_t(list.used + found) * 3 / 2 + 1024);
      std::size_t n = list.used;
      ClusterRow row{std::uint32_t(n), 0, 0, std::uint32_t(list.masks.size())};
      // Within its own cluster a particle meets those that come after it.
      std::uint32_t mask = 0;
      for (std::uint32_t k = lane; k < lane + 2 && k < count; ++k) {
        std::uint32_t after = (0xffffu << (k + 1)) & ((1u << count) - 1);
        if (exclusion_begin) after &= ~excluded_in(first[i] + k, i);
        mask |= after << (k == lane ? 0 : width);
      }
      if (mask != 0) {
        list.entries.data()[n++] = {i - task.begin, 0, 0, 0};
        list.masks.push_back(mask);
      }
      const ClusterEntry* candidate = list.candidates.data();
      const std::uint16_t* near = list.near.data();
      const auto excluded_pairs = [&](std::size_t k) {
        const std::uint32_t a = list.excluded[lane * found + k];
        const std::uint32_t b = lane + 1 < count ? list.excluded[(lane + 1) * found + k] : 0u;
        return a | b << width;
      };
      if (exclusion_begin)
        for (std::size_t k = 0; k < found; ++k) {
          const std::uint32_t out = (near[k] >> lane & 3) == 0 ? 0u : excluded_pairs(k);
          if (out == 0) continue;
          list.entries.data()[n++] = candidate[k];
          list.masks.push_back(~out);
        }
      row.plain = std::uint32_t(n);
      ClusterEntry* entries = list.entries.data();
      for (std::size_t k = 0; k < found; ++k) {
        entries[n] = candidate[k];
        const bool masked = exclusion_begin && excluded_pairs(k) != 0;
        n += !masked && (near[k] >> lane & 3) != 0 ? 1 : 0;
      }
      row.end = std::uint32_t(n);
      list.used = n;
      rows[std::int64_t(i) * (width / 2) + lane / 2] = row;
    }
  }

  PERRIN_INLINE void operator()(std::int64_t t) const {
    ClusterTask& task = tasks[t];
    TaskList& list = *lists[t];
    list.begin(task, clusters);
    std::vector<Image> images;
    std::uint32_t column = 0;
    while (column_first[column + 1] <= task.begin) ++column;
    for (std::uint32_t i = task.begin; i < task.end;) {
      while (column_first[column + 1] <= i) ++column;
      surroundings(column, images);
      const std::uint32_t stop = std::min(task.end, column_first[column + 1]);
      for (; i < stop; ++i) {
        list.candidates.clear();
        list.near.clear();
        for (std::size_t k = 0; k < images.size(); ++k)
          candidates(i, images[k], k == 0, list);  // the first is the column itself
        write_rows(i, task, list);
      }
    }
    task.entries = list.entries.data();
    task.masks = list.masks.data();
    task.span = std::uint32_t(list.clusters.size());
    task.clusters = list.clusters.data();
  }
};

ClusterList::ClusterList() : columns_(std::make_unique<Columns>()) {}
ClusterList::~ClusterList() = default;

void ClusterList::build(Particles& particles, double reach, const std::uint32_t* exclusion_begin,
                        const std::uint32_t* excluded) {
  const Device& device = particles.device();
  PERRIN_ASSERT(!device.is_cuda());
  if (particles.size() == 0) return;
  columns_->grid = choose_columns(particles, reach);
  sort_.sort(particles, columns_->grid);
  cut(particles, reach);
  particles.reorder(sort_.order());
  make_boxes(particles);
  make_tasks();
  if (exclusion_begin) {
    cluster_of_.resize(std::size_t(particles.size()));
    for (std::uint32_t c = 0; c + 1 < first_.size(); ++c)
      std::fill(cluster_of_.begin() + first_[c], cluster_of_.begin() + first_[c + 1], c);
  }
  const ColumnGrid& grid = columns_->grid;
  const auto clusters = std::int64_t(first_.size()) - 1;
  const double height = particles.box.padded_heights()[grid.axis[2]];
  const Search search{grid,
                      particles.box.metric(),
                      Real(reach * reach),
                      Real((reach + box_slack_) * (reach + box_slack_)),
                      std::int64_t(std::ceil(reach / height * 4294967296.0)),
                      first_.data(),
                      column_first_.data(),
                      low_.data(),
                      high_.data(),
                      origin_.data(),
                      boxes_.data(),
                      coordinates_.data(),
                      clusters,
                      particles.id.data(),
                      particles.index.data(),
                      cluster_of_.data(),
                      exclusion_begin,
                      excluded,
                      rows_.data(),
                      tasks_.data(),
                      lists_.data()};
  const auto tasks = std::int64_t(tasks_.size());
  const auto find = [&](std::int64_t t, int) { detail::run_range(search, t, t + 1); };
  for_tasks(device, tasks, find, clusters > 32);
  collect_sources();
}

void ClusterList::cut(const Particles& particles, double reach) {
  const Device& device = particles.device();
  const ColumnGrid& grid = columns_->grid;
  const auto columns = std::int64_t(grid.cells[0]) * grid.cells[1];
  const Position* position = particles.position.data();
  ClusterCut rule{position, sort_.order().data(), {}};
  const auto heights = particles.box.padded_heights();
  // Long enough for what sixteen particles need where it is dense; coordinates within a cluster
  // must stay short to be exact, and members must not come to be nearer to the origin's next image
  // when they move (by a quarter of the box at most, since the reach is below half of it).
  const double longest = std::max(reach, std::min(2 * grid.edge, 2 * reach));
  for (int axis = 0; axis < 3; ++axis)
    rule.limit[axis] = std::uint32_t(std::min(0.5, longest / heights[axis]) * 4294967295.0);
  far_ = Real(8 * (reach + longest));
  column_first_.assign(std::size_t(columns) + 1, 0);
  const std::int32_t* start = sort_.start();
  share_out(device, columns, 16,
            CountClusters{rule, start, grid.cells[2], column_first_.data() + 1});
  std::partial_sum(column_first_.begin(), column_first_.end(), column_first_.begin());
  first_.resize(column_first_.back() + 1);
  first_.back() = std::uint32_t(particles.size());
  share_out(device, columns, 16,
            CutColumns{rule, start, grid.cells[2], column_first_.data(), first_.data()});
  share_out(device, std::int64_t(first_.size()) - 1, 64,
            OrderMembers{position, first_.data(), grid, sort_.order().data()});
}

void ClusterList::make_boxes(const Particles& particles) {
  const Device& device = particles.device();
  const auto clusters = std::int64_t(first_.size()) - 1;
  const auto lanes = clusters * width;
  origin_.resize(std::size_t(clusters));
  low_.resize(std::size_t(clusters)), high_.resize(std::size_t(clusters));
  boxes_.resize(std::size_t(6 * clusters + 2 * width));  // vectors may read beyond the end
  rows_.assign(std::size_t(lanes / 2), {});
  if (type_.size() < lanes) {
    type_ = {device, lanes + lanes / 8};
    coordinates_ = {device, 3 * (lanes + lanes / 8)};
  }
  share_out(device, clusters, 64,
            MakeBoxes{particles.position.data(), first_.data(), particles.box.metric(),
                      columns_->grid.axis[2], origin_.data(), low_.data(), high_.data(),
                      type_.data(), boxes_.data(), clusters});
  share_out(device, clusters, 64, LoadAll{loader(particles), coordinates_.data()});
  // Corners are sums of rounded numbers up to the size of the box.
  const auto edges = particles.box.edges();
  double size = 0;
  for (const auto& e : edges) size += std::abs(e.x) + std::abs(e.y) + std::abs(e.z);
  for (int axis = 0; axis < 3; ++axis) size *= 1 + 2 * particles.box.padding[axis];
  box_slack_ = Real(4 * size) * std::numeric_limits<Real>::epsilon();
}

void ClusterList::make_tasks() {
  // Slabs across the longest axis, about two columns thick: thinner ones would serve more threads, but each
  // adds to clusters of the next two columns as well.
  const auto clusters = std::uint32_t(first_.size() - 1);
  std::uint32_t tasks = 1;
  while (tasks < 64 && 3 * tasks <= std::uint32_t(columns_->grid.cells[0]) &&
         clusters / (2 * tasks) >= 8)
    tasks *= 2;
  tasks_.assign(tasks, {});
  while (lists_.size() < tasks) lists_.push_back(std::make_unique<TaskList>());
  for (std::uint32_t t = 0; t < tasks; ++t) {
    tasks_[t].begin = std::uint32_t(std::uint64_t(clusters) * t / tasks);
    tasks_[t].end = std::uint32_t(std::uint64_t(clusters) * (t + 1) / tasks);
  }
}

void ClusterList::collect_sources() {
  const auto clusters = std::uint32_t(first_.size() - 1);
  source_begin_.assign(clusters + 1, 0);
  std::uint32_t block = 0;
  const auto each = [&](auto&& f) {
    for (const ClusterTask& task : tasks_)
      for (std::uint32_t k = 0; k < task.span; ++k) f(task.clusters[k], task.block + k);
  };
  for (ClusterTask& task : tasks_) {
    task.block = block;
    block += task.span;
  }
  each([&](std::uint32_t cluster, std::uint32_t) { ++source_begin_[cluster + 1]; });
  std::partial_sum(source_begin_.begin(), source_begin_.end(), source_begin_.begin());
  source_.resize(block);
  std::vector<std::uint32_t> next(source_begin_.begin(), source_begin_.end() - 1);
  each([&](std::uint32_t cluster, std::uint32_t b) { source_[next[cluster]++] = b; });
}

ClusterView ClusterList::view() const {
  std::uint32_t longest = 0;
  for (const ClusterTask& task : tasks_) longest = std::max(longest, task.span);
  return {std::uint32_t(first_.size() - 1),
          std::int64_t(tasks_.size()),
          std::int64_t(source_.size()),
          longest,
          first_.data(),
          type_.data(),
          rows_.data(),
          tasks_.data(),
          source_begin_.data(),
          source_.data()};
}

detail::LoadCluster ClusterList::loader(const Particles& particles) const {
  return {particles.position.data(), origin_.data(), first_.data(), particles.box.metric(), far_};
}

Real* ClusterList::workspace(std::int64_t numbers) const {
  if (workspace_.size() < numbers) {
    workspace_ = Buffer<Real>();
    workspace_ = {coordinates_.device(), numbers + numbers / 8};
  }
  return workspace_.data();
}

std::int64_t ClusterList::bytes() const {
  std::int64_t all = sort_.bytes() + type_.bytes() + coordinates_.bytes() + workspace_.bytes();
  all += std::int64_t((boxes_.capacity() + rows_.capacity() * 4 + origin_.capacity() * 4) *
                      sizeof(std::uint32_t));
  for (const auto& list : lists_) all += list->entries.bytes();
  return all;
}

double ClusterList::mean_tests() const {
  double entries = 0;
  for (std::size_t t = 0; t < tasks_.size(); ++t) entries += double(lists_[t]->used);
  return entries * 2 * width / std::max(1.0, double(first_.empty() ? 0 : first_.back()));
}

}  // namespace perrin
