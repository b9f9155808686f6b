// What a job says of how pairs are found.
#pragma once

#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin {

struct NeighborSettings {
  std::string traversal = "standard";
  double skin = 0;  // 0: chosen from the range
  std::vector<std::string> exclusions{"bonds"};
  bool interaction_sorting = true;
  int lanes = 0, cells = 0, brick = 0;
  // No key of a job: perrin-bench shows with `verlet_list` on a GPU what order in memory is worth.
  bool reorder = true;
};

template <class D>
void describe(D& d, NeighborSettings& s) {
  d.optional(
      "traversal", s.traversal,
      OneOf{"standard", "tiles", "clusters", "cells", "verlet_list", "auto"}
          .formerly("verlet", "tiles")
          .formerly("rows", "verlet_list"),
      "how pairs are found: tiles, lists per tile of the box (GPU); clusters, lists of pairs "
      "of clusters of particles (CPU); cells, a search in every step without lists; "
      "verlet_list, the classical list for every particle; standard, tiles on a GPU and "
      "clusters on the CPU, or verlet_list where ranges differ much between types or the "
      "box is nearly empty; auto, what proves fastest while running (a repeat then has "
      "other bits)");
  d.optional("skin", s.skin, NonNegative{},
             "lists reach this much further than the interactions (length); 0: chosen by Perrin");
  d.optional("exclusions", s.exclusions, OneOf{"bonds", "angles", "molecules"},
             "pairs of particles that pair forces leave out: bonded, the ends of an angle, of one "
             "molecule");
  d.optional(
      "interaction_sorting", s.interaction_sorting, Any{},
      "with cells: cut the candidates of a row of cells at both ends, by their order along it");
  d.gone("reorder", true, "particles that are near in space are always kept near in memory");
  d.optional("cells", s.cells, Between{0, 2},
             "with tiles and cells: 1 or 2 cells to the range of the lists; 0: chosen by Perrin");
  d.optional(
      "brick", s.brick, Between{0, 512},
      "with tiles and cells on a GPU: cells of the brick that a block works on, rounded to a "
      "power of two; 0: chosen by Perrin");
  d.optional(
      "lanes", s.lanes, Between{0, 32},
      "threads that share one particle on a GPU: 4 or 8, with verlet_list any power of two; 0: "
      "chosen by Perrin");
}

/// What a traversal of a checkpoint is called today. Cluster lists on a GPU have become tiles.
std::string current_traversal(const std::string& name, bool gpu);

}  // namespace perrin
