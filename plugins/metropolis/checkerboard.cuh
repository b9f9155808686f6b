// The checkerboard on the GPU: a group of 8 to 32 lanes moves the particles of one domain.
//
// The group copies the domain and every particle within the cut-off of it into shared memory, once.
// Then, particle by particle: the particles near enough to matter are found there and kept in
// registers, a few per lane, and serve all trials of the particle. Groups of a warp run in step:
// every loop goes as far as the group that needs it most, and the others idle.
#pragma once

#include "engine/core/parallel.h"
#include "plugins/metropolis/checkerboard_model.h"

namespace perrin::metropolis {

template <int Lanes>
struct LaneGroup {
  static constexpr unsigned all = 0xffffffffu;
  int lane;         // in the group
  unsigned offset;  // of the group in the warp

  __device__ LaneGroup()
      : lane(int(threadIdx.x) % Lanes), offset(threadIdx.x % 32 / Lanes * Lanes) {}

  /// One bit per lane of the group.
  __device__ __forceinline__ unsigned ballot(bool bit) const {
    const unsigned word = __ballot_sync(all, bit);
    if constexpr (Lanes == 32) return word;
    return (word >> offset) & ((1u << (Lanes % 32)) - 1);
  }
  __device__ __forceinline__ int before(unsigned bits) const {
    return __popc(bits & ((1u << lane) - 1));
  }
  __device__ __forceinline__ static int warp_max(int value) {
    return __reduce_max_sync(all, value);
  }
  template <class T>
  __device__ __forceinline__ static T sum(T value) {
    for (int k = Lanes / 2; k > 0; k /= 2) value += __shfl_xor_sync(all, value, k);
    return value;
  }
  __device__ __forceinline__ static int running_sum(int value, int lane_) {
    for (int step = 1; step < Lanes; step *= 2) {
      const int other = __shfl_up_sync(all, value, step, Lanes);
      if (lane_ >= step) value += other;
    }
    return value;
  }
  template <class T>
  __device__ __forceinline__ static T from(T value, int lane_) {
    return __shfl_sync(all, value, lane_, Lanes);
  }
};

/// A group's part of the shared memory. The domain's own particles come first.
template <class T, bool OneType>
struct Staged {
  T *x, *y, *z;
  std::uint32_t *first,
      *base;  // of the 27 cells: offsets in the sequence of all, and memory - offset
  std::uint16_t* list;
  std::uint16_t* type;

  static std::size_t bytes(int capacity, int list_capacity) {
    const std::size_t size = std::size_t(capacity) * (3 * sizeof(T) + (OneType ? 0 : 2)) + 56 * 4 +
                             std::size_t(list_capacity) * 2;
    return (size + 15) / 16 * 16;
  }
  __device__ Staged(char* memory, int capacity, int list_capacity)
      : x(reinterpret_cast<T*>(memory)),
        y(x + capacity),
        z(y + capacity),
        first(reinterpret_cast<std::uint32_t*>(z + capacity)),
        base(first + 28),
        list(reinterpret_cast<std::uint16_t*>(base + 28)),
        type(list + list_capacity) {}
};

/// P: the energy of a pair, CutLennardJones or AnyPair.
template <class P, class T, int Lanes, int Slots, bool OneType>
class DomainKernel {
 public:
  static constexpr int threads = 64, groups = threads / Lanes, list_capacity = Slots * Lanes;
  using Group = LaneGroup<Lanes>;
  using Coefficients = PairRow<T>;

  __device__ DomainKernel(const CheckerboardSweep<T>& v, char* memory, int capacity, std::int64_t d)
      : v_(v),
        real_(d < v.domains()),
        d_(real_ ? d : 0),
        cell_(v.domain(d_)),
        domain_(v.grid, cell_, v.scale),
        s_(memory, capacity, list_capacity),
        capacity_(capacity),
        coefficients_(v.table[0]) {}

  __device__ __forceinline__ void run() {
    stage();
    const int visits = Group::warp_max(own_);
    Position next{};
    if (own_ > 0) next = v_.position[begin_];
    for (int p = 0; p < visits; ++p) {
      const Position now = next;
      if (p + 1 < own_) next = v_.position[begin_ + p + 1];
      visit(p, now);
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
      const int sum = Group::running_sum(n, group_.lane);
      if (k < 27) {
        s_.first[k] = std::uint32_t(total + sum - n);
        s_.base[k] = begin - std::uint32_t(total + sum - n);
      }
      total += Group::from(sum, Lanes - 1);
    }
    if (group_.lane == 0) s_.first[27] = std::uint32_t(total);
    total_ = total;
    __syncwarp();

    // The next positions are on their way while one round's are looked at.
    count_ = 0;
    const int longest = Group::warp_max(total);
    int k = 0;
    Position next[2]{};
#pragma unroll
    for (int ahead = 0; ahead < 2; ++ahead) {
      const int t = ahead * Lanes + group_.lane;
      if (t < total) next[ahead] = v_.position[memory(t, k)];
    }
    for (int t0 = 0; t0 < longest; t0 += Lanes) {
      const int t = t0 + group_.lane;
      const Position p = next[0];
      next[0] = next[1];
      if (t + 2 * Lanes < total) next[1] = v_.position[memory(t + 2 * Lanes, k)];
      const Vec3<T> r = domain_.point(domain_.local(p));
      const bool keep = t < own_ || (t < total && domain_.beyond2(r) < v_.range2);
      const unsigned bits = group_.ballot(keep);
      const int to = count_ + group_.before(bits);
      if (keep && to < capacity_) {
        s_.x[to] = r.x, s_.y[to] = r.y, s_.z[to] = r.z;
        if constexpr (!OneType) s_.type[to] = std::uint16_t(p.type());
      }
      count_ += __popc(bits);
    }
    crowded_ = count_ > capacity_;
    constexpr int block = 4 * Lanes;
    padded_ = (Group::warp_max(crowded_ ? 0 : count_) + block - 1) / block * block;
    for (int t = count_ + group_.lane; t < padded_; t += Lanes)
      s_.x[t] = s_.y[t] = s_.z[t] = checkerboard_far<T>;
    __syncwarp();
  }

