#include "neighbor/clusters/cluster_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "neighbor/clusters/choose_columns.h"
#include "neighbor/inline.h"

namespace perrin {
namespace {

constexpr int width = cluster_size;

template <class F>
void share_out(const Device& device, std::int64_t n, std::int64_t grain, const F& f) {
  for_pieces(device, n, grain,
             [&](std::int64_t begin, std::int64_t end) { run_range(f, begin, end); });
}

/// The end of the cluster that begins with particle `begin`: sixteen particles unless the column
/// ends, idle ones begin, or they are too far apart.
struct ClusterCut {
  const Position* position;
  const std::uint32_t *order, *idle_first;
  std::uint32_t limit[3];
  PERRIN_INLINE std::uint32_t end(std::uint32_t begin, std::int64_t column,
                                  std::uint32_t column_end) const {
    const std::uint32_t idle = idle_first[column];
    const std::uint32_t stop =
        std::min(begin + std::uint32_t(width), begin < idle ? idle : column_end);
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
    for (auto k = std::uint32_t(start[column * bins]); k < stop; ++n) k = cut.end(k, column, stop);
    count[column] = n;
  }
};

struct CutColumns {
  ClusterCut cut;
  const std::int32_t* start;
  std::int32_t bins;
  const std::uint32_t* column_first;
  std::uint32_t *first, *end;
  PERRIN_INLINE void operator()(std::int64_t column) const {
    const auto stop = std::uint32_t(start[(column + 1) * bins]);
    std::uint32_t c = column_first[column];
    for (auto k = std::uint32_t(start[column * bins]); k < stop; ++c) {
      first[c] = k;
      end[c] = k = cut.end(k, column, stop);
    }
  }
};

/// Orders the members of a cluster so that two that follow one another, and four, are close: halves
/// across one axis, quarters across the other, along the column within these.
struct OrderMembers {
  const Position* position;
  const std::uint32_t *first, *end;  // in the order
  ColumnGrid grid;
  std::uint32_t* order;

