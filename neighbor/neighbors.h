// Who is near whom: a list with a skin, however it is made.
//
// The list holds, for every particle, all others closer than their range + skin when it was built (clusters: at least
// these). It is built again when, and only when, some particle has moved half the skin since; the decision is
// taken on the device. Building also sorts the particles in memory by (cell, id). L. Verlet, Phys.
// Rev. 159, 98 (1967); linked cells: R. W. Hockney, J. W. Eastwood, Computer Simulation Using
// Particles (1981).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/core/particles.h"
#include "engine/settings/settings.h"
#include "neighbor/cells/cell_sort.h"
#include "neighbor/clusters/clusters.h"
#include "neighbor/columns/column_search.h"
#include "neighbor/move_check.h"
#include "neighbor/ranges.h"
#include "neighbor/rows/rows.h"
#include "neighbor/tiles/tile_search.h"
#include "neighbor/tiles/tiles.h"

namespace perrin {

struct NeighborSettings {
  std::string traversal = "standard";
  double skin = 0;  // 0: chosen from the range
  std::vector<std::string> exclusions{"bonds"};
  bool interaction_sorting = true;
  int lanes = 0, cells = 0, brick = 0;
  // No key of a job: perrin-bench shows with `rows` on a GPU what order in memory is worth.
  bool reorder = true;
};

template <class D>
void describe(D& d, NeighborSettings& s) {
  d.optional(
      "traversal", s.traversal, OneOf{"standard", "verlet", "cells", "clusters", "rows", "auto"},
      "how pairs are found: verlet, lists per tile (GPU); cells, a search in every step "
      "without lists; clusters, lists of clusters of particles (CPU); rows, a list "
      "per particle; standard, verlet on a GPU and clusters on the CPU, or rows where ranges "
      "differ much between types or the box is nearly empty; auto, what proves fastest "
      "while running (a repeat then has other bits)");
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
             "with verlet and cells: 1 or 2 cells to the range of the lists; 0: chosen by Perrin");
  d.optional(
      "brick", s.brick, Between{0, 512},
      "with verlet and cells on a GPU: cells of the brick that a block works on, rounded to a "
      "power of two; 0: chosen by Perrin");
  d.optional("lanes", s.lanes, Between{0, 32},
             "threads that share one particle on a GPU: 4 or 8, with rows any power of two; 0: "
             "chosen by Perrin");
}

/// What was chosen from the state of the system, and the state it was chosen from: a resumed run
/// must not choose again.
struct NeighborChoices {
  std::string traversal;  // verlet, cells, clusters or rows
  double skin = 0;
  int lanes = 0;  // of rows
  Crowding crowding{};

  void state(Archive& archive);
};

/// For comparison: choices of a run with the same text are good for another one of it.
std::string what_choices_rest_on(const NeighborSettings& settings, const Ranges& ranges,
                                 std::size_t types, const Device& device);

class Neighbors {
 public:
  /// `ranges`: how far particles interact. `choices`: those of an earlier run, or nullptr. Throws
  /// UserError if the longest range exceeds half the box.
  Neighbors(Particles& particles, const Ranges& ranges, const NeighborSettings& settings,
            const NeighborChoices* choices = nullptr);

  const Particles& particles() const { return particles_; }
  double range() const { return ranges_.longest(); }
  const Ranges& ranges() const { return ranges_; }
  double skin() const { return choices_.skin; }
  const NeighborChoices& choices() const { return choices_; }
  /// For the kernel that moves the particles in this step (see MoveCheck). `progress` and `step`: it
  /// notes there which step is running.
  MoveCheck check_moves(std::uint32_t* progress, std::uint32_t step);
  /// Builds the list again if it no longer holds: looks how far the particles have moved, unless
  /// check_moves() was asked for since. Device work only, so that a step can be recorded.
  /// `may_exchange`: sorting may leave the arrays exchanged (Particles::settle()).
  void update(std::uint32_t* progress = nullptr, std::uint32_t step = 0, bool may_exchange = false);
  /// check_moves() was asked for, but what it was for was not done.
  void forget_check() { moves_checked_ = false; }
  /// Makes the next update() build.
  void invalidate();
  /// The list by cluster (on the CPU), or nullptr.
  const ClusterList* clusters() const { return clusters_.get(); }
  /// The list by particle, or nullptr.
  const RowList* rows() const { return rows_.get(); }
  /// The list by tile (on a GPU), or nullptr.
  const TileList* tiles() const { return tiles_.get(); }
  /// True: there are no lists, tiles or columns are searched anew by every pair_loop().
  bool direct() const { return direct_; }
  /// Whether that search cuts rows of cells by the order of the particles.
  bool interaction_sorting() const;
  TileSearch search() const;
  /// The search without lists on the CPU; only where direct().
  ColumnView columns() const;
  /// After a halt: true if the list was full; then it has been enlarged and built.
  bool recover();
  /// verlet, cells, clusters or rows.
  const char* traversal() const;
  /// Lists built so far, and mean number of entries per particle (clusters: pairs that are tested)
  /// (waits).
  std::int64_t builds() const;
  double mean_entries() const;
  /// Memory of lists and grids, as far as it depends on the system.
  std::int64_t bytes() const;
  /// Changes when device addresses do: recorded steps are then void.
  std::int64_t version() const { return version_; }

  /// To be restored by an object with the same settings and choices, after the particles. The list
  /// is built again from where particles were when it was built, which brings them into the order
  /// in memory that they had. False: they have come into another one, which is harmless, but not to
  /// the last bit what the earlier run would have gone on with.
  bool state(Archive& archive);

 private:
  NeighborChoices choose(const NeighborSettings& settings) const;
  bool choose_rows(const Crowding& crowding, const NeighborSettings& settings) const;
  double choose_skin(const Crowding& crowding, const NeighborSettings& settings, bool rows) const;
  void make_lists(const NeighborSettings& settings);
  void use_rows(const Crowding& crowding);
  void build();
  void sort_columns(bool in_step);
  void make_exclusions(const std::vector<std::string>& kinds);
  const std::uint32_t* exclusions() const {
    return has_exclusions_ ? exclusion_begin_.data() : nullptr;
  }

  Particles& particles_;
  Ranges ranges_;
  std::int64_t version_ = 0;

  Condition rebuild_{};          // of the running step
  bool moves_checked_ = false;   // by whoever moves the particles
  Buffer<std::uint32_t> flags_;  // [0] build now
  Buffer<std::int64_t> builds_;
  Buffer<std::uint32_t> progress_;  // where nobody wants to know
  Buffer<std::uint32_t> count_;     // of tiles: lengths of lists
  Buffer<Position> reference_;      // where particles were when the list was built
  Buffer<std::uint32_t> exclusion_begin_, excluded_;  // by id
  bool has_exclusions_ = false;

  std::unique_ptr<ClusterList> clusters_;
  std::unique_ptr<TileList> tiles_;
  std::unique_ptr<RowList> rows_;
  std::unique_ptr<ColumnSearch> columns_;  // of the search without lists on the CPU
  CellSort cell_sort_;
  bool direct_ = false, reorder_ = true;
  double most_skin_ = 0;  // lists must not reach beyond half of the box
  NeighborChoices choices_;
};

}  // namespace perrin
