// The ways to find pairs. A simulation has one of them (neighbor/chosen_traversal.h).
//
// A traversal is a class that fulfils `FindsPairs` and either `ListTraversal` or `DirectTraversal`.
// With lists, pairs within the ranges and the skin are listed, and again when particles have moved.
// Without, particles are sorted in every step, and every pair loop searches. The other concepts say
// what a traversal may have besides. And, in a header that neighbor/pair_loop.h includes, there is
// run_pairs(name, const T&, body), the loop over its pairs. To add one: the class, its loop, one
// more alternative below.
#pragma once

#include <concepts>
#include <string>
#include <variant>

#include "neighbor/clusters/clusters.h"
#include "neighbor/columns/column_search.h"
#include "neighbor/small/small_list.h"
#include "neighbor/sorted_cells/sorted_cells.h"
#include "neighbor/tiles/direct_tiles.h"
#include "neighbor/tiles/tile_list.h"
#include "neighbor/verlet_list/verlet_list.h"

namespace perrin {

/// What all have: `name` in jobs ("neighbors": {"traversal": name}), `help`, a few words for users,
/// and
///   fits()          false: not for this box, VerletList takes over
///   enlarge()       after a halt or a build: true if something was full, and there is more room
///   follow_box()    after a change of the box; may set the limit of moves (MoveCheck) to -1
///   mean_entries()  per particle; 0 without lists; waits
///   bytes()         of memory
///   report()        what a user may want to know, or nothing
///   strain()        of its vectors in single precision, in a box
template <class T>
concept FindsPairs = std::constructible_from<T, const TraversalInput&> &&
    requires(T& t, const T& seen, Real* limit2, const Box& box) {
  { T::name } -> std::convertible_to<std::string>;
  { T::help } -> std::convertible_to<std::string>;
  { T::lists } -> std::convertible_to<bool>;
  { T::on_gpu } -> std::convertible_to<bool>;
  { T::on_cpu } -> std::convertible_to<bool>;
  { seen.fits() } -> std::same_as<bool>;
  { t.enlarge() } -> std::same_as<bool>;
  t.follow_box(limit2);
  { seen.particles() } -> std::same_as<const Particles&>;
  { seen.mean_entries() } -> std::same_as<double>;
  { seen.bytes() } -> std::same_as<std::int64_t>;
  { seen.report() } -> std::same_as<std::string>;
  { seen.strain(box) } -> std::same_as<Strain>;
};

/// build(): device work only.
template <class T>
concept ListTraversal = FindsPairs<T> && T::lists && requires(T& t, const ListBuild& build) {
  t.build(build);
};

/// counter(): for the kernel that moves the particles; sort(): device work only.
template <class T>
concept DirectTraversal = FindsPairs<T> && !T::lists && requires(T & t, const StepSort& step) {
  { t.counter() } -> std::same_as<TileCounter>;
  t.sort(step);
};

/// Others have the same name: serves() says which settings it is for.
template <class T>
concept SharesItsName = requires(const NeighborSettings& settings) {
  { T::serves(settings) } -> std::same_as<bool>;
};
/// Knows which positions of other domains its lists lead to.
template <class T>
concept PlansHalo = requires(const T& t) {
  { t.ghosts() } -> std::same_as<HaloPlan>;
};
/// Makes its lists in the pair loop that finds them stale, once they have been built. Particles
/// keep their places in memory.
template <class T>
concept BuildsInPairLoops = requires(const T& t) {
  { t.builds_in_pair_loops() } -> std::same_as<bool>;
};
/// Each domain may sort its own particles.
template <class T>
concept SortsLocally = requires(const T& t) {
  { t.sorts_locally() } -> std::same_as<bool>;
};
/// Sends particles to the domain whose share they have come into: Domain::migrate().
template <class T>
concept Migrates = requires {
  { T::migrates } -> std::convertible_to<bool>;
};
/// Tells, after a build, whether bonded neighbours were out of reach.
template <class T>
concept LooksForPartners = requires(const T& t) {
  { t.misses_partners() } -> std::same_as<bool>;
};
/// Has cells that serve between two heights of the box: require_cut() halts the device where they
/// do not, holds() asks (waits).
template <class T>
concept CutsBox = requires(const T& t) {
  t.require_cut();
  { t.holds() } -> std::same_as<bool>;
};

using Traversal = std::variant<TileList, ClusterList, DirectTiles, ColumnSearch, SortedCells,
                               SmallList, VerletList>;

template <class... T>
constexpr bool all_find_pairs(std::type_identity<std::variant<T...>>) {
  return ((ListTraversal<T> || DirectTraversal<T>)&&...);
}
static_assert(all_find_pairs(std::type_identity<Traversal>{}));

}  // namespace perrin
