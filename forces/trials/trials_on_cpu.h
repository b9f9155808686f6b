// Trial moves with the neighbours of their particles, on the CPU; see forces/trials/trial_loop.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/system/moved_position.h"
#include "forces/trials/trial_surroundings.h"
#include "neighbor/exclusions.h"
#include "neighbor/inline.h"
#include "neighbor/pair_extra.h"

namespace perrin::detail {

/// Of a particle at p with another one; `real` false: with none. OneType: the body looks nothing
/// up. A function of its own: GCC does not vectorise over structs declared in the simd loop.
template <bool OneType, class Body, class Own>
PERRIN_INLINE Real trial_energy(const Body& body, const Metric& metric, const Own& own,
                                const Position& p, std::uint32_t x, std::uint32_t y,
                                std::uint32_t z, std::uint32_t type, std::uint32_t place,
                                bool real) {
  Real term[Body::sums];
  const Real3 d =
      metric.vector(std::int32_t(p.x - x), std::int32_t(p.y - y), std::int32_t(p.z - z));
  if constexpr (OneType)
    body.pair_with(own, d, type, own.coefficients, real, term);
  else
    body.pair(own, d, type, extra_of(body, place), real, term);
  return bounded(term[3]);
}

/// One trial, on the CPU.
template <class Body>
struct TrialsOnCpu {
  static constexpr int width = 16, block_size = 128;
  Body body;
  TrialMoves trials;
  Metric metric;
  ExclusionView exclusions;

  using Own = decltype(std::declval<const Body&>().own(0));

  /// Neighbours number by number, in whole vectors.
  struct Block {
    int filled = 0;
    alignas(64) std::uint32_t x[block_size], y[block_size], z[block_size], type[block_size];
    alignas(64) std::uint32_t place[block_size];

    PERRIN_INLINE void take(const Position& q, std::uint32_t at) {
      x[filled] = q.x, y[filled] = q.y, z[filled] = q.z, type[filled] = q.type();
      place[filled++] = at;
    }
  };
  /// A particle at p, and its energy so far.
  struct Probe {
    Own own;
    Position p;
    alignas(64) Real sum[width] = {};

    Probe(const Own& of, const Position& at) : own(of), p(at) {}
    double total() const {
      double all = 0;
      for (int n = 0; n < width; ++n) all += double(sum[n]);
      return all;
    }
  };

  PERRIN_INLINE void evaluate(Probe& probe, const Block& b, int filled) const {
    for (int first = 0; first < b.filled; first += width) {
#pragma omp simd simdlen(width)
      for (int n = 0; n < width; ++n) {
        const int at = first + n;
        probe.sum[n] += trial_energy<false>(body, metric, probe.own, probe.p, b.x[at], b.y[at],
                                            b.z[at], b.type[at], b.place[at], at < filled);
      }
    }
  }

  PERRIN_INLINE void operator()([[maybe_unused]] std::int64_t k) const {
#ifndef __CUDA_ARCH__
    const TrialMove move = trials.move[k];
    if (!move.is_tried()) return;
    const bool was = move.before_as != TrialMove::none, is = move.after_as != TrialMove::none;
    const std::uint32_t some_place = was ? move.before_as : move.after_as;
    Probe before(body.own(some_place), move.before);
    Probe after(own_after(body, trials, k, is ? move.after_as : some_place), move.after);
    const TrialCells& cells = trials.cells;
    const std::uint32_t id = move.slot != TrialMove::none ? cells.id[move.slot] : 0;
    const bool some = exclusions && move.slot != TrialMove::none &&
                      exclusions.begin[id] < exclusions.begin[id + 1];
    Block block;
    const auto evaluate_block = [&] {
      const int filled = block.filled;
      while (block.filled % width != 0) block.take(move.after, some_place);
      if (was) evaluate(before, block, filled);
      if (is) evaluate(after, block, filled);
      block.filled = 0;
    };
    const Real3 step = metric.vector(move.after, move.before);
    const Real reach = Real(1.00001) * (trials.range + std::sqrt(dot(step, step)));
    const TrialSurroundings around{cells, cells.cell_of(move.after)};
    for (std::int32_t piece = 0; piece < around.pieces(); ++piece) {
      std::uint32_t begin, end;
      around.piece(piece, begin, end);
      while (begin < end) {
        std::uint32_t near[block_size];
        int count = 0;  // without branches, which could not be foreseen
        for (const std::uint32_t last = std::min(end, begin + block_size); begin < last; ++begin) {
          const Real3 d = metric.vector(move.after, cells.position[begin]);
          near[count] = begin;
          count += dot(d, d) < reach * reach ? 1 : 0;
        }
        for (int n = 0; n < count; ++n) {
          const std::uint32_t slot = near[n];
          if (trials.meets(move, id, slot) && !(some && exclusions.excludes(id, cells.id[slot])))
            block.take(cells.position[slot], cells.place[slot]);
          if (block.filled == block_size) evaluate_block();
        }
      }
    }
    evaluate_block();
    trials.change[k] += (is ? after.total() : 0) - (was ? before.total() : 0);
#endif
  }
};

/// All trials of a cell, on the CPU.
template <class Body>
struct ChainsOnCpu {
  static constexpr int width = 16;
  static constexpr Real left_out = Real(1e30);  // a squared distance
  Body body;
  TrialChains chains;
  Metric metric;
  ExclusionView exclusions;

  /// Particles number by number. There is room behind the last for a whole vector.
  struct Columns {
    std::vector<std::uint32_t> room;
    std::size_t size = 0;
    std::uint32_t *x, *y, *z, *type, *place, *slot;

