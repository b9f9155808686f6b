// The pipelined engine on the GPU: a block decides a group of up to 32 moves.
//
// Groups are numbered through all cycles of a launch and decided in this order. A block takes the
// next number from a counter, so that whatever it waits for belongs to a block that runs already:
// nothing can deadlock, however many blocks fit. Its lanes are the moves of the group; its warps
// share the other molecules:
//
//  1. trial moves of the group, published for the groups that follow;
//  2. the group itself and the `band` groups before it, whose decisions will come last: energies
//     with the old and with the new coordinates of those molecules. Both wait in shared memory
//     for the decision. (To add one and correct it later would take half of that, and be wrong: a
//     trial move onto a molecule that moves away has a huge energy, in which all else drowns.)
//  3. all other molecules: of later groups, which have not moved yet, at once; of earlier groups
//     as their decisions arrive;
//  4. the decisions of the band, 32 bits each; then the group's own, move after move, by one warp;
//  5. decisions and new coordinates are published.
//
// The chain from one group's decision to the next is a read of 8 bytes, 32 additions, and the
// group's own 32 decisions. Sums have a fixed order, which does not depend on where one launch ends
// and the next begins: results repeat bit for bit, however a run is cut into launches.
#pragma once

#ifndef PERRIN_EMULATED
#include "plugins/metropolis/block_memory.cuh"
#endif
#include "plugins/metropolis/moves.h"
#include "plugins/metropolis/pair_energy.h"
#include "plugins/metropolis/schedule.h"

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
  std::uint32_t band;              // so many groups before a group are of its band
  std::uint32_t width;             // sites of the largest molecule
  // A random order (one cycle to a launch): see RandomSchedule. nullptr: sequential.
  const std::uint32_t *molecule, *group_begin, *next_group, *last_group, *first_group;
  // What blocks tell each other; zero at the start.
  std::uint32_t* taken;    // group numbers given out
  std::uint32_t* decided;  // [replica]: so many groups have been, and their sites are in place
  unsigned long long* decision;  // [place]: 2^32 + a bit for each accepted move
  std::uint32_t* proposed;       // [place]: the proposal can be read
  Position* proposal;            // [place][old, new][move · width + site]
  double* change;                // [place]: of the energy
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

