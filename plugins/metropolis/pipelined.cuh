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

#include "pipelined_memory.cuh"

namespace perrin::metropolis {

/// What a block does for its group.
template <class T, class E, int S>
class GroupBlock {
 public:
  __device__ __forceinline__ GroupBlock(const Pipeline<T>& p, const PipelineMemory<T>& shared)
      : p_(p),
        shared_(shared),
        warps_(blockDim.x / 32),
        warp_(threadIdx.x / 32),
        lane_(threadIdx.x % 32),
        width_(S > 0 ? std::uint32_t(S) : p.width),
        group_(*shared.number / p.view.replicas),
        replica_(*shared.number % p.view.replicas),
        place_(std::size_t(replica_) * p.groups + group_),
        members_{p, replica_, group_},
        random_(p.molecule != nullptr),
        own_count_(members_.count(group_)),
        band_(random_ && group_ < p.band ? group_ : p.band),
        share_(32 / warps_),
        share_begin_(warp_ * share_),
        sites_(p.view.site + std::size_t(replica_) * p.view.sites),
        decided_(p.decided + replica_),
        own_old_(shared.own),
        own_new_(shared.own + 32 * width_),
        stage_old_(shared.staged + warp_ * 64),
        stage_new_(stage_old_ + 32) {
    if (lane_ >= own_count_) return;
    my_molecule_ = random_ ? p.molecule[p.group_begin[group_] + lane_]
                           : members_.first_molecule(group_) + lane_;
    my_sites_ = p.view.first_site[my_molecule_ + 1] - p.view.first_site[my_molecule_];
  }

  __device__ __forceinline__ void run() {
    if (warp_ == 0) propose();
    __syncthreads();
    own_.load(own_old_, own_new_, int(my_sites_), width_, shared_.rows, p_.view.types);
    meet_own_group();
    for (std::uint32_t b = 1; b <= band_; ++b) meet_band(b);
    meet_others();
    shared_.partial[warp_ * 32 + lane_] = change_;
    __syncthreads();
    if (warp_ == 0) publish(decide());
  }

 private:
  /// Of this lane's move in its cycle.
  __device__ __forceinline__ std::uint32_t move_index() const {
    return random_ ? p_.group_begin[group_] + lane_
                   : (group_ % p_.groups_per_cycle) * group_size + lane_;
  }
  __device__ __forceinline__ std::uint32_t moves_from_here() const {
    return p_.view.molecules - move_index();
  }

  /// 1. The trial moves of the group, by one warp.
  __device__ __forceinline__ void propose() {
    double allowed = -1e300;
    const std::uint32_t index = move_index();
    const std::int64_t cycle = p_.first_cycle + (random_ ? 0 : group_ / p_.groups_per_cycle);
    Draw draw{};
    if (lane_ < own_count_) {
      draw = draw_trial(p_.law, cycle, index, replica_, my_sites_ > 1);
      allowed = draw.factor * p_.view.kT[replica_];
    }
    shared_.allowed[lane_] = allowed;
    wait_for_own_molecules();
    Position* proposal = p_.proposal + place_ * 64 * width_;
    if (lane_ < own_count_) {
      place_trial(draw, proposal);
    } else {
      for (std::uint32_t k = 0; k < width_; ++k)
        own_old_[lane_ * width_ + k] = own_new_[lane_ * width_ + k] = {};
    }
    __threadfence();
    __syncwarp();
    if (lane_ == 0) store_release(p_.proposed + place_, 1);
  }

  /// Until the decisions about all earlier moves of the group's molecules have arrived.
  __device__ __forceinline__ void wait_for_own_molecules() const {
    std::uint32_t needed = 0;  // decided groups
    if (random_) {
      if (lane_ < own_count_)
        needed = p_.last_group[p_.group_begin[group_] + lane_] + 1;  // never: 0
      needed = __reduce_max_sync(~0u, needed);
    } else if (group_ >= p_.groups_per_cycle) {
      needed = group_ - p_.groups_per_cycle + 1;
    }
    while (load_acquire(decided_) < needed) {
    }
  }