    explicit Columns(std::size_t most) : room(6 * (most + width)) {
      std::uint32_t* at = room.data();
      for (std::uint32_t** column : {&x, &y, &z, &type, &place, &slot})
        *column = at, at += most + width;
    }
    void add(const Position& q, std::uint32_t its_place, std::uint32_t its_slot) {
      x[size] = q.x, y[size] = q.y, z[size] = q.z, type[size] = q.type();
      place[size] = its_place, slot[size++] = its_slot;
    }
    /// Something to look at behind the last.
    void fill() {
      for (std::size_t k = size; size > 0 && k < size + width; ++k)
        x[k] = x[0], y[k] = y[0], z[k] = z[0], type[k] = type[0], place[k] = place[0];
    }
    void add(const Columns& from, std::size_t k) {
      x[size] = from.x[k], y[size] = from.y[k], z[size] = from.z[k], type[size] = from.type[k];
      place[size] = from.place[k], slot[size++] = from.slot[k];
    }
  };
  using Own = decltype(std::declval<const Body&>().own(0));

  PERRIN_INLINE Real3 vector(const Position& p, const Columns& c, std::size_t k) const {
    return metric.vector(std::int32_t(p.x - c.x[k]), std::int32_t(p.y - c.y[k]),
                         std::int32_t(p.z - c.z[k]));
  }
  template <bool OneType>
  PERRIN_INLINE double energy(const Own& own, const Position& p, const Columns& c) const {
    Real sum[width] = {};
    const int size = int(c.size);
    const std::uint32_t *x = c.x, *y = c.y, *z = c.z, *type = c.type, *place = c.place;
    for (int first = 0; first < size; first += width) {
#pragma omp simd simdlen(width)
      for (int n = 0; n < width; ++n) {
        const int k = first + n;
        sum[n] += trial_energy<OneType>(body, metric, own, p, x[k], y[k], z[k], type[k], place[k],
                                        k < size);
      }
    }
    double all = 0;
    for (int n = 0; n < width; ++n) all += double(sum[n]);
    return all;
  }
  /// Of a particle at p with all of them.
  PERRIN_INLINE double energy(const Own& own, const Position& p, const Columns& c) const {
    if constexpr (looks_up<Body>)
      if (body.types == 1) return energy<true>(own, p, c);
    return energy<false>(own, p, c);
  }

  PERRIN_INLINE void operator()([[maybe_unused]] std::int64_t k) const {
#ifndef __CUDA_ARCH__
    const TrialCells& cells = chains.cells;
    const Vec3<std::int32_t> cell = cells.active_cell(k);
    const std::int32_t key = cells.key(cell);
    if (cells.start[key] == cells.start[key + 1]) return;
    const TrialSurroundings around{cells, cell};
    std::size_t most = 0;
    for (std::int32_t piece = 0; piece < around.pieces(); ++piece) {
      std::uint32_t begin, end;
      around.piece(piece, begin, end);
      most += end - begin;
    }
    Columns all(most), near(most);
    std::size_t own_first = 0;  // of all: the particles of the cell are behind one another
    for (std::int32_t piece = 0; piece < around.pieces(); ++piece) {
      std::uint32_t begin, end;
      around.piece(piece, begin, end);
      for (std::uint32_t slot = begin; slot < end; ++slot) {
        if (slot == cells.start[key]) own_first = all.size;
        all.add(cells.position[slot], cells.place[slot], slot);
      }
    }
    std::vector<Real> distance2(all.size);
    std::vector<std::uint32_t> chosen(all.size + 1);
    const Real reach = chains.range + chains.margin;
    TrialCounts counts;
    for (std::uint32_t self = cells.start[key]; self < cells.start[key + 1]; ++self) {
      const std::uint32_t id = cells.id[self], place = cells.place[self];
      if (!chains.proposal.group.has(id)) continue;
      const Own own = body.own(place);
      const Position first = cells.position[self];
      for (std::size_t n = 0; n < all.size; ++n) {
        const Real3 d = vector(first, all, n);
        distance2[n] = dot(d, d);
      }
      const bool some = exclusions && exclusions.begin[id] < exclusions.begin[id + 1];
      const std::size_t mine = own_first + (self - cells.start[key]);
      distance2[mine] = left_out;
      for (std::size_t n = 0; some && n < all.size; ++n)
        if (exclusions.excludes(id, cells.id[all.slot[n]])) distance2[n] = left_out;
      const auto choose = [&](Real farthest) {
        std::size_t count = 0;  // without branches, which could not be foreseen
        for (std::size_t n = 0; n < all.size; ++n) {
          chosen[count] = std::uint32_t(n);
          count += distance2[n] < farthest ? 1 : 0;
        }
        near.size = 0;
        for (std::size_t n = 0; n < count; ++n) near.add(all, chosen[n]);
        near.fill();
      };
      choose(reach * reach);
      bool complete = false;  // near: all there are
      double old_energy = energy(own, first, near);
      Position here = first;
      for (std::uint32_t trial = 0; trial < chains.trials; ++trial) {
        const TrialProposal::Drawn drawn = chains.proposal.draw(id, trial);
        const Position after = moved_by_axes(here, metric.fixed_word(drawn.by));
        if (cells.key(cells.cell_of(after)) != key) continue;
        const Real3 moved = metric.vector(after, first);
        if (!complete && dot(moved, moved) > chains.margin * chains.margin)
          choose(left_out), complete = true;
        const double new_energy = energy(own, after, near);
        if (!(new_energy - old_energy <= -chains.kt * double(drawn.log_of_uniform))) continue;
        here = after, old_energy = new_energy;
        ++counts.accepted;
      }
      counts.tried += chains.trials;
      cells.position[self] = here;
      chains.particles.go(place, first, here);
      all.x[mine] = here.x, all.y[mine] = here.y, all.z[mine] = here.z;
    }
    chains.counts[k] += counts;
#endif
  }
};

}  // namespace perrin::detail
