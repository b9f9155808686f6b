#include "engine/components/constraints.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/components/constraint_clusters.h"
#include "engine/device/faults.h"
#include "engine/device/parallel.h"
#include "engine/system/moved_position.h"
#include "engine/system/nearest_vector.h"
#include "engine/system/particles.h"

namespace perrin {
namespace detail {

/// From b to a with all digits that positions have.
class ExactVector {
 public:
  PERRIN_HD explicit ExactVector(const Box& box)
      : images_{box.length.x,
                box.length.y,
                box.length.z,
                box.xy,
                box.xz,
                box.yz,
                {box.periodic[0], box.periodic[1], box.dimension == 3 && box.periodic[2]}},
        skewed_(box.xy != 0 || box.xz != 0 || box.yz != 0) {
    constexpr double units = 1099511627776.0;  // 2^40
    double edge[3];
    for (int axis = 0; axis < 3; ++axis)
      edge[axis] = (box.periodic[std::size_t(axis)] ? 1 : 1 + 2 * box.padding[axis]) / units;
    xx_ = box.length.x * edge[0], xy_ = box.xy * edge[1], xz_ = box.xz * edge[2];
    yy_ = box.length.y * edge[1], yz_ = box.yz * edge[2], zz_ = box.length.z * edge[2];
  }

  PERRIN_HD Vec3<double> operator()(const Position& a, const Position& b) const {
    const double x = along(0, a.x, b.x, a, b), y = along(1, a.y, b.y, a, b),
                 z = along(2, a.z, b.z, a, b);
    const Vec3<double> r{xx_ * x + xy_ * y + xz_ * z, yy_ * y + yz_ * z, zz_ * z};
    return skewed_ ? images_.nearest(r) : r;
  }

 private:
  PERRIN_HD double along(int axis, std::uint32_t a, std::uint32_t b, const Position& of_a,
                         const Position& of_b) const {
    const std::int64_t whole = images_.periodic[std::size_t(axis)]
                                   ? std::int64_t(std::int32_t(a - b))
                                   : std::int64_t(a) - std::int64_t(b);
    return double(whole * 256 + (of_a.remainder(axis) - of_b.remainder(axis)));
  }

  Images<double> images_;
  bool skewed_;
  double xx_, yy_, zz_, xy_, xz_, yz_;
};

/// What kernels are given.
struct ConstraintArrays {
  ParticleView p;
  ExactVector between;  // in a box that stays as it is …
  const Box* moving;    // … or in this one; nullptr: it stays
  Share mine;
  const std::uint32_t *particle, *first, *pairs_from;
  const ConstraintPair* pair;
  Vec3<double>*along, *from, *work;
  double *rate, *impulse, *inverse_mass;
  FaultSink faults;
  double tolerance;
  std::int64_t iterations;

  PERRIN_HD std::uint32_t place(std::uint32_t k) const { return p.index[particle[k]]; }
  PERRIN_HD bool is_mine(std::int64_t cluster) const {
    for (std::uint32_t k = first[cluster]; k < first[cluster + 1]; ++k)
      if (mine.meets(place(k), 1)) return true;
    return false;
  }
  PERRIN_HD Vec3<double> vector(const ConstraintPair& c) const {
    const Position a = p.position[place(c.a)], b = p.position[place(c.b)];
    return moving != nullptr ? ExactVector(*moving)(a, b) : between(a, b);
  }
  PERRIN_HD Vec3<double> velocity(std::uint32_t k) const {
    const Real4 v = p.velocity[place(k)];
    return {double(v.x), double(v.y), double(v.z)};
  }
  PERRIN_HD ConstraintEquations equations(std::int64_t cluster) const {
    const std::uint32_t k = pairs_from[cluster];
    for (std::uint32_t m = first[cluster]; m < first[cluster + 1]; ++m)
      inverse_mass[m] = double(p.velocity[place(m)].w);
    return {pair + k,  std::int64_t(pairs_from[cluster + 1] - k),
            along + k, inverse_mass,
            tolerance, iterations};
  }
  /// The constraints of a cluster, of which one cannot be kept, if that is so.
  PERRIN_HD bool solved(std::int64_t cluster, std::int64_t wrong) const {
    if (wrong == ConstraintEquations::solved) return true;
    const ConstraintPair c = pair[pairs_from[cluster] + wrong];
    const Vec3<double> r = vector(c);
    faults.report(FaultKind::not_constrained, particle[c.a], std::sqrt(dot(r, r)), c.length,
                  particle[c.b]);
    return false;
  }
};

}  // namespace detail
namespace {

using Arrays = detail::ConstraintArrays;

struct Look {
  Arrays a;
  PERRIN_HD void operator()(std::int64_t k) const { a.along[k] = a.vector(a.pair[k]); }
};

struct MoveCluster {
  Arrays a;
  Current<Metric> metric;
  double timestep;
  Real limit;
  double* heat;  // nullptr: nobody counts it

