// Cluster lists: the neighbour list of the CPU, made for vectors and for Newton's third law.
//
// Particles are sorted into columns, along each column by the short sort, and cut into clusters of
// sixteen. The memory of the particles takes that order, so that a cluster is contiguous and what
// is known of its members is a handful of whole vectors. A row of the list belongs to two
// particles and names clusters: one entry is two vectors of sixteen pairs. Every pair is listed
// once; the forces on the particles of a row stay in registers, those on the clusters are added, a
// vector at a time, to blocks that belong to the task which works on the row (cluster_loop.h). An
// entry is listed only where one of its pairs was within reach when the list was built.
//
// Clusters as units of pair lists: S. Páll, B. Hess, Comput. Phys. Commun. 184, 2641 (2013).
#pragma once

#include <memory>

#include "neighbor/clusters/cluster_ghosts.h"
#include "neighbor/clusters/cluster_search.h"
#include "neighbor/strain.h"
#include "neighbor/traversal_input.h"

namespace perrin {

/// The list as the pair loop sees it.
struct ClusterView {
  std::uint32_t clusters;
  std::int64_t tasks, blocks, longest_span;
  const std::uint32_t *first, *end;  // [cluster]: its particles are first … end - 1 in memory
  const std::uint32_t* type;         // [cluster][lane]
  const ClusterRow* row;             // [cluster][pair of lanes]
  const ClusterTask* task;
  const std::uint32_t* source_begin;  // blocks that hold sums of cluster c, in order of tasks:
  const std::uint32_t* source;        // source[source_begin[c] … source_begin[c+1]-1]
  std::uint32_t own_begin, own_end;   // clusters with particles of this domain
};

class ClusterList {
 public:
  static constexpr const char* name = "clusters";
  static constexpr const char* help = "lists of pairs of clusters of particles (CPU)";
  static constexpr bool lists = true;
  static constexpr bool on_gpu = false, on_cpu = true;

  explicit ClusterList(const TraversalInput& input)
      : ClusterList(input.particles, input.reaches(), input.exclusions) {}
  /// The longest of the reaches, as far as lists look, must not exceed half of the box. Particles
  /// of types that interact with none have clusters of their own, which no row names.
  ClusterList(Particles& particles, const Ranges& reaches, const ExclusionView& exclusions);
  bool fits() const { return true; }
  /// Does each domain sort its own particles?
  bool sorts_locally() const {
    return decomposition_of(particles_->device()).several() &&
           particles_->domain().can_sort_locally();
  }
  /// Is a partner (Domain::partners()) of the own particles further away than is known here?
  bool misses_partners() const { return misses_partners_; }
  void build(const ListBuild& build);
  /// Sorts the particles in memory and lists all pairs closer than the reach. The order and the
  /// list depend on positions and ids alone.
  void build();
  bool enlarge() { return false; }  // there is always room
  /// After a change of the box: entries hold lengths.
  void follow_box(Real* limit2);
  /// Mean number of pairs that this domain looks at, per particle (each pair counts once).
  double mean_entries() const;
  std::int64_t bytes() const;
  std::string report() const { return {}; }
  Strain strain(const Box& box) const { return metric_strain(box); }

  const Particles& particles() const { return *particles_; }
  ClusterView view() const;
  /// What domains send one another in every step.
  HaloPlan ghosts() const { return ghosts_.view(); }
  detail::LoadCluster loader() const { return clusters_.loader(); }
  /// Scratch memory of at least this many numbers.
  Real* workspace(std::int64_t numbers) const;

 private:
  void make_tasks();
  void find_entries();
  void find_types();
  void collect_sources();
  void find_own();
  void find_ghosts();
  void need_partners(std::vector<unsigned char>& needed);
  bool may_want(const ClusterTask& task) const;
  void find_images(const ClusterTask& task, ClusterTaskList& list, const Box& built) const;
  void fit_entries(const ClusterTask& task, ClusterTaskList& list, const Box& before) const;

  Particles* particles_;
  double reach_;
  std::vector<std::uint64_t> interacting_;  // [type] as ClusterSearch::partners; empty: all
  ExclusionView exclusions_;
  ClusterSet clusters_;
  Box box_;                                      // that the entries are of
  std::vector<std::uint64_t> types_, partners_;  // as ClusterSearch has them
  std::vector<ClusterRow> rows_;
  std::vector<std::unique_ptr<ClusterTaskList>> lists_;
  std::vector<ClusterTask> tasks_;
  std::vector<std::uint32_t> source_begin_, source_;
  ClusterGhosts ghosts_;
  std::uint32_t own_begin_ = 0, own_end_ = 0;  // clusters
  bool misses_partners_ = false;
  mutable Buffer<Real> workspace_;
};

}  // namespace perrin
