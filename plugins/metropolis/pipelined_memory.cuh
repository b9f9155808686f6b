// What the pipelined engine's blocks work on: a launch, a block's shared memory, the sites of a
// lane's molecule, and who is a member of a group.
#pragma once

#ifndef PERRIN_EMULATED
#include "block_memory.cuh"
#endif
#include "moves.h"
#include "pair_energy.h"
#include "schedule.h"

namespace perrin::metropolis {

/// One launch. Groups of replica r have the places r · groups + q in the arrays.
template <class T>
struct Pipeline {
  SystemView view;
  MoveLaw law;
  Scale<T> scale;
  const PairRow<T>* rows;
  std::int64_t first_cycle;
  std::uint32_t groups;            // of the launch, per replica
  std::uint32_t groups_per_cycle;  // of a sequential order: groups of 32 molecules
  std::uint32_t band;              // number of groups before a group in its band
  std::uint32_t width;             // sites of the largest molecule
  // A random order (one cycle to a launch): see RandomSchedule. nullptr: sequential.
  const std::uint32_t *molecule, *group_begin, *next_group, *last_group, *first_group;
  // What blocks tell each other; zero at the start.
  std::uint32_t* taken;          // group numbers given out
  std::uint32_t* decided;        // [replica]: number of groups decided, with their sites in place
  unsigned long long* decision;  // [place]: 2^32 + a bit for each accepted move
  std::uint32_t* proposed;       // [place]: the proposal can be read
  Position* proposal;            // [place][old, new][move · width + site]
  double* change;                // [place]: of the energy
  double* later;                 // [place]: each change as often as the cycle has moves from it on
};

/// What is in the place of a site that is not there: no site has this tail (remainders are 0).
__device__ __forceinline__ Position no_site() {
  Position none;
  none.tail = ~0u;
  return none;
}

/// The sites of a lane's own molecule, before and after the trial move: in registers where every
/// molecule has S sites of one type, in shared memory where S is 0.
template <class T, class E, int S>
struct OwnSites {
  Position old[S], fresh[S];
  PairRow<T> row;

  __device__ __forceinline__ void load(const Position* old_sites, const Position* new_sites, int,
                                       std::uint32_t, const PairRow<T>* rows, std::uint32_t) {
    const int lane = int(threadIdx.x % 32);
#pragma unroll
    for (int k = 0; k < S; ++k) {
      old[k] = old_sites[lane * S + k];
      fresh[k] = new_sites[lane * S + k];
    }
    row = rows[0];
  }
  /// The change of the molecule's energy with a site at q.
  __device__ __forceinline__ T change(const Position& q, const Scale<T>& s) const {
    T sum = 0;
#pragma unroll
    for (int k = 0; k < S; ++k) {
      sum += E::energy(distance2<T>(fresh[k].x, fresh[k].y, fresh[k].z, q.x, q.y, q.z, s), row);
      sum -= E::energy(distance2<T>(old[k].x, old[k].y, old[k].z, q.x, q.y, q.z, s), row);
    }
    return sum;
  }
};
template <class T, class E>
struct OwnSites<T, E, 0> {
  const Position *old, *fresh;
  int n;
  const PairRow<T>* rows;
  std::uint32_t types;

  __device__ __forceinline__ void load(const Position* old_sites, const Position* new_sites, int n_,
                                       std::uint32_t width, const PairRow<T>* rows_,
                                       std::uint32_t types_) {
    const int lane = int(threadIdx.x % 32);
    old = old_sites + lane * width;
    fresh = new_sites + lane * width;
    n = n_, rows = rows_, types = types_;
  }
  __device__ __forceinline__ T change(const Position& q, const Scale<T>& s) const {
    T sum = 0;
    for (int k = 0; k < n; ++k) {
      const Position a = fresh[k], b = old[k];
      const PairRow<T>& row = rows[a.type() * types + q.type()];
      sum += E::energy(distance2<T>(a.x, a.y, a.z, q.x, q.y, q.z, s), row);
      sum -= E::energy(distance2<T>(b.x, b.y, b.z, q.x, q.y, q.z, s), row);
    }
    return sum;
  }
};

/// A trial move's outcome, should it be accepted.
struct TrialMove {
  Position centre;
  Quaternion orientation;
};

/// Shared memory of a block.
template <class T>
struct PipelineMemory {
  PairRow<T>* rows;  // [types²]
  Position* own;     // [old, new][move · width + site]
  Position* staged;  // [warp][2][32]
  double* partial;   // [warp][32]
  T* choices;        // [band + 1][a stays, a moves][a][lane]: change of `lane` with molecule `a`
  TrialMove* trial;  // [move]
  double* allowed;   // [move]: energy change up to which it is accepted
  std::uint32_t* number;

  static std::size_t bytes(std::uint32_t types, std::uint32_t width, std::uint32_t warps,
                           std::uint32_t band) {
    return layout(nullptr, types, width, warps, band).second;
  }
  PERRIN_HD static std::size_t aligned(std::size_t n) { return (n + 15) / 16 * 16; }
  struct Pair {
    PipelineMemory first;
    std::size_t second;
  };
  PERRIN_HD static Pair layout(char* m, std::uint32_t types, std::uint32_t width,
                               std::uint32_t warps, std::uint32_t band) {
    PipelineMemory p{};
    std::size_t at = 0;
    p.own = reinterpret_cast<Position*>(m + at), at += sizeof(Position) * 64 * width;
    p.staged = reinterpret_cast<Position*>(m + at), at += sizeof(Position) * 64 * warps;
    p.partial = reinterpret_cast<double*>(m + at), at += sizeof(double) * 32 * warps;
    p.choices = reinterpret_cast<T*>(m + at), at += sizeof(T) * 2048 * (band + 1);
    p.trial = reinterpret_cast<TrialMove*>(m + at), at += sizeof(TrialMove) * 32;
    p.allowed = reinterpret_cast<double*>(m + at), at += sizeof(double) * 32;
    p.rows = reinterpret_cast<PairRow<T>*>(m + at);
    at += aligned(sizeof(PairRow<T>) * types * types);
    p.number = reinterpret_cast<std::uint32_t*>(m + at), at += 16;
    return {p, at};
  }
};

/// A group of moves, or (negative numbers) of molecules that have not moved in this launch.
template <class T>
struct GroupMembers {
  const Pipeline<T>& p;
  std::uint32_t replica, own;  // `own`: the group that looks

  __device__ __forceinline__ std::uint32_t count(std::int64_t group) const {
    if (p.molecule != nullptr && group >= 0) return p.group_begin[group + 1] - p.group_begin[group];
    const std::uint32_t first = first_molecule(group);
    const std::uint32_t left = p.view.molecules - first;
    return left < group_size ? left : group_size;
  }
  __device__ __forceinline__ std::uint32_t first_molecule(std::int64_t group) const {
    return std::uint32_t((group + p.groups_per_cycle) % p.groups_per_cycle) * group_size;
  }
  /// Member k of a group, or `never` where it will not do: it moves again before the own group's
  /// turn, or in it.
  __device__ __forceinline__ std::uint32_t molecule(std::int64_t group, std::uint32_t k) const {
    constexpr std::uint32_t never = RandomSchedule::never;
    if (p.molecule == nullptr) return first_molecule(group) + k;
    if (group < 0) {
      const std::uint32_t m = first_molecule(group) + k;
      return p.first_group[m] > own ? m : never;
    }
    const std::uint32_t move = p.group_begin[group] + k;
    return p.next_group[move] > own ? p.molecule[move] : never;
  }
};

}  // namespace perrin::metropolis
