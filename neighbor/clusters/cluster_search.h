// Finding the entries of cluster lists (neighbor/clusters/clusters.h).
#pragma once

#include <vector>

#include "neighbor/clusters/cluster_set.h"
#include "neighbor/exclusions.h"

namespace perrin {

/// The particles of the row meet a cluster, by its number among those of the task. (x, y, z) is the
/// vector from the origin of the row's own cluster to that of the other one, in the periodic image
/// that is meant.
struct alignas(16) ClusterEntry {
  std::uint32_t cluster;
  Real x, y, z;
};

/// Entries begin … end - 1 of the task. Of those below `plain` only the pairs marked in masks[mask
/// + k - begin] count (the first particle's in the lower half); of the others all.
struct ClusterRow {
  std::uint32_t begin, plain, end, mask;
};

/// A part of the rows, worked on by one thread; the division depends on the system alone.
struct ClusterTask {
  std::uint32_t begin, end;       // its rows are those of the particles of these clusters
  std::uint32_t span;             // clusters that it adds to …
  std::uint32_t block;            // … in blocks of results from here on
  const std::uint32_t* clusters;  // which they are: first its own, in order
  const ClusterEntry* entries;
  const std::uint32_t* masks;
  bool wanted;  // adds to particles of this domain
};

/// The entries of one task, growing as needed.
struct ClusterTaskList {
  static constexpr std::uint32_t none = 0xffffffffu;
  std::vector<std::uint32_t> clusters;  // that the task adds to
  std::vector<std::uint32_t> number;    // there, of every cluster; `none` of others
  Buffer<ClusterEntry> entries;         // from Device::allocate, which knows about large pages
  std::vector<std::uint32_t> masks;
  std::size_t used = 0;
  // Vectors of the entries in units of positions, image and all, once the box has changed since
  // they were found.
  std::vector<Vec3<double>> fixed;
  std::vector<ClusterEntry> candidates;  // of one cluster
  std::vector<std::uint16_t> near;       // lanes of the cluster that reach the candidate
  std::vector<std::uint16_t> excluded;   // [lane][candidate] excluded lanes of the candidate

  /// Empties the list; there are `all` clusters.
  void clear(std::int64_t all);
  void begin(const ClusterTask& task, std::int64_t all);
  std::uint32_t number_of(std::uint32_t cluster) {
    std::uint32_t& n = number[cluster];
    if (n == none) n = std::uint32_t(clusters.size()), clusters.push_back(cluster);
    return n;
  }
};

/// What is searched, and where the results go.
struct ClusterSearch {
  ClusterBoxes clusters;
  Real reach2, box_reach2;  // squares of the reach, without and with what boxes are rounded by
  std::int64_t reach_w;     // along the columns, in fixed-point units
  ExclusionView exclusions;
  const std::uint32_t *id, *index;   // by place in memory, and by id; for exclusions
  ClusterRow* rows;                  // [cluster][pair of lanes]
  std::uint32_t own_begin, own_end;  // clusters with particles of this domain
  // [cluster] a bit for each type of its members (those from the 64th on share one), and for each
  // with which a member interacts; nullptr: all types interact.
  const std::uint64_t *types, *partners;

  /// Do members of one interact with members of the other, if they are close?
  PERRIN_INLINE bool interact(std::uint32_t a, std::uint32_t b) const {
    return partners == nullptr || (partners[a] & types[b]) != 0;
  }
  PERRIN_INLINE bool meets_any(std::uint32_t cluster) const {
    return partners == nullptr || partners[cluster] != 0;
  }
  /// Of the pairs of others nothing is needed.
  PERRIN_INLINE bool own(std::uint32_t cluster) const {
    return cluster >= own_begin && cluster < own_end;
  }
};

/// Finds the rows of one task, and says in it where they are.
void search_clusters(const ClusterSearch& search, ClusterTask& task, ClusterTaskList& list);

}  // namespace perrin
