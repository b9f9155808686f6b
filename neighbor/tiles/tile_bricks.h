// What lists per tile and the search without lists share on a GPU: bricks, and room for what is
// found in their halos.
#pragma once

#include "neighbor/strain.h"
#include "neighbor/tiles/tile_search.h"
#include "neighbor/traversal_input.h"

namespace perrin {

/// Capacities of a search, and the words that take what it would have needed.
struct TileRoom {
  std::uint32_t halo, list;  // places of a halo (axes: of a cell), entries of a particle's list
  // [0] set to 1 if something was full; most ever: [1] halo, [2] list, [3] halos, [4] tiles of
  // this domain
  std::uint32_t* words;
};

namespace detail {
/// Bodies with many sums (energies, virials) run now and then: one kernel serves them in all boxes.
template <class Body>
constexpr bool runs_in_every_step = Body::sums <= 6;
}  // namespace detail

class TileBricks {
 public:
  enum class Use {
    lists,          // TileList
    search,         // DirectTiles, by warps
    sorted_search,  // DirectTiles, by threads; the particles of a cell are sorted by x
    axes            // DirectTiles, by cells: a brick is a cell, as wide as the range or wider
  };
  static constexpr int threads = 256;  // of a block, at most
  // Use::axes: groups of threads of a block; their threads; sums of a Body.
  static constexpr int most_groups = 4, threads_of_group = 160, most_sums = 12;

  /// Chooses cells and bricks.
  TileBricks(const TraversalInput& input, Use use);

  const Particles& particles() const { return *particles_; }
  Use use() const { return use_; }
  const TileGeometry& geometry() const { return geometry_; }
  /// After a change of the box. `limit2` (MoveCheck) is set to -1 where the cut does not serve any
  /// more. Device work.
  void follow_box(Real* limit2);
  /// Halts the device if the cut does not serve. Device work; recover() then asks holds().
  void require_cut() const;
  bool holds() const { return !scale_.device().is_cuda() || scale_.to_host(0).holds; }
  /// In the particles' box, as the host has it.
  Strain strain(const Box& box) const;
  /// For a search among particles sorted by TileGeometry::key().
  TileSearch search(const std::uint32_t* cell_start) const;
  TileRoom room() const {
    return {halo_capacity_, list_capacity_, const_cast<std::uint32_t*>(words_.data())};
  }
  /// Threads of a block that searches a brick: a warp for unit_particles at a time …
  int search_threads() const { return search_threads_; }
  /// … or a thread for a particle.
  int single_threads() const { return single_threads_; }
  /// Use::axes: so many groups of single_threads() share the neighbours of a cell.
  int groups() const { return groups_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }  // shared memory of the former
  int log2_lanes() const { return log2_lanes_; }                // threads that share a list
  /// Entries to a row of a list, a multiple of which there is room for.
  std::uint32_t row() const { return 4u << log2_lanes_; }
  /// Expected places of all halos.
  double halos() const { return halos_; }
  /// False: a tile is too large for shared memory or 16 bits, or its coordinates too coarse.
  bool fits() const { return fits_; }
  /// After a halt: true if something was full; capacities are then what was needed, and more.
  /// `halos`: receives the places of all halos that there were.
  bool enlarge(std::uint32_t& halos);

  // Where several domains take care of the particles:
  /// Does each sort its own?
  bool sorts_locally() const;
  /// What part of the particles the largest share is.
  double largest_part() const;
  /// Room for tiles with particles of one domain.
  std::int64_t tiles_at_most() const { return tiles_at_most_; }
  static std::uint32_t more_than(std::uint32_t wanted) {
    return std::uint32_t(std::int64_t(double(wanted) * 1.2) + 16);
  }

 private:
  void require_three_cells(double reach);
  void order_bricks(const std::optional<std::array<int, 3>>& blocks);
  void choose_threads(double bricks);
  void choose_capacities(double halo);
  void choose_sizes();
  bool is_coarse() const;

  Particles* particles_;
  Use use_;
  double reach_;    // the longest
  double density_;  // as particles see it
  ExclusionView exclusions_;
  Buffer<Real> reach2_;      // [type · types + type] where they differ …
  std::uint32_t types_ = 0;  // … else 0
  TileGeometry geometry_{};
  Buffer<std::uint32_t> number_of_row_, row_of_number_;  // of TileGeometry
  Vec3<double> least_, most_;  // heights of the box between which it serves
  Buffer<TileScale> scale_;
  int log2_lanes_ = 2, search_threads_ = threads, single_threads_ = threads, groups_ = 1;
  std::uint32_t halo_capacity_ = 0, list_capacity_ = 0;
  double halos_ = 0;
  std::int64_t tiles_at_most_ = 0;
  std::size_t scratch_bytes_ = 0;
  bool fits_ = true, has_cells_ = true;  // the latter: for Use::axes
  Buffer<std::uint32_t> words_;          // of TileRoom
};

}  // namespace perrin