  /// This lane's molecule before and after its trial move.
  __device__ __forceinline__ void place_trial(const Draw& draw, Position* proposal) const {
    const std::size_t entry = std::size_t(replica_) * p_.view.molecules + my_molecule_;
    const Position centre = load_fresh(p_.view.centre + entry);
    const Position new_centre = moved(centre, draw);
    Quaternion new_orientation = load_fresh(p_.view.orientation + entry);
    if (my_sites_ > 1) new_orientation = turned(new_orientation, draw);
    shared_.trial[lane_] = {new_centre, new_orientation};
    const std::uint32_t first = p_.view.template_first[centre.type()];
    for (std::uint32_t k = 0; k < my_sites_; ++k) {
      const std::uint32_t at = lane_ * width_ + k;
      const Position old = load_fresh(sites_ + p_.view.first_site[my_molecule_] + k);
      const Position fresh = place_site(new_centre, new_orientation, p_.view.local[first + k],
                                        old.type(), p_.law.per_unit);
      own_old_[at] = proposal[at] = old;
      own_new_[at] = proposal[32 * width_ + at] = fresh;
    }
  }

  /// 2. The group itself: this warp's share of its members, where they are and where they may go.
  __device__ __forceinline__ void meet_own_group() {
    for (std::uint32_t a = share_begin_; a < share_begin_ + share_ && a < own_count_; ++a) {
      const std::uint32_t n = __shfl_sync(~0u, my_sites_, int(a));
      T with_old = 0, with_new = 0;
      for (std::uint32_t k = 0; k < n; ++k) {
        with_old += own_.change(own_old_[a * width_ + k], p_.scale);
        with_new += own_.change(own_new_[a * width_ + k], p_.scale);
      }
      if (lane_ < a) change_ += double(with_old);  // decided before `a` can have moved
      shared_.choices[a * 32 + lane_] = with_old;
      shared_.choices[1024 + a * 32 + lane_] = with_new;
    }
  }

  /// 2. Group number b before this one. Of groups that an earlier launch decided both alternatives
  /// are where they are now; in a random order nothing is before the launch.
  __device__ __forceinline__ void meet_band(std::uint32_t b) {
    const std::int64_t other = std::int64_t(group_) - b;
    const bool open = other >= 0;
    while (open && load_acquire(p_.proposed + place_ - b) == 0) {
    }
    const std::uint32_t count = members_.count(other), to_new = open ? 32 * width_ : 0;
    for (std::uint32_t a = share_begin_; a < share_begin_ + share_; ++a) {
      T* choices = shared_.choices + b * 2048 + a * 32 + lane_;
      choices[0] = choices[1024] = 0;
      const std::uint32_t m = a < count ? members_.molecule(other, a) : RandomSchedule::never;
      if (m == RandomSchedule::never) continue;
      const std::uint32_t first = S > 0 ? m * S : p_.view.first_site[m];
      const std::uint32_t m_sites = S > 0 ? S : p_.view.first_site[m + 1] - first;
      const Position* from = open ? p_.proposal + ((place_ - b) * 64 + a) * width_ : sites_ + first;
      for (std::uint32_t done = 0; done < m_sites; done += 32) {
        const std::uint32_t n = m_sites - done < 32 ? m_sites - done : 32;
        if (lane_ < n) {
          stage_old_[lane_] = load_fresh(from + done + lane_);
          stage_new_[lane_] = load_fresh(from + to_new + done + lane_);
        }
        __syncwarp();
        add_alternatives(choices, n);
        __syncwarp();
      }
    }
  }

  /// The staged sites, as they are and as they may become. By the same instructions for both: of
  /// two copies of this loop a compiler may fuse and so round differently, and bits would depend on
  /// which launch a group was part of.
  __device__ __forceinline__ void add_alternatives(T* choices, std::uint32_t n) const {
#pragma unroll 1
    for (std::uint32_t alternative = 0; alternative < 2; ++alternative) {
      const Position* stage = stage_old_ + 32 * alternative;
      T sum = choices[1024 * alternative];
      for (std::uint32_t k = 0; k < n; ++k) sum += own_.change(stage[k], p_.scale);
      choices[1024 * alternative] = sum;
    }
  }

  /// Whether group g has been decided; does not wait.
  __device__ __forceinline__ bool arrived(std::int64_t g) {
    if (g >= known_) known_ = load_acquire(decided_);
    return g < known_;
  }

