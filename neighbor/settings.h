// Settings of the neighbour search.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin {

struct NeighborSettings {
  std::string traversal = "standard";
  double skin = 0;  // 0: chosen from the range
  std::vector<std::string> exclusions{"bonds"};
  std::string interaction_sorting = "auto";
  int lanes = 0, cells = 0, brick = 0;
  // "processes": {"grid"} of a job: blocks of bricks that follow one another in memory, on a GPU.
  std::optional<std::array<int, 3>> blocks{};
  // "dynamic_bonds" of a job: exclusions change while it runs.
  bool exclusions_change = false;
  // No key of a job: perrin-bench shows with `verlet_list` on a GPU what order in memory is worth.
  bool reorder = true;
};

/// What neighbors.traversal can be (from neighbor/traversal.h), anywhere or on one kind of device;
/// and in words.
enum class Where { anywhere, gpu, cpu };
std::vector<std::string> traversal_names(Where where = Where::anywhere);
std::string traversal_help();

template <class D>
void describe(D& d, NeighborSettings& s) {
  d.optional("traversal", s.traversal,
             OneOf(traversal_names()).formerly("verlet", "tiles").formerly("rows", "verlet_list"),
             traversal_help());
  d.optional("skin", s.skin, NonNegative{},
             "skin of the lists beyond the cut-off (length); 0: chosen by Perrin");
  d.optional("exclusions", s.exclusions, OneOf{"bonds", "angles", "dihedrals", "molecules"},
             "pairs excluded from pair forces: bonds 1-2, angles 1-3, dihedrals 1-4, counted along "
             "bonds, plus the ends of all listed ones; molecules: all pairs within a molecule");
  d.optional("interaction_sorting", s.interaction_sorting,
             OneOf{"auto", "axes", "x", "none"}.formerly("true", "auto").formerly("false", "none"),
             "with cells, which candidates are skipped: axes, those too far along the axis that "
             "joins two cells, whose particles are sorted along it; x, those at both ends of a "
             "row of cells sorted along one edge of the box; none, nobody; auto, axes where "
             "cells hold many particles, else x (with traversal auto: measured)");
  d.gone("reorder", true, "particles are always sorted in memory by their position");
  d.optional("cells", s.cells, Between{0, 2},
             "with tiles and cells: 1 or 2 cells per range of the lists; 0: chosen by Perrin");
  d.optional("brick", s.brick, Between{0, 512},
             "with tiles and cells on a GPU: number of cells per thread block, rounded to a power "
             "of two; 0: chosen by Perrin");
  d.optional("lanes", s.lanes, Between{0, 32},
             "threads per particle on a GPU: 4 or 8, with verlet_list any power of two; 0: chosen "
             "by Perrin");
}

/// What a traversal of a checkpoint is called today. Cluster lists on a GPU have become tiles.
std::string current_traversal(const std::string& name, bool gpu);

/// One of the ways to sort interactions, or to do without?
bool is_sorting(const std::string& name);

}  // namespace perrin
