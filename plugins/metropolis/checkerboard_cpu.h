// The checkerboard on the CPU: one thread moves the particles of one domain, sixteen candidates at
// a time.
#pragma once

#include <cstdint>

#include "checkerboard_model.h"
#include "engine/device/parallel.h"

namespace perrin::metropolis {

/// P: the energy of a pair, CutLennardJones or AnyPair.
template <class P, class T, bool OneType>
struct CheckerboardCpu {
  CheckerboardSweep<T> v;

  static constexpr int capacity = 1536, width = 16;
  using Coefficients = PairRow<T>;
  using Domain = CheckerboardDomain<T>;

  /// Coordinates relative to the centre of the domain.
  struct Points {
    alignas(64) T x[capacity + width], y[capacity + width], z[capacity + width];
    std::uint16_t type[capacity + width];
    int n;
    PERRIN_HD void append(Vec3<T> r, std::uint32_t type_) {
      x[n] = r.x, y[n] = r.y, z[n] = r.z;
      type[n++] = std::uint16_t(type_);
    }
    PERRIN_HD void pad() {
      for (int k = n; k < n + width; ++k) x[k] = y[k] = z[k] = checkerboard_far<T>, type[k] = 0;
    }
  };

  PERRIN_HD static T distance2(Vec3<T> r, T x, T y, T z) {
    x -= r.x, y -= r.y, z -= r.z;
    return x * x + y * y + z * z;
  }
  PERRIN_HD T term(Vec3<T> r, const Points& p, int k, const Coefficients* row,
                   const Coefficients& only) const {
    const T r2 = distance2(r, p.x[k], p.y[k], p.z[k]);
    return P::energy(r2, OneType ? only : row[p.type[k]]);
  }
  PERRIN_HD T energy(Vec3<T> r, std::uint32_t type, const Points& p) const {
    const Coefficients* row = v.table + std::int64_t(type) * v.types;
    const Coefficients only = *v.table;
    const int padded = (p.n + width - 1) / width * width;
    T sum = 0;
#pragma omp simd simdlen(width) reduction(+ : sum)
    for (int k = 0; k < padded; ++k) sum += term(r, p, k, row, only);
    return bounded(sum);
  }

  /// With every particle of the 27 cells but number `self` in memory: where there are too many.
  PERRIN_HD T scan(Vec3<T> r, std::uint32_t type, const Domain& domain, Vec3<std::int32_t> cell,
                   std::uint32_t self) const {
    T sum = 0;
    for (int k = 0; k < 27; ++k) {
      const std::int32_t c = v.grid.neighbor(cell, k);
      for (std::uint32_t i = v.start[c]; i < v.start[c + 1]; ++i) {
        const Vec3<T> q = domain.point(domain.local(v.position[i]));
        const T e =
            P::energy(distance2(r, q.x, q.y, q.z), v.table[type * v.types + v.position[i].type()]);
        if (i != self) sum += e;
      }
    }
    return bounded(sum);
  }

  PERRIN_HD void stage(const Domain& domain, Vec3<std::int32_t> cell, Points& staged,
                       bool& crowded) const {
    staged.n = 0;
    for (int k = 0; k < 27; ++k) {
      const std::int32_t c = v.grid.neighbor(cell, k);
      const std::uint32_t begin = v.start[c], end = v.start[c + 1];
      if (staged.n + std::int64_t(end - begin) > capacity) {
        crowded = true;
        return;
      }
      // All are written, those that count are kept: no branch to guess.
      for (std::uint32_t i = begin; i < end; ++i) {
        const Vec3<T> r = domain.point(domain.local(v.position[i]));
        const int n = staged.n;
        staged.append(r, v.position[i].type());
        staged.n = n + (k == 0 || domain.beyond2(r) < v.range2 ? 1 : 0);
      }
    }
    staged.pad();
  }

  /// A bit in `bits` for each of sixteen particles that is near r.
  PERRIN_HD std::uint32_t near_bits(Vec3<T> r, const Points& p, int k0) const {
    std::uint32_t bits = 0;
#pragma omp simd simdlen(width) reduction(| : bits)
    for (int k = 0; k < width; ++k)
      bits |= distance2(r, p.x[k0 + k], p.y[k0 + k], p.z[k0 + k]) < v.list2 ? 1u << k : 0u;
    return bits;
  }

  PERRIN_HD void find_near(Vec3<T> r, int self, const Points& staged, Points& near) const {
    near.n = 0;
    for (int k0 = 0; k0 < staged.n; k0 += width) {
      std::uint32_t bits = near_bits(r, staged, k0);
      if (self - k0 < width && self >= k0) bits &= ~(1u << (self - k0));
      for (; bits != 0; bits &= bits - 1) {
        const int k = k0 + __builtin_ctz(bits);
        near.append({staged.x[k], staged.y[k], staged.z[k]}, staged.type[k]);
      }
    }
    near.pad();
  }

  PERRIN_HD void operator()(std::int64_t d) const {
#ifndef __CUDA_ARCH__
    const Vec3<std::int32_t> cell = v.domain(d);
    const Domain domain(v.grid, cell, v.scale);
    const std::int32_t c = v.grid.index(cell);
    const std::uint32_t begin = v.start[c];
    const int own = int(v.start[c + 1] - begin);
    if (own == 0) return;
    Points staged, near;
    bool crowded = false;
    stage(domain, cell, staged, crowded);

    double change = 0;
    std::uint64_t accepted = 0;
    for (int p = 0; p < own; ++p) {
      Position& position = v.position[begin + std::uint32_t(p)];
      const std::uint32_t id = v.id[begin + std::uint32_t(p)], type = position.type();
      Vec3<std::int32_t> at = domain.local(position);
      Vec3<T> r = domain.point(at);
      const Vec3<T> first_r = r;
      if (!crowded) find_near(r, p, staged, near);
      const auto energy_at = [&](Vec3<T> to) {
        if (crowded) return scan(to, type, domain, cell, begin + std::uint32_t(p));
        if (distance2(first_r, to.x, to.y, to.z) <= v.margin2) return energy(to, type, near);
        // Beyond what the list covers: all that is staged, itself out of the way.
        const T x = staged.x[p];
        staged.x[p] = checkerboard_far<T>;
        const T sum = energy(to, type, staged);
        staged.x[p] = x;
        return sum;
      };
      T before = energy_at(r);
      const T first = before;
      bool moved = false;
      for (int t = 0; t < v.trials; ++t) {
        const auto trial =
            CheckerboardTrial<T>::draw(v.key, v.sweep, id, std::uint32_t(t), v.step, v.kT);
        const Vec3<std::int32_t> to = displaced(at, trial.move);
        if (!domain.inside(to)) continue;
        const Vec3<T> r_to = domain.point(to);
        const T after = energy_at(r_to);
        if (!(after - before <= trial.threshold)) continue;
        at = to;
        r = r_to;
        before = after;
        moved = true;
        ++accepted;
      }
      if (!moved) continue;
      change += double(before) - double(first);
      if (!crowded) staged.x[p] = r.x, staged.y[p] = r.y, staged.z[p] = r.z;
      position = {std::uint32_t(at.x) + domain.center.x, std::uint32_t(at.y) + domain.center.y,
                  std::uint32_t(at.z) + domain.center.z, type};
    }
    v.energy[d] += change;
    v.accepted[d] += accepted;
#else
    (void)d;
#endif
  }
};

}  // namespace perrin::metropolis
