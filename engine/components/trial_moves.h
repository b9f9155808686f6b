// Trial moves, many at a time, as forces see them: Monte Carlo (plugins/monte_carlo).
//
// Particles lie in cells along the axes of the box, shifted by a random vector. A batch has at most
// one trial in each cell of a colour; such cells are at least the longest range of the forces
// apart, and no trial takes a particle out of its cell, or it puts another one into its place: so
// each has surroundings that stay what they are. J. A. Anderson, E. Jankowski, T. L. Grubb, M.
// Engel, S. C. Glotzer, J. Comput. Phys. 254, 27 (2013).
#pragma once

#include <cstdint>

#include "engine/base/real.h"
#include "engine/system/box.h"
#include "engine/system/group.h"
#include "rng/keyed.h"
#include "rng/math.h"

namespace perrin {

/// The particles by cells, in each in the order of their ids.
struct TrialCells {
  const std::uint32_t* start;  // [cell]: cell c has the slots start[c] … start[c + 1] - 1
  Position* position;          // [slot]
  std::uint32_t *place, *id;   // [slot]: its place in memory
  Vec3<std::int32_t> cells;    // along each axis: 1, or an even number from 4 on
  Vec3<std::uint32_t> shift;   // of positions
  Vec3<std::int32_t> colour;   // 0 or 1 along each axis that is cut

  PERRIN_HD static std::int32_t along(std::uint32_t fraction, std::uint32_t shift, std::int32_t n) {
    return std::int32_t((std::uint64_t(fraction + shift) * std::uint32_t(n)) >> 32);
  }
  PERRIN_HD Vec3<std::int32_t> cell_of(const Position& p) const {
    return {along(p.x, shift.x, cells.x), along(p.y, shift.y, cells.y),
            along(p.z, shift.z, cells.z)};
  }
  PERRIN_HD std::int32_t key(const Vec3<std::int32_t>& c) const {
    return (c.z * cells.y + c.y) * cells.x + c.x;
  }
  /// Of the particle with an id, which must be in this cell.
  PERRIN_HD std::uint32_t slot_of(std::int32_t cell, std::uint32_t which) const {
    std::uint32_t slot = start[cell];
    while (id[slot] != which) ++slot;
    return slot;
  }
  PERRIN_HD std::int64_t count() const { return std::int64_t(cells.x) * cells.y * cells.z; }

  // Of the colour:
  PERRIN_HD static std::int32_t active_along(std::int32_t n) { return n > 1 ? n / 2 : 1; }
  PERRIN_HD std::int64_t active() const {
    return std::int64_t(active_along(cells.x)) * active_along(cells.y) * active_along(cells.z);
  }
  PERRIN_HD bool is_active(const Vec3<std::int32_t>& c) const {
    return (cells.x == 1 || (c.x & 1) == colour.x) && (cells.y == 1 || (c.y & 1) == colour.y) &&
           (cells.z == 1 || (c.z & 1) == colour.z);
  }
  /// The k-th cell.
  PERRIN_HD Vec3<std::int32_t> active_cell(std::int64_t k) const {
    const std::int32_t nx = active_along(cells.x), ny = active_along(cells.y);
    const auto row = std::int32_t(k / nx), x = std::int32_t(k - std::int64_t(row) * nx);
    const std::int32_t z = row / ny, y = row - z * ny;
    return {cells.x > 1 ? 2 * x + colour.x : 0, cells.y > 1 ? 2 * y + colour.y : 0,
            cells.z > 1 ? 2 * z + colour.z : 0};
  }
};

/// What a trial is, from keyed numbers.
struct TrialProposal {
  RunKey key;
  const std::uint64_t* sweep;
  Real displacement;  // at most, along each axis (length)
  bool flat;          // two dimensions
  GroupMask group;    // who may move

  struct Drawn {
    Real4 by;  // length
    float log_of_uniform;
  };
  PERRIN_HD Drawn draw(std::uint32_t id, std::uint32_t trial) const {
    const Words4 words = philox4x32<10>(
        {std::uint32_t(*sweep), std::uint32_t(*sweep >> 32), id, trial}, {key.x, key.y});
    return {{along(words.x), along(words.y), flat ? Real(0) : along(words.z), 0},
            exact::log((float(words.w >> 8) + 0.5f) * 0x1p-24f)};
  }

 private:
  /// As likely as its opposite: numbers that a float has exactly.
  PERRIN_HD Real along(std::uint32_t word) const {
    return displacement * ((Real(std::int32_t(word >> 8) - (1 << 23)) + Real(0.5)) * Real(0x1p-23));
  }
};

struct TrialCounts {
  std::int64_t tried = 0, accepted = 0;
  PERRIN_HD TrialCounts& operator+=(const TrialCounts& b) {
    tried += b.tried, accepted += b.accepted;
    return *this;
  }
};

/// Particles in the order of memory, which go where the cells say.
struct TrialParticles {
  Position* position;
  Image* image;

  PERRIN_HD void go(std::uint32_t at, const Position& from, const Position& to) const {
    position[at] = to;
    const Image crossed{crossing(from.x, to.x), crossing(from.y, to.y), crossing(from.z, to.z)};
    if ((crossed.x | crossed.y | crossed.z) != 0) image[at] += crossed;
  }

 private:
  PERRIN_HD static std::int32_t crossing(std::uint32_t before, std::uint32_t after) {
    return std::int32_t(after - before) >= 0 ? (after < before ? 1 : 0) : (after > before ? -1 : 0);
  }
};

/// What a pair force is asked for: a particle at a place, or there before and after; as it is, or
/// with type and attributes of another one.
struct TrialMove {
  static constexpr std::uint32_t none = 0xffffffffu;
  // Where its type and attributes are in memory, before and after; none: it is not there.
  std::uint32_t before_as = none, after_as = none;
  // Slots of those whom it does not meet: its own, and perhaps another one. Those that `slot`
  // excludes are left out, too.
  std::uint32_t slot = none, other = none;
  Position before{}, after{};  // in the same cell

  PERRIN_HD bool is_tried() const { return before_as != none || after_as != none; }
};

/// Moves that do not meet each other.
struct TrialMoves {
  TrialCells cells;
  std::int64_t count;
  const TrialMove* move;  // [count]
  double* change;         // [count]: the energy after less the energy before is added to it
  Real range;             // the longest of the forces (length)
  const std::uint32_t* molecule = nullptr;  // [id]: nobody meets its own; nullptr: there are none
  /// [move / together]: how it turns the particle as well, about axes of space; nullptr: not.
  const Real4* turn = nullptr;
  std::uint32_t together = 1;  // moves in a row with the same turn

  /// Whether a move meets the particle of a slot. `id`: of its own slot.
  PERRIN_HD bool meets(const TrialMove& m, std::uint32_t id, std::uint32_t at) const {
    if (at == m.slot || at == m.other) return false;
    return molecule == nullptr || molecule[id] != molecule[cells.id[at]];
  }
};

/// Where a force between pairs is all that acts: all particles of the active cells make their
/// trials at once, one after the other in each cell, and each `trials` in a row.
struct TrialChains {
  TrialCells cells;
  TrialProposal proposal;
  TrialParticles particles;
  std::uint32_t trials;
  double kt;
  Real range;           // of the force (length)
  Real margin;          // neighbours are noted within the range and this (length)
  TrialCounts* counts;  // [active cell]: added to
};

}  // namespace perrin
