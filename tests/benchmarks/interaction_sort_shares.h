// What share of the candidates of a search is in range, from the geometry alone: places drawn
// evenly in a cell and its neighbours, in double precision. What interaction_sort.h counts is held
// against it.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/benchmarks/interaction_sort.h"

namespace perrin::interaction_sort {

/// Range 1, cells of 1 / reach; `pairs` pairs of places are drawn for each neighbouring cell.
inline double expected_share(Cut cut, int reach, int pairs) {
  std::mt19937_64 random(5);
  const double width = 1.0 / reach;
  std::uniform_real_distribution<double> place(0, width);
  double met = 0, near = 0;
  for (int z = -reach; z <= reach; ++z)
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x)
        for (int k = 0; k < pairs; ++k) {
          const double a[3] = {place(random), place(random), place(random)};
          double b[3] = {place(random), place(random), place(random)};
          const int cell[3] = {x, y, z};
          double along = 0, rest = 1, r2 = 0;
          for (int c = 0; c < 3; ++c) {
            b[c] += cell[c] * width;
            along += (b[c] - a[c]) * cell[c];
            r2 += (b[c] - a[c]) * (b[c] - a[c]);
            if (c == 0) continue;
            // From the place to the nearest point of the row of cells.
            const double to = std::clamp(a[c], cell[c] * width, (cell[c] + 1) * width);
            rest -= (to - a[c]) * (to - a[c]);
          }
          bool meets = true;
          if (cut == Cut::by_x)
            meets = (cell[0] == 0 && cell[1] == 0 && cell[2] == 0) ||
                    (b[0] - a[0]) * (b[0] - a[0]) < rest;
          else if (cut == Cut::axes)
            meets = along <= std::sqrt(double(x * x + y * y + z * z));
          if (meets) ++met;
          if (r2 < 1) ++near;
        }
  return near / met;
}

}  // namespace perrin::interaction_sort
