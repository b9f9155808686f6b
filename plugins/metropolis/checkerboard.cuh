// The checkerboard on the GPU: a group of 8 to 32 lanes moves the particles of one domain.
//
// The group copies the domain and every particle within the cut-off of it into shared memory, once.
// Then, particle by particle: the particles near enough to matter are found there and kept in
// registers, a few per lane, and serve all trials of the particle. Groups of a warp run in step:
// every loop goes as far as the group that needs it most, and the others idle.
#pragma once

#include "engine/parallel.h"
#include "plugins/metropolis/checkerboard_model.h"

namespace perrin::metropolis {

template <int Lanes>
struct LaneGroup {
  static constexpr unsigned all = 0xffffffffu;
  int lane;         // in the group
  unsigned offset;  // of the group in the warp

  __device__ LaneGroup() : lane(int(threadIdx.x) % Lanes), offset(threadIdx.x % 32 / Lanes * Lanes) {}

  /// One bit per lane of the group.
  __device__ __forceinline__ unsigned ballot(bool bit) const {
    const unsigned word = __ballot_sync(all, bit);
    if constexpr (Lanes == 32) return word;
    return (word >> offset) & ((1u << (Lanes % 32)) - 1);
  }
  __device__ __forceinline__ int before(unsigned bits) const { return __popc(bits & ((1u << lane) - 1)); }
  __device__ __forceinline__ static int warp_max(int value) { return __reduce_max_sync(all, value); }
  template <class T>
  __device__ __forceinline__ static T sum(T value) {
    for (int k = Lanes / 2; k > 0; k /= 2) value += __shfl_xor_sync(all, value, k);
    return value;
  }
  template <class T>
  __device__ __forceinline__ static T from(T value, int lane_) {
    return __shfl_sync(all, value, lane_, Lanes);
  }
};

/// A group's part of the shared memory. The domain's own particles come first.
template <bool OneType>
struct Staged {
  Real *x, *y, *z;
  std::uint32_t *first, *base;  // of the 27 cells: offsets in the sequence of all, and memory - offset
  std::uint16_t* list;
  std::uint16_t* type;

  static std::size_t bytes(int capacity, int list_capacity) {
    const std::size_t size = std::size_t(capacity) * (3 * sizeof(Real) + (OneType ? 0 : 2)) + 56 * 4 +
                             std::size_t(list_capacity) * 2;
    return (size + 15) / 16 * 16;
  }
  __device__ Staged(char* memory, int capacity, int list_capacity)
      : x(reinterpret_cast<Real*>(memory)), y(x + capacity), z(y + capacity),
        first(reinterpret_cast<std::uint32_t*>(z + capacity)), base(first + 28),
        list(reinterpret_cast<std::uint16_t*>(base + 28)), type(list + list_capacity) {}
};

template <class E, int Lanes, int Slots, bool OneType>
class DomainKernel {
 public:
  static constexpr int threads = 128, groups = threads / Lanes, list_capacity = Slots * Lanes;
  using Group = LaneGroup<Lanes>;
  using Coefficients = typename E::Coefficients;

  __device__ DomainKernel(const CheckerboardSweep<E>& v, char* memory, int capacity, std::int64_t d)
      : v_(v), real_(d < v.domains()), d_(real_ ? d : 0), cell_(v.domain(d_)),
        domain_(v.grid, cell_, v.scale), s_(memory, capacity, list_capacity), capacity_(capacity),
        coefficients_(v.table[0]) {}

  __device__ __forceinline__ void run() {
    stage();
    const int visits = Group::warp_max(own_);
    Position next{};
    std::uint32_t next_id = 0;
    if (own_ > 0) next = v_.position[begin_], next_id = v_.id[begin_];
    for (int p = 0; p < visits; ++p) {
      const Position now = next;
      const std::uint32_t id = next_id;
      if (p + 1 < own_) next = v_.position[begin_ + p + 1], next_id = v_.id[begin_ + p + 1];
      visit(p, now, id);
    }
    if (group_.lane == 0 && real_) {
      v_.energy[d_] += energy_;
      v_.accepted[d_] += accepted_;
    }
  }