  PERRIN_HD void operator()(std::int64_t cluster) const {
    if (!a.is_mine(cluster)) return;
    const ConstraintEquations equations = a.equations(cluster);
    const std::uint32_t first = a.first[cluster], last = a.first[cluster + 1];
    const std::uint32_t pairs = a.pairs_from[cluster], end = a.pairs_from[cluster + 1];
    for (std::uint32_t m = first; m < last; ++m) a.work[m] = {};
    for (std::uint32_t k = pairs; k < end; ++k) a.from[k] = a.vector(a.pair[k]);
    if (heat != nullptr) {
      const std::int64_t wrong = correct_heat(cluster, equations);
      if (!a.solved(cluster, wrong)) return;
      for (std::uint32_t m = first; m < last; ++m) a.work[m] = {};
    }
    if (!a.solved(cluster, equations.shake(a.from + pairs, a.work))) return;
    // Along a constraint the velocity is that of the way that has been made, which has a curve.
    for (std::uint32_t k = pairs; k < end; ++k) {
      const ConstraintPair c = a.pair[k];
      const Vec3<double> now = a.from[k] + a.work[c.a] - a.work[c.b];
      a.rate[k] = dot(a.along[k], now - a.along[k]) / timestep;
    }
    for (std::uint32_t m = first; m < last; ++m) {
      if (a.mine.meets(a.place(m), 1)) move(m);
      a.work[m] = a.velocity(m) + (1 / timestep) * a.work[m];
    }
    if (!a.solved(cluster, equations.project(a.rate + pairs, a.tolerance / timestep, a.work,
                                             a.impulse + pairs)))
      return;
    for (std::uint32_t m = first; m < last; ++m) {
      const std::uint32_t i = a.place(m);
      if (!a.mine.meets(i, 1)) continue;
      const Vec3<double> v = a.work[m];
      a.p.velocity[i] = {Real(v.x), Real(v.y), Real(v.z), a.p.velocity[i].w};
    }
  }

 private:
  /// Rates of change along constraints r, before noise, and r', after it, have the energies
  /// r A^-1 r / 2, where A is how pulls along constraints move these. r + r' follows from the way.
  PERRIN_HD std::int64_t correct_heat(std::int64_t cluster,
                                      const ConstraintEquations& equations) const {
    const std::uint32_t pairs = a.pairs_from[cluster], end = a.pairs_from[cluster + 1];
    for (std::uint32_t k = pairs; k < end; ++k)
      a.rate[k] = 2 / timestep * dot(a.along[k], a.from[k] - a.along[k]);
    const std::int64_t wrong =
        equations.project(a.rate + pairs, a.tolerance / timestep, a.work, a.impulse + pairs);
    double more = 0;
    for (std::uint32_t k = pairs; k < end; ++k) {
      const ConstraintPair c = a.pair[k];
      const double after = dot(a.along[k], a.velocity(c.a) - a.velocity(c.b));
      more -= 0.5 * (a.rate[k] - 2 * after) * a.impulse[k];
    }
    const std::uint32_t i = a.place(a.first[cluster]);
    if (a.mine.meets(i, 1)) heat[i] += more;
    return wrong;
  }
  PERRIN_HD void move(std::uint32_t m) const {
    const std::uint32_t i = a.place(m);
    const Vec3<double> by = a.work[m];
    const double moved2 = dot(by, by);
    if (moved2 == 0) return;
    if (!(moved2 <= double(limit) * double(limit)))
      return a.faults.report(moved2 - moved2 == 0 ? FaultKind::too_fast : FaultKind::not_finite,
                             a.particle[m], std::sqrt(moved2), double(limit));
    const Real3 u = metric->fixed({Real(by.x), Real(by.y), Real(by.z)});
    const Position before = a.p.position[i], to = moved_by_axes(before, {u.x, u.y, u.z, 0});
    a.p.position[i] = to;
    a.p.image[i] += Image{crossing(before.x, to.x, u.x), crossing(before.y, to.y, u.y),
                          crossing(before.z, to.z, u.z)};
    if (!metric->open) return;
    const std::uint32_t at[3] = {to.x, to.y, to.z};
    for (std::uint32_t axis = 0; axis < 3; ++axis)
      if (at[axis] < metric->lower[axis] || at[axis] > metric->upper[axis])
        return a.faults.report(FaultKind::left_the_box, a.particle[m], std::sqrt(moved2),
                               double(limit), axis);
  }
};

/// The forces that keep the half step of velocities after them from changing distances.
struct HoldCluster {
  Arrays a;
  double half_step;

