// The neighbours of a particle that may move (engine/components/trial_moves.h).
#pragma once

#include "engine/components/trial_moves.h"

namespace perrin::detail {

/// What a body of a pair loop keeps of the particle of move k after it; `place`: as TrialMove says.
template <class Body>
PERRIN_HD auto own_after(const Body& body, const TrialMoves& trials, std::int64_t k,
                         std::uint32_t place) {
  if constexpr (requires { body.own_turned(place, *trials.turn); })
    if (trials.turn != nullptr) return body.own_turned(place, trials.turn[k / trials.together]);
  return body.own(place);
}

/// Slots of the cells around one, in pieces of neighbouring cells.
struct TrialSurroundings {
  const TrialCells& cells;
  Vec3<std::int32_t> at;

  PERRIN_HD static std::int32_t span(std::int32_t n) { return n == 1 ? 1 : 3; }
  /// Rows of cells along x; each has two pieces, for it may go round the box.
  PERRIN_HD std::int32_t pieces() const { return 2 * span(cells.cells.y) * span(cells.cells.z); }
  PERRIN_HD static std::int32_t wrapped(std::int32_t c, std::int32_t n) {
    return c < 0 ? c + n : c >= n ? c - n : c;
  }
  PERRIN_HD void piece(std::int32_t k, std::uint32_t& begin, std::uint32_t& end) const {
    const Vec3<std::int32_t>& n = cells.cells;
    const std::int32_t row = k / 2, in_y = span(n.y);
    const std::int32_t z = n.z == 1 ? 0 : wrapped(at.z + row / in_y - 1, n.z);
    const std::int32_t y = n.y == 1 ? 0 : wrapped(at.y + row % in_y - 1, n.y);
    std::int32_t first = 0, last = 0;  // cells along x
    bool empty = k & 1;
    if (n.x > 1) {
      first = at.x - 1, last = at.x + 1;
      if (first < 0) {
        if (k & 1)
          first = last = n.x - 1;
        else
          first = 0;
        empty = false;
      } else if (last >= n.x) {
        if (k & 1)
          first = last = 0;
        else
          last = n.x - 1;
        empty = false;
      }
    }
    const std::int32_t base = cells.key({0, y, z});
    begin = cells.start[base + first];
    end = empty ? begin : cells.start[base + last + 1];
  }
};

/// Finite: the difference of two such sums is a number.
PERRIN_HD Real bounded(Real energy) { return energy < Real(1e30) ? energy : Real(1e30); }

/// Bodies with a table that keep its first entry for each particle, and need nothing else.
template <class Body>
constexpr bool looks_up = [] {
  if constexpr (requires { requires Body::looks_up && !Body::has_extra; }) return true;
  return false;
}();

}  // namespace perrin::detail
