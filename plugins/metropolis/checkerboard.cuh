// The checkerboard on the GPU: a group of 8 to 32 lanes moves the particles of one domain.
//
// The group copies the domain and every particle within the cut-off of it into shared memory, once.
// Then, particle by particle: the particles near enough to matter are found there and kept in
// registers, a few per lane, and serve all trials of the particle. Groups of a warp run in step:
// every loop goes as far as the group that needs it most, and the others idle.
#pragma once

#include "checkerboard_atoms.cuh"

namespace perrin::metropolis {

/// P: the energy of a pair, CutLennardJones or AnyPair.
template <class P, class T, int Lanes, int Slots, bool OneType>
class DomainKernel : DomainAtoms<T, Lanes, OneType> {
 public:
  static constexpr int threads = 64, groups = threads / Lanes, list_capacity = Slots * Lanes;
  using Atoms = DomainAtoms<T, Lanes, OneType>;
  using Group = LaneGroup<Lanes>;
  using Coefficients = PairRow<T>;

  __device__ DomainKernel(const CheckerboardSweep<T>& v, char* memory, int capacity, std::int64_t d)
      : Atoms(v, memory, capacity, list_capacity, d), coefficients_(v.table[0]) {}

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
  using Atoms::begin_;
  using Atoms::count_;
  using Atoms::crowded_;
  using Atoms::d_;
  using Atoms::domain_;
  using Atoms::group_;
  using Atoms::memory;
  using Atoms::own_;
  using Atoms::padded_;
  using Atoms::real_;
  using Atoms::s_;
  using Atoms::stage;
  using Atoms::total_;
  using Atoms::v_;

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

  /// The candidates of one particle in registers, a few per lane.
  struct Candidates {
    T x[Slots], y[Slots], z[Slots];
    std::uint32_t row[OneType ? 1 : Slots];  // of the table of coefficients
  };

  __device__ __forceinline__ void load(Candidates& c, int listed, bool scanned,
                                       std::uint32_t type) const {
#pragma unroll
    for (int k = 0; k < Slots; ++k) {
      const int place = k * Lanes + group_.lane;
      c.x[k] = c.y[k] = c.z[k] = checkerboard_far<T>;
      if constexpr (!OneType) c.row[k] = type * v_.types;
      if (place < listed && !scanned) {
        const int t = s_.list[place];
        c.x[k] = s_.x[t], c.y[k] = s_.y[t], c.z[k] = s_.z[t];
        if constexpr (!OneType) c.row[k] += s_.type[t];
      }
    }
  }

  /// This lane's part of the energy at r.
  __device__ __forceinline__ T listed_energy(const Candidates& c, Vec3<T> r) const {
    T sum = 0;
#pragma unroll
    for (int k = 0; k < Slots; ++k)
      sum += P::energy(distance2(r, c.x[k], c.y[k], c.z[k]),
                       OneType ? coefficients_ : v_.table[c.row[OneType ? 0 : k]]);
    return sum;
  }

  /// The energy of particle p at r, by all staged particles where `far` says so.
  __device__ __forceinline__ T energy(const Candidates& c, int p, std::uint32_t type, Vec3<T> r,
                                      bool far) const {
    T sum = listed_energy(c, r);
    if (__any_sync(Group::all, far)) {
      const T all = scan(p, type, r, far);
      if (far) sum = all;
    }
    return bounded(Group::sum(sum));
  }

  /// All trials of particle p, which is at `now`.
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
    Candidates candidates;
    load(candidates, listed, scanned, now.type());

    T before = energy(candidates, p, now.type(), r, scanned);
    const T first = before;
    bool moved = false;
    for (int t = 0; t < v_.trials; ++t) {
      const CheckerboardTrial<T> tried = trial(p, t);
      const Vec3<std::int32_t> to = displaced(at, tried.move);
      const bool inside = mine && domain_.inside(to);
      const Vec3<T> r_to = domain_.point(to);
      const bool far = inside && (scanned || distance2(start, r_to.x, r_to.y, r_to.z) > v_.margin2);
      const T after = energy(candidates, p, now.type(), r_to, far);
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

  Coefficients coefficients_;  // of the only pair of types
  CheckerboardTrial<T> drawn_{};
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
                v.own.begin + std::int64_t(blockIdx.x) * Kernel::groups + group);
  kernel.run();
}

}  // namespace perrin::metropolis