 private:
  __device__ __forceinline__ void stage() {
    int total = 0;
    for (int k0 = 0; k0 < 27; k0 += Lanes) {
      const int k = k0 + group_.lane;
      std::uint32_t begin = 0;
      int n = 0;
      if (k < 27 && real_) {
        const std::int32_t c = v_.grid.neighbor(cell_, k);
        begin = v_.start[c];
        n = int(v_.start[c + 1] - begin);
      }
      if (k0 == 0) {
        begin_ = Group::from(begin, 0);
        own_ = Group::from(n, 0);
      }
      int sum = n;
      for (int step = 1; step < Lanes; step *= 2) {
        const int other = __shfl_up_sync(Group::all, sum, step, Lanes);
        if (group_.lane >= step) sum += other;
      }
      if (k < 27) {
        s_.first[k] = std::uint32_t(total + sum - n);
        s_.base[k] = begin - std::uint32_t(total + sum - n);
      }
      total += Group::from(sum, Lanes - 1);
    }
    if (group_.lane == 0) s_.first[27] = std::uint32_t(total);
    total_ = total;
    __syncwarp();

    count_ = 0;
    const int longest = Group::warp_max(total);
    int k = 0;
    for (int t0 = 0; t0 < longest; t0 += Lanes) {
      const int t = t0 + group_.lane;
      bool keep = false;
      Real3 r;
      std::uint32_t type = 0;
      if (t < total) {
        const Position p = v_.position[memory(t, k)];
        type = p.type;
        r = domain_.point(domain_.local(p));
        keep = t < own_ || domain_.beyond2(r) < v_.range2;
      }
      const unsigned bits = group_.ballot(keep);
      const int to = count_ + group_.before(bits);
      if (keep && to < capacity_) {
        s_.x[to] = r.x, s_.y[to] = r.y, s_.z[to] = r.z;
        if constexpr (!OneType) s_.type[to] = std::uint16_t(type);
      }
      count_ += __popc(bits);
    }
    crowded_ = count_ > capacity_;
    __syncwarp();
  }

  /// Where the t-th particle of the 27 cells is; k: a cell not behind it, moved on.
  __device__ __forceinline__ std::uint32_t memory(int t, int& k) const {
    while (std::uint32_t(t) >= s_.first[k + 1]) ++k;
    return s_.base[k] + std::uint32_t(t);
  }

  __device__ __forceinline__ const Coefficients& coefficients(std::uint32_t type, std::uint32_t other) const {
    if constexpr (OneType) return coefficients_;
    return v_.table[type * v_.types + other];
  }

  __device__ __forceinline__ static Real distance2(Real3 r, Real x, Real y, Real z) {
    x -= r.x, y -= r.y, z -= r.z;
    return x * x + y * y + z * z;
  }

  /// Energy of particle p at r with all staged particles, or with all of the 27 cells where those
  /// did not fit: for the rare cases.
  __device__ __forceinline__ Real scan(int p, std::uint32_t type, Real3 r, bool wanted) const {
    Real sum = 0;
    const int n = !wanted ? 0 : crowded_ ? total_ : count_;
    int k = 0;
    for (int t = group_.lane; t < n; t += Lanes) {
      Real3 other;
      std::uint32_t other_type = 0;
      if (crowded_) {
        const Position q = v_.position[memory(t, k)];
        other = domain_.point(domain_.local(q));
        other_type = q.type;
      } else {
        other = {s_.x[t], s_.y[t], s_.z[t]};
        if constexpr (!OneType) other_type = s_.type[t];
      }
      const Real e = CheckerboardSweep<E>::pair_energy(distance2(r, other.x, other.y, other.z),
                                                       coefficients(type, other_type));
      if (t != p) sum += e;
    }
    __syncwarp();
    return sum;
  }