  /// Site `e` of the warp's share of group g, or no_site().
  __device__ __forceinline__ Position fetch(std::int64_t g, std::uint32_t e) const {
    Position q = no_site();
    const std::uint32_t a = share_begin_ + e / width_, k = e % width_;
    if (e < share_ * width_ && a < members_.count(g)) {
      const std::uint32_t m = members_.molecule(g, a);
      if (m != RandomSchedule::never) {
        const std::uint32_t first = S > 0 ? m * S : p_.view.first_site[m];
        if (S > 0 || k < p_.view.first_site[m + 1] - first) q = load_fresh(sites_ + first + k);
      }
    }
    return q;
  }

  /// 3. All other molecules. The next group's sites are on their way while one's are looked at.
  __device__ __forceinline__ void meet_others() {
    const std::int64_t last = std::int64_t(group_) - band_;  // one past
    std::int64_t other = random_ ? -std::int64_t(p_.groups_per_cycle)
                                 : std::int64_t(group_) - p_.groups_per_cycle + 1;
    const std::uint32_t entries = share_ * width_;
    Position next = no_site();
    bool have_next = false;
    for (; other < last; ++other) {
      if (!have_next) {
        while (!arrived(other)) {
        }
        next = fetch(other, lane_);
      }
      T sum = 0;
      for (std::uint32_t from = 0; from < entries; from += 32) {
        if (from > 0) next = fetch(other, from + lane_);
        stage_old_[lane_] = next;
        __syncwarp();
        if (from + 32 >= entries) {
          have_next = other + 1 < last && arrived(other + 1);
          if (have_next) next = fetch(other + 1, lane_);
        }
        const std::uint32_t n = entries - from < 32 ? entries - from : 32;
        for (std::uint32_t k = 0; k < n; ++k) {
          const Position q = stage_old_[k];
          if (q.tail != no_site().tail) sum += own_.change(q, p_.scale);
        }
        __syncwarp();
      }
      change_ += double(sum);
    }
  }