// At most 64 registers: two blocks of the largest size to a multiprocessor.
template <class T, class E, int S>
__global__ void __launch_bounds__(512, 2) pipelined_kernel(const __grid_constant__ Pipeline<T> p) {
  const std::uint32_t warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t width = S > 0 ? std::uint32_t(S) : p.width;
  const auto shared =
      PipelineMemory<T>::layout(block_memory(), p.view.types, width, warps, p.band).first;
  if (threadIdx.x == 0) *shared.number = atomicAdd(p.taken, 1u);
  for (std::uint32_t k = threadIdx.x; k < p.view.types * p.view.types; k += blockDim.x)
    shared.rows[k] = p.rows[k];
  __syncthreads();
  const std::uint32_t number = *shared.number;
  const std::uint32_t group = number / p.view.replicas, replica = number % p.view.replicas;
  const std::size_t place = std::size_t(replica) * p.groups + group;
  const GroupMembers<T> members{p, replica, group};
  const bool random = p.molecule != nullptr;
  const std::uint32_t own_count = members.count(group);
  const Position* sites = p.view.site + std::size_t(replica) * p.view.sites;
  const std::uint32_t* decided = p.decided + replica;
  Position* own_old = shared.own;
  Position* own_new = shared.own + 32 * width;

  // Number of sites, and whose they are, of the move of this lane.
  std::uint32_t my_molecule = 0, my_sites = 0;
  if (lane < own_count) {
    my_molecule =
        random ? p.molecule[p.group_begin[group] + lane] : members.first_molecule(group) + lane;
    my_sites = p.view.first_site[my_molecule + 1] - p.view.first_site[my_molecule];
  }

  // 1. Trial moves.
  if (warp == 0) {
    double allowed = -1e300;
    const std::uint32_t index =
        random ? p.group_begin[group] + lane : (group % p.groups_per_cycle) * group_size + lane;
    const std::int64_t cycle = p.first_cycle + (random ? 0 : group / p.groups_per_cycle);
    Draw draw{};
    if (lane < own_count) {
      draw = draw_trial(p.law, cycle, index, replica, my_sites > 1);
      allowed = draw.factor * p.view.kT[replica];
    }
    shared.allowed[lane] = allowed;
    std::uint32_t needed = 0;  // decided groups before the coordinates of all are known
    if (random) {
      if (lane < own_count) needed = p.last_group[p.group_begin[group] + lane] + 1;  // never: 0
      needed = __reduce_max_sync(~0u, needed);
    } else if (group >= p.groups_per_cycle) {
      needed = group - p.groups_per_cycle + 1;
    }
    while (load_acquire(decided) < needed) {
    }
    Position* proposal = p.proposal + place * 64 * width;
    if (lane < own_count) {
      const std::size_t entry = std::size_t(replica) * p.view.molecules + my_molecule;
      const Position centre = load_fresh(p.view.centre + entry);
      const Position new_centre = moved(centre, draw);
      Quaternion new_orientation = load_fresh(p.view.orientation + entry);
      if (my_sites > 1) new_orientation = turned(new_orientation, draw);
      shared.trial[lane] = {new_centre, new_orientation};
      const std::uint32_t first = p.view.template_first[centre.type()];
      for (std::uint32_t k = 0; k < my_sites; ++k) {
        const std::uint32_t at = lane * width + k;
        const Position old = load_fresh(sites + p.view.first_site[my_molecule] + k);
        const Position fresh = place_site(new_centre, new_orientation, p.view.local[first + k],
                                          old.type(), p.law.per_unit);
        own_old[at] = proposal[at] = old;
        own_new[at] = proposal[32 * width + at] = fresh;
      }
    } else {
      for (std::uint32_t k = 0; k < width; ++k)
        own_old[lane * width + k] = own_new[lane * width + k] = {};
    }
    __threadfence();
    __syncwarp();
    if (lane == 0) store_release(p.proposed + place, 1);
  }
  __syncthreads();
  OwnSites<T, E, S> own;
  own.load(own_old, own_new, int(my_sites), width, shared.rows, p.view.types);

  // A warp's share of a group: members share_begin … share_begin + share - 1.
  const std::uint32_t share = 32 / warps, share_begin = warp * share;
  double change = 0;

  // 2. The group itself.
  for (std::uint32_t a = share_begin; a < share_begin + share && a < own_count; ++a) {
    const std::uint32_t n = __shfl_sync(~0u, my_sites, int(a));
    T with_old = 0, with_new = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      with_old += own.change(own_old[a * width + k], p.scale);
      with_new += own.change(own_new[a * width + k], p.scale);
    }
    if (lane < a) change += double(with_old);  // decided before `a` can have moved
    shared.choices[a * 32 + lane] = with_old;
    shared.choices[1024 + a * 32 + lane] = with_new;
  }
  // 2. The band. Of groups that an earlier launch decided both alternatives are where they are now;
  // in a random order nothing is before the launch.
  const std::uint32_t band = random && group < p.band ? group : p.band;
  Position* stage_old = shared.staged + warp * 64;
  Position* stage_new = stage_old + 32;
  for (std::uint32_t b = 1; b <= band; ++b) {
    const std::int64_t other = std::int64_t(group) - b;
    const bool open = other >= 0;
    while (open && load_acquire(p.proposed + place - b) == 0) {
    }
    const std::uint32_t count = members.count(other), to_new = open ? 32 * width : 0;
    for (std::uint32_t a = share_begin; a < share_begin + share; ++a) {
      T* choices = shared.choices + b * 2048 + a * 32 + lane;
      choices[0] = choices[1024] = 0;
      const std::uint32_t m = a < count ? members.molecule(other, a) : RandomSchedule::never;
      if (m == RandomSchedule::never) continue;
      const std::uint32_t first = S > 0 ? m * S : p.view.first_site[m];
      const std::uint32_t m_sites = S > 0 ? S : p.view.first_site[m + 1] - first;
      const Position* from = open ? p.proposal + ((place - b) * 64 + a) * width : sites + first;
      for (std::uint32_t done = 0; done < m_sites; done += 32) {
        const std::uint32_t n = m_sites - done < 32 ? m_sites - done : 32;
        if (lane < n) {
          stage_old[lane] = load_fresh(from + done + lane);
          stage_new[lane] = load_fresh(from + to_new + done + lane);
        }
        __syncwarp();
        // By the same instructions for both: of two copies of this loop a compiler may fuse and so
        // round differently, and bits would depend on which launch a group was part of.
#pragma unroll 1
        for (std::uint32_t alternative = 0; alternative < 2; ++alternative) {
          const Position* stage = stage_old + 32 * alternative;
          T sum = choices[1024 * alternative];
          for (std::uint32_t k = 0; k < n; ++k) sum += own.change(stage[k], p.scale);
          choices[1024 * alternative] = sum;
        }
        __syncwarp();
      }
    }
  }

  // 3. Everybody else.
  const std::int64_t last = std::int64_t(group) - band;  // one past
  std::int64_t other =
      random ? -std::int64_t(p.groups_per_cycle) : std::int64_t(group) - p.groups_per_cycle + 1;
  std::int64_t known = 0;                     // so many groups have been decided
  const auto arrived = [&](std::int64_t g) {  // without waiting
    if (g >= known) known = load_acquire(decided);
    return g < known;
  };
  const std::uint32_t entries = share * width;
  // Site `e` of the warp's share of group g, or no_site().
  const auto fetch = [&](std::int64_t g, std::uint32_t e) {
    Position q = no_site();
    const std::uint32_t a = share_begin + e / width, k = e % width;
    if (e < entries && a < members.count(g)) {
      const std::uint32_t m = members.molecule(g, a);
      if (m != RandomSchedule::never) {
        const std::uint32_t first = S > 0 ? m * S : p.view.first_site[m];
        if (S > 0 || k < p.view.first_site[m + 1] - first) q = load_fresh(sites + first + k);
      }
    }
    return q;
  };
  Position next = no_site();
  bool have_next = false;
  for (; other < last; ++other) {
    if (!have_next) {
      while (!arrived(other)) {
      }
      next = fetch(other, lane);
    }
    T sum = 0;
    for (std::uint32_t from = 0; from < entries; from += 32) {
      if (from > 0) next = fetch(other, from + lane);
      stage_old[lane] = next;
      __syncwarp();
      if (from + 32 >= entries) {
        have_next = other + 1 < last && arrived(other + 1);
        if (have_next) next = fetch(other + 1, lane);
      }
      const std::uint32_t n = entries - from < 32 ? entries - from : 32;
      for (std::uint32_t k = 0; k < n; ++k) {
        const Position q = stage_old[k];
        if (q.tail != no_site().tail) sum += own.change(q, p.scale);
      }
      __syncwarp();
    }
    change += double(sum);
  }
  shared.partial[warp * 32 + lane] = change;
  __syncthreads();
  if (warp != 0) return;

  // 4. Decisions.
  change = 0;
  for (std::uint32_t w = 0; w < warps; ++w) change += shared.partial[w * 32 + lane];
  for (std::uint32_t b = band; b >= 1; --b) {
    unsigned long long word = b > group ? 1ull << 32 : 0;  // of an earlier launch: nobody moves
    while (word == 0) word = load_word(p.decision + place - b);
    const std::uint32_t bits = std::uint32_t(word);
    const T* choices = shared.choices + b * 2048 + lane;
    double sum[4] = {0, 0, 0, 0};
#pragma unroll
    for (std::uint32_t a = 0; a < 32; ++a)
      sum[a % 4] += double(choices[(bits >> a & 1u) * 1024 + a * 32]);
    change += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  const double allowed = shared.allowed[lane];
  std::uint32_t accepted = 0;
#pragma unroll 8
  for (std::uint32_t a = 0; a < 32; ++a) {
    const double stays = double(shared.choices[a * 32 + lane]);
    const double moves = double(shared.choices[1024 + a * 32 + lane]);
    if (a >= own_count) break;
    const std::uint32_t yes = __ballot_sync(~0u, change <= allowed) >> a & 1u;
    accepted |= yes << a;
    if (lane > a) change += yes ? moves : stays;
  }
  // 5. To the others.
  if (lane == 0) store_word(p.decision + place, 1ull << 32 | accepted);
  const bool mine = accepted >> lane & 1u;
  if (mine) {
    const std::size_t entry = std::size_t(replica) * p.view.molecules + my_molecule;
    Position* to =
        p.view.site + std::size_t(replica) * p.view.sites + p.view.first_site[my_molecule];
    for (std::uint32_t k = 0; k < my_sites; ++k) to[k] = own_new[lane * width + k];
    p.view.centre[entry] = shared.trial[lane].centre;
    if (my_sites > 1) p.view.orientation[entry] = shared.trial[lane].orientation;
  }
  __threadfence();
  __syncwarp();
  if (lane == 0) {
    // The sites of the group before may still be on their way although its decision has come.
    while (load_acquire(decided) < group) {
    }
    store_release(p.decided + replica, group + 1);
  }
  double total = mine ? change : 0;
  for (int k = 16; k > 0; k /= 2) total += __shfl_xor_sync(~0u, total, k);
  if (lane == 0) p.change[place] = total;
}