  PERRIN_HD void operator()(std::int64_t cluster) const {
    if (!a.is_mine(cluster)) return;
    const ConstraintEquations equations = a.equations(cluster);
    const std::uint32_t first = a.first[cluster], last = a.first[cluster + 1];
    const std::uint32_t pairs = a.pairs_from[cluster], end = a.pairs_from[cluster + 1];
    for (std::uint32_t m = first; m < last; ++m) a.work[m] = kicked(m);
    for (std::uint32_t k = pairs; k < end; ++k) a.along[k] = a.vector(a.pair[k]), a.rate[k] = 0;
    if (!a.solved(cluster, equations.project(a.rate + pairs, a.tolerance / (2 * half_step), a.work,
                                             a.impulse + pairs)))
      return;
    for (std::uint32_t m = first; m < last; ++m) {
      const std::uint32_t i = a.place(m);
      if (!a.mine.meets(i, 1)) continue;
      const Vec3<double> by = (1 / (half_step * a.inverse_mass[m])) * (a.work[m] - kicked(m));
      const Real4 f = a.p.force[i];
      a.p.force[i] = {Real(double(f.x) + by.x), Real(double(f.y) + by.y), Real(double(f.z) + by.z),
                      f.w};
    }
  }

 private:
  PERRIN_HD Vec3<double> kicked(std::uint32_t m) const {
    const Real4 f = a.p.force[a.place(m)];
    return a.velocity(m) +
           (half_step * a.inverse_mass[m]) * Vec3<double>{double(f.x), double(f.y), double(f.z)};
  }
};

/// The forces of an instant: distances have no second derivative in time.
struct AddForces {
  Arrays a;
  Real4* force;
  Real* virial;

  PERRIN_HD void operator()(std::int64_t cluster) const {
    if (!a.is_mine(cluster)) return;
    const ConstraintEquations equations = a.equations(cluster);
    const std::uint32_t first = a.first[cluster], last = a.first[cluster + 1];
    const std::uint32_t pairs = a.pairs_from[cluster], end = a.pairs_from[cluster + 1];
    for (std::uint32_t m = first; m < last; ++m) a.work[m] = acceleration(m);
    double largest = 0;  // of the rates that distances change by, relative
    for (std::uint32_t k = pairs; k < end; ++k) {
      const ConstraintPair c = a.pair[k];
      a.along[k] = a.vector(c);
      const Vec3<double> v = a.velocity(c.a) - a.velocity(c.b);
      a.rate[k] = -dot(v, v);
      const double excess =
          std::abs(dot(a.along[k], a.work[c.a] - a.work[c.b])) + std::abs(a.rate[k]);
      largest = std::max(largest, excess / (c.length * c.length));
    }
    const std::int64_t wrong =
        largest > 0
            ? equations.project(a.rate + pairs, a.tolerance * largest, a.work, a.impulse + pairs)
            : ConstraintEquations::solved;
    if (largest == 0 || !a.solved(cluster, wrong)) return;
    for (std::uint32_t m = first; m < last; ++m) {
      const std::uint32_t i = a.place(m);
      if (!a.mine.meets(i, 1)) continue;
      const Vec3<double> by = (1 / a.inverse_mass[m]) * (a.work[m] - acceleration(m));
      const Real4 f = force[i];
      force[i] = {Real(double(f.x) + by.x), Real(double(f.y) + by.y), Real(double(f.z) + by.z),
                  f.w};
    }
    for (std::uint32_t k = pairs; virial != nullptr && k < end; ++k) share_virial(k);
  }

