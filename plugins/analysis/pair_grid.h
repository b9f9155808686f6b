// Pairs of particles within a distance, from cells of that width: for observers that look further
// than forces do, or seldom.
#pragma once

#include <array>

#include "lengths.h"
#include "neighbor/cells/cell_of.h"
#include "neighbor/cells/cell_sort.h"

namespace perrin::analysis {

/// The longest distance at which a pair has one image: half of the smallest height along periodic
/// axes; in two dimensions of x and y. The largest double where there is no such axis.
double half_height(const Box& box);

class PairGrid {
 public:
  /// `distance`: at most half_height().
  PairGrid(const Device& device, std::int64_t particles, const Box& box, double distance);
  /// Sorts particles into cells of the box, which may be another one than before: positions on the
  /// grid's device. Throws UserError where the distance exceeds half_height().
  void build(const Position* positions, const Box& box);
  /// The same; where the box is too small, pairs within half_height() are seen.
  void build_within(const Position* positions, const Box& box);

  /// Places 0 … n-1 are particles in the order of their cells.
  struct View {
    std::int64_t n;
    const std::uint32_t* start;   // of each cell
    const Position* position;     // [place]
    const std::uint32_t* member;  // [place]: index into the positions that build() was given
    Lengths lengths;
    std::int32_t cells[3];
    double distance2;

    /// f(place, vector from k to it, its square) for all within the distance at places above k;
    /// with `both` for all but k itself.
    template <class F>
    PERRIN_HD void around(std::int64_t k, bool both, const F& f) const {
      const Position p = position[k];
      std::int32_t first[3], count[3];
      for (int a = 0; a < 3; ++a) {
        const std::int32_t at = cell_along(fraction_along(p, a), cells[a]);
        first[a] = cells[a] < 3 ? 0 : at - 1;
        count[a] = cells[a] < 3 ? cells[a] : 3;
      }
      for (std::int32_t z = first[2]; z < first[2] + count[2]; ++z)
        for (std::int32_t y = first[1]; y < first[1] + count[1]; ++y)
          for (std::int32_t x = first[0]; x < first[0] + count[0]; ++x) {
            if (outside(x, 0) || outside(y, 1) || outside(z, 2)) continue;
            const std::int64_t cell =
                (std::int64_t(wrapped(z, 2)) * cells[1] + wrapped(y, 1)) * cells[0] + wrapped(x, 0);
            std::int64_t m = start[cell];
            if (!both && m <= k) m = k + 1;
            for (const std::int64_t end = start[cell + 1]; m < end; ++m) {
              if (m == k) continue;
              const Vec3<double> d = lengths.between(position[m], p);
              const double d2 = dot(d, d);
              if (d2 < distance2) f(m, d, d2);
            }
          }
    }

   private:
    PERRIN_HD bool outside(std::int32_t c, int a) const {
      return !lengths.wraps[a] && (c < 0 || c >= cells[a]);
    }
    PERRIN_HD std::int32_t wrapped(std::int32_t c, int a) const {
      return c < 0 ? c + cells[a] : c >= cells[a] ? c - cells[a] : c;
    }
    friend class PairGrid;
  };
  View view() const;

 private:
  void divide(const Box& box);
  void sort(const Position* positions, const Box& box);

  Lengths lengths_;
  std::array<std::int32_t, 3> count_{};
  double distance_, seen_;  // asked for; in the present box
  CellSort cells_;
  Buffer<Position> sorted_;
};

}  // namespace perrin::analysis