  /// Where the t-th particle of the 27 cells is; k: a cell not behind it, moved on.
  __device__ __forceinline__ std::uint32_t memory(int t, int& k) const {
    while (std::uint32_t(t) >= s_.first[k + 1]) ++k;
    return s_.base[k] + std::uint32_t(t);
  }

  __device__ __forceinline__ const Coefficients& coefficients(std::uint32_t type,
                                                              std::uint32_t other) const {
    if constexpr (OneType) return coefficients_;
    return v_.table[type * v_.types + other];
  }

  __device__ __forceinline__ static T distance2(Vec3<T> r, T x, T y, T z) {
    x -= r.x, y -= r.y, z -= r.z;
    return x * x + y * y + z * z;
  }

  /// Energy of particle p at r with all staged particles, or with all of the 27 cells where those
  /// did not fit: for the rare cases.
  __device__ __forceinline__ T scan(int p, std::uint32_t type, Vec3<T> r, bool wanted) const {
    T sum = 0;
    const int n = !wanted ? 0 : crowded_ ? total_ : count_;
    int k = 0;
    for (int t = group_.lane; t < n; t += Lanes) {
      Vec3<T> other;
      std::uint32_t other_type = 0;
      if (crowded_) {
        const Position q = v_.position[memory(t, k)];
        other = domain_.point(domain_.local(q));
        other_type = q.type();
      } else {
        other = {s_.x[t], s_.y[t], s_.z[t]};
        if constexpr (!OneType) other_type = s_.type[t];
      }
      const T e =
          P::energy(distance2(r, other.x, other.y, other.z), coefficients(type, other_type));
      if (t != p) sum += e;
    }
    __syncwarp();
    return sum;
  }

  struct alignas(16) Quad {
    T at[4];
  };
  __device__ __forceinline__ static Quad quad(const T* of) {
    return *reinterpret_cast<const Quad*>(of);
  }

  /// Shifts a bit into `bits`: whether (x, y, z) is nearer to r than the root of limit2.
  __device__ __forceinline__ static std::uint32_t append_near(std::uint32_t bits, Vec3<T> r, T x,
                                                              T y, T z, T limit2) {
    x -= r.x, y -= r.y, z -= r.z;
    const T beyond = z * z + (y * y + (x * x - limit2));
    if constexpr (sizeof(T) == 4)
      return __funnelshift_l(__float_as_uint(float(beyond)), bits, 1);
    else
      return bits * 2 + (beyond < T(0) ? 1 : 0);
  }

  /// Lists the staged particles near r and returns their number. A lane looks at four in a row,
  /// again and again, and keeps a bit of each; the lanes' counts tell where each of them writes.
  __device__ __forceinline__ int find_near(Vec3<T> r) {
    int listed = 0;
    for (int t0 = 0; t0 < padded_; t0 += 32 * Lanes) {
      std::uint32_t bits = 0;
      int looked = 0;
      for (; looked < 32 && t0 + looked * Lanes < padded_; looked += 4) {
        const int t = t0 + looked * Lanes + 4 * group_.lane;
        const Quad x = quad(s_.x + t), y = quad(s_.y + t), z = quad(s_.z + t);
#pragma unroll
        for (int k = 0; k < 4; ++k)
          bits = append_near(bits, r, x.at[k], y.at[k], z.at[k], v_.list2);
      }
      const int found = __popc(bits);
      const int end = Group::running_sum(found, group_.lane);
      int to = listed + end - found;
      bits <<= 32 - looked;  // the first is the highest
      for (; bits != 0; ++to) {
        const int k = __clz(int(bits));
        bits ^= 0x80000000u >> k;
        const int t = t0 + (k & ~3) * Lanes + 4 * group_.lane + (k & 3);
        if (to < list_capacity) s_.list[to] = std::uint16_t(t);
      }
      listed += Group::from(end, Lanes - 1);
    }
    return listed;
  }