 private:
  PERRIN_HD Vec3<double> acceleration(std::uint32_t m) const {
    const Real4 f = force[a.place(m)];
    return a.inverse_mass[m] * Vec3<double>{double(f.x), double(f.y), double(f.z)};
  }
  /// A half for each of the two.
  PERRIN_HD void share_virial(std::uint32_t k) const {
    const ConstraintPair c = a.pair[k];
    const Vec3<double> r = a.along[k];
    const double by = -0.5 * a.impulse[k];
    const double of[6] = {r.x * r.x, r.y * r.y, r.z * r.z, r.x * r.y, r.x * r.z, r.y * r.z};
    for (const std::uint32_t m : {c.a, c.b}) {
      const std::uint32_t i = a.place(m);
      if (!a.mine.meets(i, 1)) continue;
      for (int e = 0; e < 6; ++e) {
        Real& at = virial[e * a.p.n + i];
        at = Real(double(at) + by * of[e]);
      }
    }
  }
};

}  // namespace

Constraints::Constraints(const Device& device, const Topology& topology) {
  const ConstraintClusters all(topology);
  clusters_ = std::int64_t(all.size());
  particle_ = {device, std::span<const std::uint32_t>(all.particle)};
  first_ = {device, std::span<const std::uint32_t>(all.first)};
  pairs_from_ = {device, std::span<const std::uint32_t>(all.pairs_from)};
  pair_ = {device, std::span<const ConstraintPair>(all.pair)};
  const auto particles = std::int64_t(all.particle.size()), pairs = std::int64_t(all.pair.size());
  along_ = {device, pairs}, from_ = {device, pairs}, work_ = {device, particles};
  rate_ = {device, pairs}, impulse_ = {device, pairs}, inverse_mass_ = {device, particles};
}

void Constraints::set_accuracy(double tolerance, std::int64_t iterations) {
  tolerance_ = tolerance, iterations_ = iterations;
}

detail::ConstraintArrays Constraints::arrays(Particles& p, const FaultSink& faults) const {
  return {p.view(),
          detail::ExactVector(p.box()),
          p.box_state().moves() ? p.box_state().data() : nullptr,
          p.share(),
          particle_.data(),
          first_.data(),
          pairs_from_.data(),
          pair_.data(),
          along_.data(),
          from_.data(),
          work_.data(),
          rate_.data(),
          impulse_.data(),
          inverse_mass_.data(),
          faults,
          tolerance_,
          iterations_};
}

void Constraints::look(Particles& p) const {
  for_each(p.device(), "directions of constraints", pair_.size(), Look{arrays(p, {})});
}

void Constraints::move(Particles& p, const FaultSink& faults, double timestep, Real limit) const {
  p.domain().gather(p.position());
  p.domain().gather(p.velocity());
  for_each(p.device(), "constraints of positions", clusters_,
           MoveCluster{arrays(p, faults), p.metric(), timestep, limit, heat_});
}

void Constraints::hold(Particles& p, const FaultSink& faults, double half_step) const {
  p.domain().gather(p.velocity());
  p.domain().gather(p.force());
  for_each(p.device(), "constraints of velocities", clusters_,
           HoldCluster{arrays(p, faults), half_step});
}

void Constraints::add_forces(Particles& p, const FaultSink& faults, Buffer<Real4>& force,
                             Real* virial) const {
  p.domain().gather(p.velocity());
  p.domain().gather(force);
  for_each(p.device(), "forces of constraints", clusters_,
           AddForces{arrays(p, faults), force.data(), virial});
}

}  // namespace perrin