/// Adds what a launch has changed: the groups of a cycle in the order of a fixed tree, cycle after
/// cycle, so that the sum does not depend on how many cycles a launch has.
template <class T>
__global__ void __launch_bounds__(256)
    pipelined_sums_kernel(const __grid_constant__ Pipeline<T> p) {
  __shared__ double energy[256];
  __shared__ unsigned accepted[256];
  const std::size_t first = std::size_t(blockIdx.x) * p.groups;
  const std::uint32_t per_cycle = p.molecule != nullptr ? p.groups : p.groups_per_cycle;
  const std::uint32_t cycles = p.groups / per_cycle, warp = threadIdx.x / 32,
                      lane = threadIdx.x % 32;
  double total = threadIdx.x == 0 ? p.view.energy[blockIdx.x] : 0;
  unsigned long long moves = 0;
  for (std::uint32_t begin = 0; begin < cycles; begin += 256) {
    const std::uint32_t n = cycles - begin < 256 ? cycles - begin : 256;
    for (std::uint32_t c = warp; c < n; c += 8) {
      double e = 0;
      unsigned count = 0;
      for (std::uint32_t g = lane; g < per_cycle; g += 32) {
        const std::size_t place = first + std::size_t(begin + c) * per_cycle + g;
        e += p.change[place];
        count += unsigned(__popc(unsigned(p.decision[place])));
      }
      for (int k = 16; k > 0; k /= 2) {
        e += __shfl_xor_sync(~0u, e, k);
        count += __shfl_xor_sync(~0u, count, k);
      }
      if (lane == 0) {
        energy[c] = e;
        accepted[c] = count;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (std::uint32_t c = 0; c < n; ++c) {
        total += energy[c];
        moves += accepted[c];
      }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    p.view.energy[blockIdx.x] = total;
    p.view.accepted[blockIdx.x] += moves;
  }
}

}  // namespace perrin::metropolis
