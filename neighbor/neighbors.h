// Who is near whom: a cell grid and a Verlet list per particle with a skin.
//
// The list holds, for every particle, all others closer than range + skin when it was built. It is
// built again when, and only when, some particle has moved half the skin since; the decision is
// taken on the device. Building also sorts the particles in memory by (cell, id). L. Verlet, Phys.
// Rev. 159, 98 (1967); linked cells: R. W. Hockney, J. W. Eastwood, Computer Simulation Using
// Particles (1981).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/move_check.h"
#include "engine/particles.h"
#include "engine/settings.h"
#include "neighbor/cell_sort.h"
#include "neighbor/clusters.h"
#include "neighbor/column_search.h"
#include "neighbor/tile_search.h"
#include "neighbor/tiles.h"

namespace perrin {

struct NeighborSettings {
  std::string traversal = "standard";
  double skin = 0;  // 0: chosen from the range
  std::vector<std::string> exclusions{"bonds"};
  bool interaction_sorting = true;
  bool reorder = true;
  int lanes = 0, cells = 0;
};

template <class D>
void describe(D& d, NeighborSettings& s) {
  d.optional("traversal", s.traversal,
             OneOf{"standard", "verlet", "cells", "clusters", "rows", "auto"},
             "how pairs are found: verlet, lists per tile (GPU); cells, a search in every step "
             "without lists; clusters, lists of clusters of particles (CPU); rows, a list "
             "per particle; standard, verlet on a GPU and clusters on the CPU; auto, what proves "
             "fastest while running (a repeat then has other bits)");
  d.optional("skin", s.skin, NonNegative{},
             "lists reach this much further than the interactions (length); 0: chosen by Perrin");
  d.optional("exclusions", s.exclusions, OneOf{"bonds", "angles", "molecules"},
             "pairs of particles that pair forces leave out: bonded, the ends of an angle, of one "
             "molecule");
  d.optional(
      "interaction_sorting", s.interaction_sorting, Any{},
      "with cells: cut the candidates of a row of cells at both ends, by their order along it");
  d.optional(
      "reorder", s.reorder, Any{},
      "keep particles that are near in space near in memory; false, with rows on a GPU only, "
      "is there to see what that is worth");
  d.optional("cells", s.cells, Between{0, 2},
             "with verlet and cells: 1 or 2 cells to the range of the lists; 0: chosen by Perrin");
  d.optional("lanes", s.lanes, Between{0, 32},
             "threads that share one particle on a GPU: 4 or 8, with rows any power of two; 0: "
             "chosen by Perrin");
}

/// The list as a kernel sees it: entry m of particle i, m < count[i], is entries[slot(i, m)].
/// `lanes` threads share a particle; the layout makes their reads contiguous across a warp.
struct NeighborListView {
  const std::uint32_t* count;
  const std::uint32_t* entries;
  std::uint32_t capacity;  // per particle, a multiple of 32
  int log2_lanes;          // 1 … 32 threads share a particle

  PERRIN_HD int lanes() const { return 1 << log2_lanes; }
  PERRIN_HD std::int64_t row(std::int64_t i) const {
    const int log2_rows = 5 - log2_lanes;  // particles per warp
    const std::int64_t warp = i >> log2_rows;
    return (warp << log2_rows) * capacity + ((i - (warp << log2_rows)) << log2_lanes);
  }
  PERRIN_HD std::int64_t slot(std::int64_t row, std::uint32_t m) const {
    return row + (std::int64_t(m >> log2_lanes) << 5) + (m & std::uint32_t(lanes() - 1));
  }
};

class Neighbors {
 public:
  /// `range`: the longest interaction. Throws UserError if range + skin exceeds half the box.
  Neighbors(Particles& particles, double range, const NeighborSettings& settings);

  const Particles& particles() const { return particles_; }
  double range() const { return range_; }
  double skin() const { return skin_; }
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
  /// The list by particle, where there is no other.
  NeighborListView list() const;
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
  /// Changes when device addresses do: recorded steps are then void.
  std::int64_t version() const { return version_; }

  /// False: what was saved is for another skin; all begins anew, and forces are void.
  bool state(Archive& archive);

 private:
  struct Grid;
  void choose_grid();
  void allocate();
  void build();
  void sort_into_cells();
  void build_list();
  void use_rows();
  void sort_columns(bool in_step);
  void make_exclusions(const std::vector<std::string>& kinds);

  Particles& particles_;
  double range_, skin_;
  Vec3<std::int32_t> cells_{};  // number of cells along each axis
  Vec3<std::int32_t> reach_{};  // neighbouring cells to look at on each side
  std::uint32_t capacity_ = 0;
  int log2_lanes_ = 0;
  std::int64_t version_ = 0;

  Condition rebuild_{};          // of the running step
  bool moves_checked_ = false;   // by whoever moves the particles
  Buffer<std::uint32_t> flags_;  // [0] build now, [1] longest list wanted when full
  Buffer<std::int64_t> builds_;
  Buffer<std::uint32_t> progress_;  // where nobody wants to know
  Buffer<std::uint32_t> count_, entries_;
  Buffer<Position> reference_;  // where particles were when the list was built
  Buffer<std::uint32_t> keys_, sorted_keys_, values_, order_, cell_start_;
  Buffer<std::uint32_t>
      coordinates_;  // CPU: positions by coordinate, for the list builder's vectors
  Buffer<std::byte> sort_scratch_;
  Buffer<std::uint32_t> exclusion_begin_, excluded_;  // by id
  bool has_exclusions_ = false;

  std::unique_ptr<ClusterList> clusters_;
  std::unique_ptr<TileList> tiles_;
  std::unique_ptr<ColumnSearch> columns_;  // of the search without lists on the CPU
  CellSort cell_sort_;
  bool direct_ = false, reorder_ = true;
};

}  // namespace perrin
