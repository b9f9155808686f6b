// How neighbor/verlet_list/verlet_list.h divides particles into classes and the box into cells.
//
// Where some particles reach much further than others, lists that look as far as the longest range
// for everybody test far too much. Types of similar ranges form a class with a cell grid of its
// own; a particle looks into the grid of every class only as far as the two classes interact. After
// the "multi" lists of P. J. in 't Veld, S. J. Plimpton, G. S. Grest, Comput. Phys. Commun. 179,
// 320 (2008).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/device.h"
#include "neighbor/cells/crowding.h"
#include "neighbor/ranges.h"
#include "neighbor/verlet_list/row_grid.h"

namespace perrin {

/// What a search costs, in tests of one candidate.
struct RowCosts {
  double row;           // to begin a row of cells
  bool classes = true;  // there may be more than one class
};

RowCosts row_costs(const Device& device);

struct RowPlan {
  std::vector<std::uint32_t> class_of;  // by type
  std::vector<std::int64_t> members;    // particles of each class
  std::vector<RowGrid> grids;           // of each class
  std::vector<RowPair> pairs;           // [class that looks · classes + class that is looked at]
  // Estimates, means over the particles of a class:
  std::vector<double> entries;  // neighbours within reach
  std::vector<double> tests;    // cost of finding them

  std::size_t classes() const { return members.size(); }
  std::int64_t cells() const;
  /// Means over all particles.
  double mean_entries() const { return mean(entries); }
  double mean_tests() const { return mean(tests); }

 private:
  double mean(const std::vector<double>& of) const;
};

/// `reaches`: ranges and skin. Types are taken to be mixed.
RowPlan plan_rows(const Box& box, const Ranges& reaches, const Crowding& crowding,
                  const RowCosts& costs);

}  // namespace perrin
