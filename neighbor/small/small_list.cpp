#include "neighbor/small/small_list.h"

#include <algorithm>
#include <cmath>

#include "engine/domain/decomposition.h"
#include "neighbor/per_particle.h"
#include "neighbor/small/small_list_loop.h"

namespace perrin {

#ifdef __CUDACC__
namespace detail {

/// Rows by themselves: of the first build. Eight threads to a row, of which each tests 32 positions
/// that lie beside one another in shared memory.
struct MakeRows {
  static constexpr int threads = 256;
  static constexpr unsigned lanes = 8, at_once = threads / lanes;  // particles of a block
  static constexpr std::int64_t most_blocks = 32;
  SmallRows rows;

  __device__ void run(unsigned block, unsigned blocks) const {
    if (begin_kernel(rows.halt)) return;
    __shared__ Position staged[staged_place(small_staged)];
    for (std::int64_t first = block * at_once; first < rows.own.size(); first += blocks * at_once) {
      const std::int64_t i = rows.own.begin + first + threadIdx.x / lanes;
      const bool present = i < rows.own.end;
      make_row_of_staged<lanes>(rows, staged, false, present ? i : rows.own.begin, present);
    }
    finish_rows(rows, blocks);
  }
};

}  // namespace detail
#endif

namespace {

void make_rows([[maybe_unused]] const Device& device, [[maybe_unused]] const SmallRows& rows) {
#ifdef __CUDACC__
  using Grid = detail::MakeRows;
  const std::int64_t blocks = (rows.own.size() + Grid::at_once - 1) / Grid::at_once;
  start_grid(device, "build rows", std::min(blocks, Grid::most_blocks), Grid{rows});
#endif
}

/// Half as many again as a particle has on average within reach, and some more.
std::uint32_t expected_entries(const TraversalInput& input) {
  const double reach = input.reaches().longest(), d = input.box.dimension;
  const double ball = d == 2 ? M_PI * reach * reach : 4.18879 * std::pow(reach, 3);
  return std::uint32_t(std::min(1.5 * input.crowding.density * ball, 1e9)) + 32;
}

}  // namespace

SmallList::SmallList(const TraversalInput& input)
    : particles_(&input.particles), exclusions_(input.exclusions) {
  const Device& device = particles_->device();
  const std::int64_t n = particles_->size();
  reach2_ = {device, std::span<const Real>(squared_reaches(input))};
  longest_ = Real(input.reaches().longest());
  order_ = {device, n};
  count_ = {device, n};
  words_ = {device, 3};
  if (fits()) make_room(expected_entries(input));
}

void SmallList::make_room(std::uint32_t entries_of_a_row) {
  room_ = std::min(entries_of_a_row, std::uint32_t(particles_->size()));
  room_ = (room_ + 3) / 4 * 4;
  entries_ = Buffer<std::uint16_t>();
  entries_ = {particles_->device(), particles_->size() * room_};
}

SmallRows SmallList::rows() const {
  return {.entries = entries_.data(),
          .count = count_.data(),
          .room = room_,
          .particles = particles_->size(),
          .own = particles_->share(),
          .position = particles_->position().data(),
          .id = particles_->id().data(),
          .metric = particles_->metric().kept,
          .reach2 = reach2_.data(),
          .longest = longest_,
          .types = std::uint32_t(particles_->properties().types.size()),
          .exclusions = exclusions_,
          .reference = build_.reference,
          .flag = build_.flag ? build_.flag : words_.data() + 2,
          .builds = build_.builds,
          .words = words_.data(),
          .halt = particles_->device().halt().word()};
}

void SmallList::build(const ListBuild& build) {
  const Device& device = particles_->device();
  build_ = build;
  device.memory().copy(order_.data(), particles_->index().data(), std::size_t(order_.bytes()));
  particles_->memory_order().reorder(order_);
  make_rows(device, rows());
}

bool SmallList::enlarge() {
  const std::uint32_t wanted = decomposition_of(particles_->device()).largest(words_.to_host(1));
  if (wanted <= room_) return false;
  make_room(std::uint32_t(1.25 * wanted) + 16);
  words_.zero();
  return true;
}

double SmallList::mean_entries() const { return perrin::mean_entries(*particles_, count_); }

std::int64_t SmallList::bytes() const {
  return entries_.bytes() + count_.bytes() + order_.bytes() + reach2_.bytes();
}

}  // namespace perrin
