// Which constraints (Topology::constraints) share particles, directly or through others.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/components/constraint_solver.h"
#include "engine/system/configuration.h"

namespace perrin {

/// Cluster by cluster, in the order of their lowest ids; particles of a cluster in the order of
/// their ids, pairs as the topology has them.
struct ConstraintClusters {
  explicit ConstraintClusters(const Topology& topology);

  std::vector<std::uint32_t> particle;           // ids
  std::vector<ConstraintPair> pair;              // of places in `particle`
  std::vector<std::uint32_t> first, pairs_from;  // [cluster] and the end: in `particle`, in `pair`
  std::size_t size() const { return first.size() - 1; }
};

/// Of each particle (by id) how many degrees of freedom constraints take, with these masses (empty:
/// 1), where particles are: the trace of its part of the projection on what constraints forbid, so
/// that kT/2 times what is left is its mean kinetic energy. Empty without constraints. Throws
/// UserError where the constraints of a cluster are not independent of one another.
std::vector<double> constrained_freedom(const Configuration& configuration);

}  // namespace perrin
