#include "minimum_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/device/parallel.h"
#include "engine/device/tasks.h"
#include "engine/system/nearest_vector.h"
#include "engine/system/particles.h"

namespace perrin::analysis {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

struct Gather {
  const Position* position;
  const std::uint32_t *index, *ids;
  Position* out;
  PERRIN_HD void operator()(std::int64_t k) const { out[k] = position[index[ids[k]]]; }
};

/// The least of f(k) for 0 ≤ k < n, by all threads.
template <class F>
double least(const Device& host, std::int64_t n, const F& f) {
  constexpr std::int64_t tasks = 64;
  std::vector<double> found(tasks, none);
  for_tasks(host, tasks, [&](std::int64_t task, int) {
    for (std::int64_t k = n * task / tasks; k < n * (task + 1) / tasks; ++k)
      found[std::size_t(task)] = std::min(found[std::size_t(task)], f(k));
  });
  return *std::ranges::min_element(found);
}

/// The mean distance of so many particles that fill the box.
double spacing(const Box& box, std::int64_t particles) {
  return std::pow(box.volume() / double(particles), 1.0 / box.dimension);
}

}  // namespace

MinimumDistance::MinimumDistance(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                 Setup& setup)
    : host_(setup.device().is_cuda() ? Device::cpu(setup.device().threads()) : setup.device()),
      in_a_(std::int64_t(a.size())) {
  std::vector<std::uint32_t> ids(a.begin(), a.end());
  ids.insert(ids.end(), b.begin(), b.end());
  ids_ = {setup.device(), std::span<const std::uint32_t>(ids)};
  on_device_ = {setup.device(), ids_.size()};
  reach_ = spacing(setup.configuration().box, ids_.size());
}

double MinimumDistance::within_reach(const PairGrid::View& grid) const {
  return least(host_, grid.n, [&](std::int64_t k) {
    double nearest = none;
    if (grid.member[k] < in_a_)
      grid.around(k, true, [&](std::int64_t m, const Vec3<double>&, double d2) {
        if (grid.member[m] >= in_a_) nearest = std::min(nearest, d2);
      });
    return nearest;
  });
}

double MinimumDistance::of_all(const Box& box) const {
  const Lengths lengths(box);
  const Images<double> images = images_of(box);
  const bool tilted = !box.orthogonal();
  return least(host_, in_a_, [&](std::int64_t k) {
    double nearest = none;
    for (std::size_t m = std::size_t(in_a_); m < positions_.size(); ++m) {
      Vec3<double> d = lengths.between(positions_[m], positions_[std::size_t(k)]);
      if (tilted) d = images.nearest(d);
      nearest = std::min(nearest, dot(d, d));
    }
    return nearest;
  });
}

double MinimumDistance::measure(const Particles& particles) {
  const ConstParticleView p = particles.view();
  for_each(particles.device(), "members of groups", ids_.size(),
           Gather{p.position, p.index, ids_.data(), on_device_.data()});
  positions_ = on_device_.to_host();
  on_host_ = {host_, std::span<const Position>(positions_)};
  const Box& box = particles.box();
  const double most = half_height(box);
  while (true) {
    if (!grid_ || grid_reach_ != reach_)
      grid_ = std::make_unique<PairGrid>(host_, ids_.size(), box, reach_);
    grid_reach_ = reach_;
    grid_->build_within(on_host_.data(), box);
    const double square = within_reach(grid_->view());
    if (square < none) {
      const double found = std::sqrt(square);
      // Not wider than it must be: the next is as far.
      if (found < reach_ / 3) reach_ = std::max(1.5 * found, spacing(box, ids_.size()) / 4);
      return found;
    }
    if (reach_ >= most) return std::sqrt(of_all(box));
    reach_ *= 2;
  }
}

}  // namespace perrin::analysis