  PERRIN_INLINE void operator()(std::int64_t cluster) const {
    std::uint32_t* member = order + first[cluster];
    const std::uint32_t count = end[cluster] - first[cluster];
    for (int pass = 0; pass < 3; ++pass) {
      // Lanes without a particle stay at the end. Four bits of the place keep the order stable.
      alignas(64) std::uint32_t key[width], place[width], from[width];
      for (std::uint32_t k = 0; k < std::uint32_t(width); ++k) {
        const std::uint32_t group = pass == 0 ? 0 : pass == 1 ? k >> 3 : k >> 2;
        from[k] = k < count ? member[k] : 0;
        key[k] =
            k < count
                ? group << 29 | (fraction_along(position[from[k]], grid.axis[pass]) >> 3 & ~15u) | k
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
  const std::uint32_t *first, *end;
  Metric metric;
  int axis;
  Position* origin;
  std::uint32_t *low_w, *high_w, *type;
  Real* boxes;
  std::int64_t n;
  PERRIN_INLINE void operator()(std::int64_t c) const {
    Position low = position[first[c]], high = low;
    for (std::uint32_t k = first[c]; k < end[c]; ++k) {
      const Position& p = position[k];
      low.x = std::min(low.x, p.x), high.x = std::max(high.x, p.x);
      low.y = std::min(low.y, p.y), high.y = std::max(high.y, p.y);
      low.z = std::min(low.z, p.z), high.z = std::max(high.z, p.z);
      type[c * width + (k - first[c])] = p.type();
    }
    for (std::uint32_t k = end[c] - first[c]; k < std::uint32_t(width); ++k)
      type[c * width + k] = 0;
    const Position o{low.x + (high.x - low.x) / 2, low.y + (high.y - low.y) / 2,
                     low.z + (high.z - low.z) / 2, 0};
    origin[c] = o;
    low_w[c] = fraction_along(low, axis), high_w[c] = fraction_along(high, axis);
    Real3 least{}, most{};
    for (std::uint32_t k = first[c]; k < end[c]; ++k) {
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

void ClusterSet::cut(double reach, bool apart) {
  grid_ = choose_columns(*particles_, idle_, cluster_size, reach, apart);
  if (apart) {
    const Partners* const partners = particles_->domain().partners();
    known_.gather(*particles_, grid_, partners ? partners->reach() : 0);
    sort_.sort(particles_->device(), known_.position(), known_.id(), known_.size(), grid_);
    cut_columns(known_.position(), reach);
    known_.put(*particles_, sort_.order().data());
  } else {
    sort_.sort(*particles_, grid_);
    cut_columns(particles_->position().data(), reach);
    particles_->memory_order().reorder(sort_.order());
  }
  find_places(apart);
  make_boxes();
}

/// Idle particles go behind the others of their column; both keep their order.
void ClusterSet::part_columns(const Position* position) {
  const auto columns = std::int64_t(grid_.cells[0]) * grid_.cells[1];
  std::uint32_t* const order = sort_.order().data();
  idle_first_.resize(std::size_t(columns));
  for_pieces(particles_->device(), columns, 16, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t column = from; column < to; ++column) {
      std::uint32_t* const begin = order + sort_.start()[column * grid_.cells[2]];
      std::uint32_t* end = order + sort_.start()[(column + 1) * grid_.cells[2]];
      if (!idle_.empty())
        end = std::stable_partition(
            begin, end, [&](std::uint32_t i) { return idle_[position[i].type()] == 0; });
      idle_first_[std::size_t(column)] = std::uint32_t(end - order);
    }
  });
}

void ClusterSet::cut_columns(const Position* position, double reach) {
  const Device& device = particles_->device();
  const ColumnGrid& grid = grid_;
  const auto columns = std::int64_t(grid.cells[0]) * grid.cells[1];
  part_columns(position);
  ClusterCut rule{position, sort_.order().data(), idle_first_.data(), {}};
  const auto heights = particles_->box().padded_heights();
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
  std::vector<std::uint32_t>&first = places_.first, &end = places_.end;
  first.resize(column_first_.back()), end.resize(first.size());
  share_out(device, columns, 16,
            CutColumns{rule, start, grid.cells[2], column_first_.data(), first.data(), end.data()});
  share_out(device, std::int64_t(size()), 64,
            OrderMembers{position, first.data(), end.data(), grid, sort_.order().data()});
}

/// Where clusters are in memory, and which of all they are.
void ClusterSet::find_places(bool apart) {
  total_ = size();
  layer_first_.clear();
  if (!apart) return;
  const Share own = particles_->share();
  const std::int32_t layers = grid_.cells[0], columns = grid_.cells[1];
  const auto first_of = [&](std::int32_t layer) {
    return column_first_[std::size_t(layer) * std::size_t(columns)];
  };
  std::vector<std::int64_t> count(std::size_t(layers), 0);
  for (std::int32_t layer = 0; layer < layers; ++layer) {
    const std::int64_t begin = known_.layer_begin(layer);
    const auto shift = std::uint32_t(known_.to_memory(layer));
    for (std::uint32_t c = first_of(layer); c < first_of(layer + 1); ++c)
      places_.first[c] += shift, places_.end[c] += shift;
    // Counted by the domain that has its first particle.
    if (begin >= own.begin && begin < own.end)
      count[std::size_t(layer)] = std::int64_t(first_of(layer + 1)) - first_of(layer);
  }
  decomposition_of(particles_->device()).sum(count);
  layer_first_.assign(std::size_t(layers) + 1, 0);
  std::partial_sum(count.begin(), count.end(), layer_first_.begin() + 1);
  total_ = std::uint64_t(layer_first_.back());
}

std::uint32_t ClusterSet::number_here(std::uint64_t of_all) const {
  if (layer_first_.empty()) return std::uint32_t(of_all);
  if (of_all >= total_) return size();
  const auto after = std::ranges::upper_bound(layer_first_, std::int64_t(of_all));
  const auto layer = std::size_t(after - layer_first_.begin()) - 1;
  const auto columns = std::size_t(grid_.cells[1]);
  const std::uint32_t begin = column_first_[layer * columns];
  const std::uint32_t end = column_first_[(layer + 1) * columns];
  return std::min(end, begin + std::uint32_t(std::int64_t(of_all) - layer_first_[layer]));
}

void ClusterSet::make_boxes() {
  const Device& device = particles_->device();
  const auto clusters = std::int64_t(size());
  const auto lanes = clusters * width;
  origin_.resize(std::size_t(clusters));
  low_.resize(std::size_t(clusters)), high_.resize(std::size_t(clusters));
  boxes_.resize(std::size_t(6 * clusters + 2 * width));  // vectors may read beyond the end
  if (type_.size() < lanes) {
    type_ = {device, lanes + lanes / 8};
    coordinates_ = {device, 3 * (lanes + lanes / 8)};
  }
  share_out(device, clusters, 64,
            MakeBoxes{particles_->position().data(), places_.first.data(), places_.end.data(),
                      particles_->box().metric(), grid_.axis[2], origin_.data(), low_.data(),
                      high_.data(), type_.data(), boxes_.data(), clusters});
  share_out(device, clusters, 64, LoadAll{loader(), coordinates_.data()});
  // Corners are sums of rounded numbers up to the size of the box.
  const auto edges = particles_->box().edges();
  double size = 0;
  for (const auto& e : edges) size += std::abs(e.x) + std::abs(e.y) + std::abs(e.z);
  for (int axis = 0; axis < 3; ++axis) size *= 1 + 2 * particles_->box().padding[axis];
  box_slack_ = Real(4 * size) * std::numeric_limits<Real>::epsilon();
}

ClusterBoxes ClusterSet::view() const {
  return {grid_,
          particles_->box().metric(),
          std::int64_t(size()),
          places_.first.data(),
          places_.end.data(),
          column_first_.data(),
          origin_.data(),
          low_.data(),
          high_.data(),
          boxes_.data(),
          coordinates_.data()};
}

std::uint32_t ClusterSet::column_of(std::uint32_t cluster) const {
  const auto after = std::upper_bound(column_first_.begin(), column_first_.end(), cluster);
  return std::uint32_t(after - column_first_.begin()) - 1;
}

std::uint32_t ClusterSet::cluster_of(std::uint32_t id) const {
  const std::uint32_t place = particles_->index().data()[id];
  const bool known = layer_first_.empty() || known_.knows_place(place);
  if (!known || particles_->id().data()[place] != id) return size();
  return std::uint32_t(std::ranges::upper_bound(places_.end, place) - places_.end.begin());
}

detail::LoadCluster ClusterSet::loader() const {
  return {particles_->position().data(), origin_.data(),
          places_.first.data(),          places_.end.data(),
          particles_->box().metric(),    far_};
}

std::int64_t ClusterSet::bytes() const {
  return sort_.bytes() + known_.bytes() + type_.bytes() + coordinates_.bytes() +
         std::int64_t((boxes_.capacity() + origin_.capacity() * 4) * sizeof(std::uint32_t));
}

}  // namespace perrin
