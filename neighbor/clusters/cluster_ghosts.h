// Which particles of other domains the tasks of this one look at, and the other way round
// (engine/domain/decomposition.h), on the CPU.
#pragma once

#include <vector>

#include "engine/domain/decomposition.h"
#include "engine/system/particles.h"

namespace perrin {

/// Clusters begin … end - 1, perhaps none.
struct ClusterRange {
  std::uint32_t begin, end;
};

/// Cluster c has the particles first[c] … end[c] - 1 in memory; both grow.
struct ClusterPlaces {
  std::vector<std::uint32_t> first, end;

  /// Which clusters have particles of a share.
  ClusterRange of_share(const Share& share) const;
};

/// Particles that are sent in every step. Found anew with the lists, when each domain tells the
/// others which of their places in memory it needs.
class ClusterGhosts {
 public:
  ClusterGhosts() = default;
  explicit ClusterGhosts(const Particles& particles);
  /// `needed`[cluster]: not 0: this domain looks at it. All domains call it.
  void find(const Particles& particles, const ClusterPlaces& clusters,
            const std::vector<unsigned char>& needed);
  HaloPlan view() const;

 private:
  std::int64_t room_ = 0;
  std::vector<std::uint32_t> send_, receive_;              // [domain][element]
  std::vector<std::uint32_t> send_count_, receive_count_;  // [domain]
  Decomposition::Pieces asked_, given_;                    // shares
};

}  // namespace perrin
