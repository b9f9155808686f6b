#include "neighbor/columns/column_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/device/parallel.h"

namespace perrin {
namespace {

#ifdef PERRIN_DOUBLE
using Sum = double;
Sum edge_units(double e) { return e; }
PERRIN_HD double coordinate(double sum) { return sum / 4294967296.0; }
#else
using Sum = std::uint64_t;  // modulo 2⁶⁴, as the coordinates are modulo 2³²
Sum edge_units(double e) { return Sum(std::int64_t(std::llround(e))); }
PERRIN_HD std::uint32_t coordinate(std::uint64_t sum) { return std::uint32_t(sum >> 32); }
#endif

struct Coordinates {
  const Position* position;
  const std::uint32_t* order;
  int axis;
  Sum xx, xy, yy, xz, yz, zz;
  std::uint32_t *w, *type;
  Coordinate *x, *y, *z;
  PERRIN_HD void operator()(std::int64_t k) const {
    const Position p = position[order[k]];
    w[k] = fraction_along(p, axis), type[k] = p.type();
    x[k] = coordinate(xx * p.x + xy * p.y + xz * p.z);
    y[k] = coordinate(yy * p.y + yz * p.z);
    z[k] = coordinate(zz * p.z);
  }
};

struct Iota {
  std::uint32_t* order;
  PERRIN_HD void operator()(std::int64_t k) const { order[k] = std::uint32_t(k); }
};

}  // namespace

ColumnSearch::ColumnSearch(const TraversalInput& input, bool from_middles)
    : particles_(&input.particles),
      exclusions_(input.exclusions),
      range_(input.ranges.longest()),
      columns_to_range_(input.settings.cells),
      sorted_(input.settings.interaction_sorting != "none"),
      orthogonal_(input.particles.box().orthogonal()),
      from_middles_(from_middles) {
  choose_grid();
  choose_unit();
  const Device& device = particles_->device();
  for (auto* buffer : {&w_, &type_}) *buffer = {device, particles_->size()};
  for (auto* buffer : {&x_, &y_, &z_}) *buffer = {device, particles_->size()};
}

void ColumnSearch::follow_box(Real*) {
  orthogonal_ = particles_->box().orthogonal();
  choose_grid();
  choose_unit();
  sort_.sort(*particles_, grid_, sorted_);
  find_coordinates();
}

/// Columns along the longest edge, 1 or 2 to the range (0: chosen), cut into bins.
void ColumnSearch::choose_grid() {
  const Box& box = particles_->box();
  const auto heights = box.padded_heights();
  int axes[3] = {0, 1, 2};
  const auto height = [&](int axis) { return axis < box.dimension ? heights[axis] : 0.0; };
  std::stable_sort(axes, axes + 3, [&](int a, int b) { return height(a) > height(b); });
  grid_.axis[0] = axes[1], grid_.axis[1] = axes[2], grid_.axis[2] = axes[0];

  // Memory follows the particles: where the box is nearly empty, cells are wider.
  const double n = double(particles_->size()), limit = std::max(64.0, n);
  const auto fit = [&](int k, double width) {
    const double h = height(grid_.axis[k]);
    grid_.cells[k] = h > 0 ? std::int32_t(std::clamp(std::floor(h / width), 1.0, 1e6)) : 1;
    grid_.reach[k] = h > 0 ? std::int32_t(std::ceil(range_ / (h / grid_.cells[k]) - 1e-9)) : 0;
  };
  double width = columns_to_range_ == 2 ? range_ / 2 : range_;
  for (;; width *= 1.1) {
    fit(0, width), fit(1, width);
    if (double(grid_.cells[0]) * grid_.cells[1] <= limit) break;
  }
  const double columns = double(grid_.cells[0]) * grid_.cells[1];
  if (sorted_) {  // about eight particles to a bin
    grid_.cells[2] = std::int32_t(std::clamp(std::round(n / columns / 8), 1.0, 1e6));
    grid_.slack = std::uint32_t(65536.0 / grid_.cells[2]) + 2;
  } else {
    const double most = std::max(1.0, std::floor(limit / columns));
    fit(2, std::max(width, height(grid_.axis[2]) / (most + 0.5)));
  }
}

/// Exact differences up to twice the range (members of a group are no further apart than the
/// range); from the middle of a cell, as far as its corners and the range.
void ColumnSearch::choose_unit() {
  const Box& box = particles_->box();
  const auto heights = box.padded_heights();
  const auto edges = box.edges();
  double corner = 0;  // of a cell, from the middle along one axis of space
  for (int space = 0; space < box.dimension && from_middles_; ++space) {
    double half = 0;
    for (int k = 0; k < 3; ++k) {
      const int axis = grid_.axis[k];
      const double stretch = box.periodic[std::size_t(axis)] ? 1 : 1 + 2 * box.padding[axis];
      half += std::abs(stretch * edges[std::size_t(axis)][space]) / grid_.cells[k] / 2;
    }
    corner = std::max(corner, half);
  }
  const double exact = std::max(2 * range_, corner + range_);
  unit_ = sizeof(Real) == 4 ? std::exp2(std::ceil(std::log2(exact)) - 24) : 1;
  double longest = 0;
  for (int k = 0; k < 3; ++k) {
    const int axis = grid_.axis[k];
    const double stretch = box.periodic[std::size_t(axis)] ? 1 : 1 + 2 * box.padding[axis];
    edge_[axis] = (stretch / unit_) * edges[std::size_t(axis)];
    per_length_[k] = 4294967296.0 / std::max(heights[axis], 1e-300);
    if (axis >= box.dimension) continue;
    const double length = std::sqrt(dot(edge_[axis], edge_[axis]));
    longest += k == 2 && sorted_ ? length * std::min(1.0, 2 * range_ / heights[axis])
                                 : length / grid_.cells[k] * (grid_.reach[k] + 1);
  }
  // Whoever is out of reach of everybody (far) must be so within wide cells, too.
  fits_ = (sizeof(Real) == 8 || longest < 2e9) && exact <= 4 * range_;
}

/// Forces do not depend on the order in memory. Counted are the steps, so that a resumed run brings
/// it about when the first one did.
void ColumnSearch::sort(const StepSort& step) {
  constexpr std::uint32_t interval = 16;
  std::uint32_t *now = step.flag, *steps = step.flag + 1;
  if (step.in_step && ++*steps >= interval) *now = 1;
  const Device& device = particles_->device();
  const std::int64_t n = particles_->size();
  sort_.sort(*particles_, grid_, sorted_);
  if (*now != 0) {
    particles_->memory_order().reorder(sort_.order());
    for_each(device, "order", n, Iota{sort_.order().data()});
    *step.builds += 1;
    *steps = *now = 0;
  }
  find_coordinates();
}

void ColumnSearch::find_coordinates() {
  const auto& e = edge_;
  for_each(particles_->device(), "coordinates", particles_->size(),
           Coordinates{particles_->position().data(), sort_.order().data(), grid_.axis[2],
                       edge_units(e.x.x), edge_units(e.y.x), edge_units(e.y.y), edge_units(e.z.x),
                       edge_units(e.z.y), edge_units(e.z.z), w_.data(), type_.data(), x_.data(),
                       y_.data(), z_.data()});
}

ColumnView ColumnSearch::view() const {
  const auto whole = [](Vec3<double> e) {
    return Vec3<Coordinate>{whole_units(e.x), whole_units(e.y), whole_units(e.z)};
  };
  return {grid_,
          sorted_,
          orthogonal_,
          particles_->size(),
          range_ * (1 + 1e-5),  // against rounding
          per_length_,
          sort_.start(),
          sort_.order().data(),
          w_.data(),
          type_.data(),
          x_.data(),
          y_.data(),
          z_.data(),
          particles_->position().data(),
          {whole(edge_.x), whole(edge_.y), whole(edge_.z)},
          Real(unit_),
          Real(8 * range_),
          particles_->id().data(),
          particles_->index().data(),
          exclusions_,
          particles_->share()};
}

}  // namespace perrin
