// The atoms that a domain of the checkerboard has to see, in shared memory.
#pragma once

#include "checkerboard_model.h"
#include "lane_group.cuh"

namespace perrin::metropolis {

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

/// A domain and, once stage() has run, its particles and all within the cut-off of it.
template <class T, int Lanes, bool OneType>
class DomainAtoms {
 public:
  using Group = LaneGroup<Lanes>;

  __device__ DomainAtoms(const CheckerboardSweep<T>& v, char* memory, int capacity,
                         int list_capacity, std::int64_t d)
      : v_(v),
        real_(d < v.own.end),
        d_(real_ ? d : 0),
        cell_(v.domain(d_)),
        domain_(v.grid, cell_, v.scale),
        s_(memory, capacity, list_capacity),
        capacity_(capacity) {}

 protected:
  __device__ __forceinline__ void stage() {
    count_cells();
    copy_near();
  }

  /// How many particles the 27 cells hold, and where.
  __device__ __forceinline__ void count_cells() {
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
  }

  /// Those near enough, in the order of the cells. The next positions are on their way while one
  /// round's are looked at.
  __device__ __forceinline__ void copy_near() {
    count_ = 0;
    const int longest = Group::warp_max(total_);
    int k = 0;
    Position next[2]{};
#pragma unroll
    for (int ahead = 0; ahead < 2; ++ahead) {
      const int t = ahead * Lanes + group_.lane;
      if (t < total_) next[ahead] = v_.position[memory(t, k)];
    }
    for (int t0 = 0; t0 < longest; t0 += Lanes) {
      const int t = t0 + group_.lane;
      const Position p = next[0];
      next[0] = next[1];
      if (t + 2 * Lanes < total_) next[1] = v_.position[memory(t + 2 * Lanes, k)];
      const Vec3<T> r = domain_.point(domain_.local(p));
      const bool keep = t < own_ || (t < total_ && domain_.beyond2(r) < v_.range2);
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

  const CheckerboardSweep<T>& v_;
  Group group_;
  bool real_;
  std::int64_t d_;
  Vec3<std::int32_t> cell_;
  CheckerboardDomain<T> domain_;
  Staged<T, OneType> s_;
  int capacity_;
  std::uint32_t begin_ = 0;  // the domain's own particles in memory
  int own_ = 0;              // their number
  int total_ = 0;            // particles of the 27 cells
  int count_ = 0;            // of them near enough
  int padded_ = 0;           // with places that are filled up, the same for all groups of the warp
  bool crowded_ = false;     // more than there is memory for: none is staged
};

}  // namespace perrin::metropolis
