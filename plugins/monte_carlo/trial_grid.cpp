#include "trial_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/device/parallel.h"
#include "engine/dynamics/reservoir.h"

namespace perrin::monte_carlo {
namespace {

struct FindCells {
  TrialCells cells;
  const Position* position;
  const std::uint32_t *id, *index;  // index != nullptr: things are ids, else places in memory
  CellCounter counter;
  std::uint32_t first_absent, hidden;
  PERRIN_HD void operator()(std::int64_t thing) const {
    const std::int64_t i = index ? index[thing] : thing;
    const Position p = position[i];
    counter(thing, p.type() < first_absent ? std::uint32_t(cells.key(cells.cell_of(p)))
                                           : std::uint32_t(cells.count()) + id[i] % hidden);
  }
};

struct PutInCells {
  CellRank rank;
  const Position* position;
  const std::uint32_t *id, *index;  // as of FindCells; ids are in order as they are
  TrialCells cells;
  PERRIN_HD void operator()(std::int64_t k) const {
    std::uint32_t place = 0;
    const std::uint32_t slot = index ? std::uint32_t(k) : rank(k, place);
    if (index) place = index[rank.member[k]];
    cells.position[slot] = position[place];
    cells.place[slot] = place;
    cells.id[slot] = id[place];
  }
};

struct FindFullest {
  TrialCells cells;
  std::uint32_t* fullest;
  PERRIN_HD void operator()(std::int64_t c) const {
    const std::uint32_t count = cells.start[c + 1] - cells.start[c];
#ifdef __CUDA_ARCH__
    if (count > *fullest) atomicMax(fullest, count);
#else
    if (count > *fullest) *fullest = count;
#endif
  }
};

}  // namespace

bool TrialGrid::fit(const Particles& particles, double range) {
  const std::int64_t n = particles.size();
  const Device& device = particles.device();
  unlimited_ = std::isinf(range);
  const Vec3<double> heights = particles.box().padded_heights();
  Vec3<std::int32_t> cells{1, 1, 1};
  for (int axis = 0; axis < particles.box().dimension; ++axis) {
    const double fit = range > 0 ? heights[axis] / range * (1 - 1e-6) : double(n);
    cells[axis] = std::int32_t(std::min(fit, 2048.0)) / 2 * 2;
  }
  const auto count = [&] { return std::int64_t(cells.x) * cells.y * cells.z; };
  for (int axis = 0; axis < 3; ++axis)
    if (cells[axis] < 4) cells[axis] = 1;
  // More cells than particles are of no use.
  while (count() > std::max<std::int64_t>(n, 1)) {
    int most = 0;
    for (int axis = 1; axis < 3; ++axis)
      if (cells[axis] > cells[most]) most = axis;
    cells[most] = cells[most] > 4 ? cells[most] - 2 : 1;
  }
  if (cells == grid_.cells && position_.size() > 0) return false;
  grid_.cells = cells;
  first_absent_ = first_absent_type(particles.properties().types);
  hidden_ = first_absent_ < particles.properties().types.size() ? n / 8 + 1 : 0;
  sort_ = CellSort(device, n, count() + hidden_);
  position_ = {device, n}, place_ = {device, n}, id_ = {device, n}, fullest_ = {device, 1};
  return true;
}

TrialCells TrialGrid::cells() {
  TrialCells cells = grid_;
  cells.start = sort_.start();
  cells.position = position_.data(), cells.place = place_.data(), cells.id = id_.data();
  return cells;
}

int TrialGrid::colours() const {
  int colours = 1;
  for (int axis = 0; axis < 3; ++axis)
    if (grid_.cells[axis] > 1) colours *= 2;
  return colours;
}

std::string TrialGrid::way() const {
  if (unlimited_) return "one after another, for all particles meet in a force";
  if (active() == 1) return "one after another, for the box is too small for cells";
  return fmt::format("one in each cell at a time, {} colours of {} cells", colours(), active());
}

Vec3<std::int32_t> TrialGrid::colour(int k) const {
  Vec3<std::int32_t> colour{};
  for (int axis = 0; axis < 3; ++axis)
    if (grid_.cells[axis] > 1) colour[axis] = k % 2, k /= 2;
  return colour;
}

std::vector<TrialCells> TrialGrid::sort(const StepContext& context, const RunKey& key,
                                        std::uint32_t round, bool moved) {
  // Shifts and the order of colours are those of this sweep, whatever the particles do.
  auto random = keyed<Philox>(key, context.step(), TrialMove::none, round);
  for (int axis = 0; axis < 3; ++axis) grid_.shift[axis] = random.next();
  std::vector<int> order(static_cast<std::size_t>(colours()));
  std::iota(order.begin(), order.end(), 0);
  for (auto k = std::uint32_t(order.size()) - 1; k > 0; --k)
    std::swap(order[k], order[random.next() % (k + 1)]);

  TrialCells view = cells();
  if (moved || view.count() > 1) put_in_cells(context, view);
  std::vector<TrialCells> of_colours;
  for (const int k : order) {
    view.colour = colour(k);
    of_colours.push_back(view);
  }
  return of_colours;
}

void TrialGrid::put_in_cells(const StepContext& context, const TrialCells& view) {
  const Device& device = context.device();
  const Particles& particles = context.particles();
  const std::int64_t n = particles.size();
  // Ranking the particles of a cell by their ids takes the square of their number. On the CPU what
  // is sorted keeps its order: in cells of many, ids are sorted.
  const bool crowded = !device.is_cuda() && n > 32 * view.count();
  const std::uint32_t* const id = particles.id().data();
  const std::uint32_t* const index = crowded ? particles.index().data() : nullptr;
  for_each(device, "cells of trial moves", n,
           FindCells{view, particles.position().data(), id, index, sort_.counter(), first_absent_,
                     std::uint32_t(hidden_)});
  sort_.distribute();
  for_each(device, "particles by cells", n,
           PutInCells{sort_.rank(id), particles.position().data(), id, index, view});
}

std::uint32_t TrialGrid::fullest() {
  const Device& device = fullest_.device();
  fullest_.zero();
  const TrialCells view = cells();
  const FindFullest find{view, fullest_.data()};
  if (device.is_cuda())
    for_each(device, "fullest cell", view.count(), find);
  else  // one after the other
    for (std::int64_t c = 0; c < view.count(); ++c) find(c);
  return fullest_.to_host(0);
}

}  // namespace perrin::monte_carlo