  /// 4. The decisions of the band, then the group's own: a bit for each accepted move.
  __device__ __forceinline__ std::uint32_t decide() {
    change_ = 0;
    for (std::uint32_t w = 0; w < warps_; ++w) change_ += shared_.partial[w * 32 + lane_];
    for (std::uint32_t b = band_; b >= 1; --b) {
      // Of an earlier launch: no molecule moves.
      unsigned long long word = b > group_ ? 1ull << 32 : 0;
      while (word == 0) word = load_word(p_.decision + place_ - b);
      const std::uint32_t bits = std::uint32_t(word);
      const T* choices = shared_.choices + b * 2048 + lane_;
      double sum[4] = {0, 0, 0, 0};
#pragma unroll
      for (std::uint32_t a = 0; a < 32; ++a)
        sum[a % 4] += double(choices[(bits >> a & 1u) * 1024 + a * 32]);
      change_ += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    const double allowed = shared_.allowed[lane_];
    std::uint32_t accepted = 0;
#pragma unroll 8
    for (std::uint32_t a = 0; a < 32; ++a) {
      const double stays = double(shared_.choices[a * 32 + lane_]);
      const double moves = double(shared_.choices[1024 + a * 32 + lane_]);
      if (a >= own_count_) break;
      const std::uint32_t yes = __ballot_sync(~0u, change_ <= allowed) >> a & 1u;
      accepted |= yes << a;
      if (lane_ > a) change_ += yes ? moves : stays;
    }
    return accepted;
  }

  /// 5. Decisions and new coordinates, to the other blocks.
  __device__ __forceinline__ void publish(std::uint32_t accepted) const {
    if (lane_ == 0) store_word(p_.decision + place_, 1ull << 32 | accepted);
    const bool mine = accepted >> lane_ & 1u;
    if (mine) {
      const std::size_t entry = std::size_t(replica_) * p_.view.molecules + my_molecule_;
      Position* to =
          p_.view.site + std::size_t(replica_) * p_.view.sites + p_.view.first_site[my_molecule_];
      for (std::uint32_t k = 0; k < my_sites_; ++k) to[k] = own_new_[lane_ * width_ + k];
      p_.view.centre[entry] = shared_.trial[lane_].centre;
      if (my_sites_ > 1) p_.view.orientation[entry] = shared_.trial[lane_].orientation;
    }
    __threadfence();
    __syncwarp();
    if (lane_ == 0) {
      // The sites of the group before may still be on their way although its decision has come.
      while (load_acquire(decided_) < group_) {
      }
      store_release(p_.decided + replica_, group_ + 1);
    }
    double total = mine ? change_ : 0, later = mine ? change_ * double(moves_from_here()) : 0;
    for (int k = 16; k > 0; k /= 2) {
      total += __shfl_xor_sync(~0u, total, k);
      later += __shfl_xor_sync(~0u, later, k);
    }
    if (lane_ == 0) p_.change[place_] = total;
    if (lane_ == 0) p_.later[place_] = later;
  }

  const Pipeline<T>& p_;
  const PipelineMemory<T>& shared_;
  std::uint32_t warps_, warp_, lane_, width_;
  std::uint32_t group_, replica_;
  std::size_t place_;  // of the group in the arrays
  GroupMembers<T> members_;
  bool random_;
  std::uint32_t own_count_, band_;
  std::uint32_t share_, share_begin_;  // a warp's members of every group: how many, the first
  const Position* sites_;              // of the replica
  const std::uint32_t* decided_;       // groups of the replica
  Position *own_old_, *own_new_;       // of the group's molecules
  Position *stage_old_, *stage_new_;   // of this warp
  std::uint32_t my_molecule_ = 0, my_sites_ = 0;  // of this lane's move
  OwnSites<T, E, S> own_;
  double change_ = 0;       // of the energy by this lane's move, so far
  std::int64_t known_ = 0;  // number of groups known to have been decided
};

// At most 64 registers: two blocks of the largest size to a multiprocessor.
template <class T, class E, int S>
__global__ void __launch_bounds__(512, 2) pipelined_kernel(const __grid_constant__ Pipeline<T> p) {
  const std::uint32_t width = S > 0 ? std::uint32_t(S) : p.width;
  const auto shared =
      PipelineMemory<T>::layout(block_memory(), p.view.types, width, blockDim.x / 32, p.band).first;
  if (threadIdx.x == 0) *shared.number = atomicAdd(p.taken, 1u);
  for (std::uint32_t k = threadIdx.x; k < p.view.types * p.view.types; k += blockDim.x)
    shared.rows[k] = p.rows[k];
  __syncthreads();
  GroupBlock<T, E, S>(p, shared).run();
}

/// Adds what a launch has changed: the groups of a cycle in the order of a fixed tree, cycle after
/// cycle, so that the sum does not depend on how many cycles a launch has.
template <class T>
__global__ void __launch_bounds__(256)
    pipelined_sums_kernel(const __grid_constant__ Pipeline<T> p) {
  __shared__ double energy[256], later[256];
  __shared__ unsigned accepted[256];
  const std::size_t first = std::size_t(blockIdx.x) * p.groups;
  const std::uint32_t per_cycle = p.molecule != nullptr ? p.groups : p.groups_per_cycle;
  const std::uint32_t cycles = p.groups / per_cycle, warp = threadIdx.x / 32,
                      lane = threadIdx.x % 32;
  double total = threadIdx.x == 0 ? p.view.energy[blockIdx.x] : 0;
  double steps = threadIdx.x == 0 ? p.view.step_energy[blockIdx.x] : 0;
  unsigned long long moves = 0;
  for (std::uint32_t begin = 0; begin < cycles; begin += 256) {
    const std::uint32_t n = cycles - begin < 256 ? cycles - begin : 256;
    for (std::uint32_t c = warp; c < n; c += 8) {
      double e = 0, l = 0;
      unsigned count = 0;
      for (std::uint32_t g = lane; g < per_cycle; g += 32) {
        const std::size_t place = first + std::size_t(begin + c) * per_cycle + g;
        e += p.change[place];
        l += p.later[place];
        count += unsigned(__popc(unsigned(p.decision[place])));
      }
      for (int k = 16; k > 0; k /= 2) {
        e += __shfl_xor_sync(~0u, e, k);
        l += __shfl_xor_sync(~0u, l, k);
        count += __shfl_xor_sync(~0u, count, k);
      }
      if (lane == 0) {
        energy[c] = e;
        later[c] = l;
        accepted[c] = count;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (std::uint32_t c = 0; c < n; ++c) {
        steps += total * double(p.view.molecules) + later[c];
        total += energy[c];
        moves += accepted[c];
      }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    p.view.energy[blockIdx.x] = total;
    p.view.step_energy[blockIdx.x] = steps;
    p.view.accepted[blockIdx.x] += moves;
  }
}

}  // namespace perrin::metropolis