  __device__ __forceinline__ void visit(int p, const Position& now, std::uint32_t id) {
    const bool mine = p < own_;
    Vec3<std::int32_t> at = domain_.local(now);
    Real3 r = domain_.point(at);
    const Real3 start = r;

    // The candidates.
    int listed = 0;
    const int n = mine && !crowded_ ? count_ : 0;
    const int longest = Group::warp_max(n);
    for (int t0 = 0; t0 < longest; t0 += Lanes) {
      const int t = t0 + group_.lane;
      bool near = false;
      if (t < n) near = distance2(r, s_.x[t], s_.y[t], s_.z[t]) < v_.list2 && t != p;
      const unsigned bits = group_.ballot(near);
      const int to = listed + group_.before(bits);
      if (near && to < list_capacity) s_.list[to] = std::uint16_t(t);
      listed += __popc(bits);
    }
    const bool scanned = mine && (crowded_ || listed > list_capacity);
    __syncwarp();
    Real x[Slots], y[Slots], z[Slots];
    std::uint32_t row[OneType ? 1 : Slots];
#pragma unroll
    for (int k = 0; k < Slots; ++k) {
      const int at_list = k * Lanes + group_.lane;
      x[k] = y[k] = z[k] = checkerboard_far;
      if constexpr (!OneType) row[k] = now.type * v_.types;
      if (at_list < listed && !scanned) {
        const int t = s_.list[at_list];
        x[k] = s_.x[t], y[k] = s_.y[t], z[k] = s_.z[t];
        if constexpr (!OneType) row[k] += s_.type[t];
      }
    }
    const auto listed_energy = [&](Real3 to) {
      Real sum = 0;
#pragma unroll
      for (int k = 0; k < Slots; ++k)
        sum += CheckerboardSweep<E>::pair_energy(distance2(to, x[k], y[k], z[k]),
                                                 OneType ? coefficients_ : v_.table[row[OneType ? 0 : k]]);
      return sum;
    };

    Real before = listed_energy(r);
    if (__any_sync(Group::all, scanned)) {
      const Real all = scan(p, now.type, r, scanned);
      if (scanned) before = all;
    }
    before = Group::sum(before);
    const Real first = before;
    bool moved = false;

    CheckerboardTrial mine_of{};
    for (int trial = 0; trial < v_.trials; ++trial) {
      if (trial % Lanes == 0)
        mine_of = CheckerboardTrial::draw(v_.key, v_.sweep, id, std::uint32_t(trial + group_.lane),
                                          v_.step, v_.kT);
      const int from = trial % Lanes;
      const Vec3<std::int32_t> to =
          displaced(at, {Group::from(mine_of.move.x, from), Group::from(mine_of.move.y, from),
                         Group::from(mine_of.move.z, from)});
      const Real threshold = Group::from(mine_of.threshold, from);
      const bool inside = mine && domain_.inside(to);
      const Real3 r_to = domain_.point(to);
      Real after = listed_energy(r_to);
      const bool far = inside && (scanned || distance2(start, r_to.x, r_to.y, r_to.z) > v_.margin2);
      if (__any_sync(Group::all, far)) {
        const Real all = scan(p, now.type, r_to, far);
        if (far) after = all;
      }
      after = Group::sum(after);
      if (inside && after - before <= threshold) {
        at = to;
        r = r_to;
        before = after;
        moved = true;
        ++accepted_;
      }
    }

    if (moved) {
      energy_ += double(before) - double(first);
      if (group_.lane == 0) {
        if (!crowded_) s_.x[p] = r.x, s_.y[p] = r.y, s_.z[p] = r.z;
        v_.position[begin_ + p] = {std::uint32_t(at.x) + domain_.center.x,
                                   std::uint32_t(at.y) + domain_.center.y,
                                   std::uint32_t(at.z) + domain_.center.z, now.type};
      }
    }
    __syncwarp();
  }

  const CheckerboardSweep<E>& v_;
  Group group_;
  bool real_;
  std::int64_t d_;
  Vec3<std::int32_t> cell_;
  CheckerboardDomain domain_;
  Staged<OneType> s_;
  int capacity_;
  Coefficients coefficients_;
  std::uint32_t begin_ = 0;
  int own_ = 0, total_ = 0, count_ = 0;
  bool crowded_ = false;
  double energy_ = 0;
  std::uint32_t accepted_ = 0;
};

template <class E, int Lanes, int Slots, bool OneType>
__global__ void __launch_bounds__(128)
    checkerboard_domains(const __grid_constant__ CheckerboardSweep<E> v, int capacity,
                         std::size_t bytes, const std::uint32_t* halt) {
  extern __shared__ __align__(16) char shared[];
  if (*halt) return;
  using Kernel = DomainKernel<E, Lanes, Slots, OneType>;
  const int group = int(threadIdx.x) / Lanes;
  Kernel kernel(v, shared + group * bytes, capacity,
                std::int64_t(blockIdx.x) * Kernel::groups + group);
  kernel.run();
}

}  // namespace perrin::metropolis
