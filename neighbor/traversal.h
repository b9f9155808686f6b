// The ways to find pairs. Neighbors holds one of them.
//
// A traversal is a class with
//
//     static constexpr const char* name;  // in jobs: "neighbors": {"traversal": name}
//     static constexpr const char* help;  // a few words for users
//     static constexpr bool lists;        // see below
//     static constexpr bool on_gpu, on_cpu;
//     static bool serves(const NeighborSettings&);  // where others have the same name
//     explicit T(const TraversalInput&);
//     bool fits() const;                  // false: not for this box, VerletList takes over
//     bool enlarge();                     // after a halt or a build: true if something was full,
//                                         // and there is more room now
//     const Particles& particles() const;
//     double mean_entries() const;        // per particle; 0 without lists; waits
//     std::int64_t bytes() const;         // of memory
//     std::string report() const;         // what a user may want to know, or nothing
//     Strain strain(const Box&) const;    // of its vectors in single precision, in a box
//
// With lists, pairs within the ranges and the skin are listed, and again when particles have moved:
//
//     void build(const ListBuild&);       // device work only
//
// Without, particles are sorted in every step, and every pair loop searches:
//
//     TileCounter counter();              // for the kernel that moves the particles
//     void sort(const StepSort&);         // device work only
//
// and, in a header that neighbor/pair_loop.h includes, run_pairs(name, const T&, body), the loop
// over its pairs. To add one: the class, its loop, one more alternative below.
#pragma once

#include <variant>

#include "neighbor/clusters/clusters.h"
#include "neighbor/columns/column_search.h"
#include "neighbor/sorted_cells/sorted_cells.h"
#include "neighbor/tiles/direct_tiles.h"
#include "neighbor/tiles/tile_list.h"
#include "neighbor/verlet_list/verlet_list.h"

namespace perrin {

using Traversal =
    std::variant<TileList, ClusterList, DirectTiles, ColumnSearch, SortedCells, VerletList>;

}  // namespace perrin