  /// The random numbers of this visit's trial; every lane draws those of one of the next trials.
  __device__ __forceinline__ CheckerboardTrial<T> trial(int p, int number) {
    const int sequence = p * v_.trials + number, from = sequence % Lanes;
    if (from == 0) {
      const int of = (sequence + group_.lane) / v_.trials;
      const std::uint32_t id = of < own_ ? v_.id[begin_ + of] : 0;
      drawn_ = CheckerboardTrial<T>::draw(v_.key, v_.sweep, id,
                                          std::uint32_t(sequence + group_.lane - of * v_.trials),
                                          v_.step, v_.kT);
    }
    return {{Group::from(drawn_.move.x, from), Group::from(drawn_.move.y, from),
             Group::from(drawn_.move.z, from)},
            Group::from(drawn_.threshold, from)};
  }

  __device__ __forceinline__ void visit(int p, const Position& now) {
    const bool mine = p < own_;
    Vec3<std::int32_t> at = domain_.local(now);
    Vec3<T> r = domain_.point(at);
    const Vec3<T> start = r;

    const bool keeps = mine && !crowded_ && group_.lane == 0;
    if (keeps) s_.x[p] = checkerboard_far<T>;  // it is no neighbour of its own
    __syncwarp();
    const int near = find_near(r);
    const int listed = mine ? near : 0;
    const bool scanned = mine && (crowded_ || listed > list_capacity);
    __syncwarp();
    T x[Slots], y[Slots], z[Slots];
    std::uint32_t row[OneType ? 1 : Slots];
#pragma unroll
    for (int k = 0; k < Slots; ++k) {
      const int place = k * Lanes + group_.lane;
      x[k] = y[k] = z[k] = checkerboard_far<T>;
      if constexpr (!OneType) row[k] = now.type() * v_.types;
      if (place < listed && !scanned) {
        const int t = s_.list[place];
        x[k] = s_.x[t], y[k] = s_.y[t], z[k] = s_.z[t];
        if constexpr (!OneType) row[k] += s_.type[t];
      }
    }
    const auto listed_energy = [&](Vec3<T> to) {
      T sum = 0;
#pragma unroll
      for (int k = 0; k < Slots; ++k)
        sum += P::energy(distance2(to, x[k], y[k], z[k]),
                         OneType ? coefficients_ : v_.table[row[OneType ? 0 : k]]);
      return sum;
    };

    T before = listed_energy(r);
    if (__any_sync(Group::all, scanned)) {
      const T all = scan(p, now.type(), r, scanned);
      if (scanned) before = all;
    }
    before = bounded(Group::sum(before));
    const T first = before;
    bool moved = false;

    for (int t = 0; t < v_.trials; ++t) {
      const CheckerboardTrial<T> tried = trial(p, t);
      const Vec3<std::int32_t> to = displaced(at, tried.move);
      const bool inside = mine && domain_.inside(to);
      const Vec3<T> r_to = domain_.point(to);
      T after = listed_energy(r_to);
      const bool far = inside && (scanned || distance2(start, r_to.x, r_to.y, r_to.z) > v_.margin2);
      if (__any_sync(Group::all, far)) {
        const T all = scan(p, now.type(), r_to, far);
        if (far) after = all;
      }
      after = bounded(Group::sum(after));
      if (inside && after - before <= tried.threshold) {
        at = to;
        r = r_to;
        before = after;
        moved = true;
        ++accepted_;
      }
    }

    if (keeps) s_.x[p] = r.x, s_.y[p] = r.y, s_.z[p] = r.z;
    if (moved) {
      energy_ += double(before) - double(first);
      if (group_.lane == 0)
        v_.position[begin_ + p] = {std::uint32_t(at.x) + domain_.center.x,
                                   std::uint32_t(at.y) + domain_.center.y,
                                   std::uint32_t(at.z) + domain_.center.z, now.type()};
    }
    __syncwarp();
  }

  const CheckerboardSweep<T>& v_;
  Group group_;
  bool real_;
  std::int64_t d_;
  Vec3<std::int32_t> cell_;
  CheckerboardDomain<T> domain_;
  Staged<T, OneType> s_;
  int capacity_;
  Coefficients coefficients_;
  std::uint32_t begin_ = 0;
  int own_ = 0, total_ = 0, count_ = 0, padded_ = 0;
  CheckerboardTrial<T> drawn_{};
  bool crowded_ = false;
  double energy_ = 0;
  std::uint32_t accepted_ = 0;
};

template <class P, class T, int Lanes, int Slots, bool OneType, int Blocks = 1>
__global__ void __launch_bounds__(64, Blocks)
    checkerboard_domains(const __grid_constant__ CheckerboardSweep<T> v, int capacity,
                         std::size_t bytes, const std::uint32_t* halt) {
  extern __shared__ __align__(16) char shared[];
  if (*halt) return;
  using Kernel = DomainKernel<P, T, Lanes, Slots, OneType>;
  const int group = int(threadIdx.x) / Lanes;
  Kernel kernel(v, shared + group * bytes, capacity,
                std::int64_t(blockIdx.x) * Kernel::groups + group);
  kernel.run();
}

}  // namespace perrin::metropolis
