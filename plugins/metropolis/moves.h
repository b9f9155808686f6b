// Trial moves: the same bits on every device, because all arithmetic is that of rng/math.h.
//
// A trial displaces the molecule's centre and turns it about the centre, both at once. The rotation
// is that of the original work (its listing 3.3): J. Arvo's (Graphics Gems III, 1992, p. 117) with
// the limited deflection d of W. Becker's variant: spin by θ about z, then carry z to a direction
// uniform in a cap. The cap's edge lies at the angle Δφ with d = (1 - cos Δφ)/2. θ is uniform
// within ±πd, because a rotation and its inverse must be equally likely (detailed balance); the
// spin is offset by π, so that d = 0 is no rotation.
#pragma once

#include <cmath>
#include <cstdint>

#include "rng/keyed.h"
#include "system.h"

namespace perrin::metropolis {

/// An integer nearest to x, halves away from zero.
PERRIN_HD std::int64_t nearest(double x) { return std::int64_t(x < 0 ? x - 0.5 : x + 0.5); }

/// What all trials of a run have in common.
struct MoveLaw {
  RunKey move, accept;
  Vec3<double> step;      // largest displacement in fixed-point units
  Vec3<double> per_unit;  // fixed-point units per length
  double deflection = 0;
  std::uint32_t first_replica = 0;  // the number of the view's first one among those of the run

  MoveLaw() = default;
  MoveLaw(std::uint64_t seed, const MoveSizes& sizes, const Vec3<double>& box,
          std::int64_t own_replicas_from = 0)
      : move(Purpose::metropolis_move, seed),
        accept(Purpose::metropolis_accept, seed),
        per_unit{0x1p32 / box.x, 0x1p32 / box.y, 0x1p32 / box.z},
        deflection((1 - std::cos(sizes.rotation)) / 2),
        first_replica(std::uint32_t(own_replicas_from)) {
    step = {sizes.translation * per_unit.x, sizes.translation * per_unit.y,
            sizes.translation * per_unit.z};
  }
};

PERRIN_HD Quaternion multiply(const Quaternion& a, const Quaternion& b) {
  using exact::fma;
  using exact::multiply;
  return {fma(a.w, b.w, fma(-a.x, b.x, fma(-a.y, b.y, -multiply(a.z, b.z)))),
          fma(a.w, b.x, fma(a.x, b.w, fma(a.y, b.z, -multiply(a.z, b.y)))),
          fma(a.w, b.y, fma(a.y, b.w, fma(a.z, b.x, -multiply(a.x, b.z)))),
          fma(a.w, b.z, fma(a.z, b.w, fma(a.x, b.y, -multiply(a.y, b.x))))};
}
PERRIN_HD Quaternion normalized(const Quaternion& q) {
  using exact::fma;
  const double n2 = fma(q.w, q.w, fma(q.x, q.x, fma(q.y, q.y, exact::multiply(q.z, q.z))));
  const double f = exact::divide(1.0, exact::sqrt(n2));
  return {exact::multiply(q.w, f), exact::multiply(q.x, f), exact::multiply(q.y, f),
          exact::multiply(q.z, f)};
}
PERRIN_HD Vec3<double> exact_cross(const Vec3<double>& a, const Vec3<double>& b) {
  using exact::fma;
  using exact::multiply;
  return {fma(a.y, b.z, -multiply(a.z, b.y)), fma(a.z, b.x, -multiply(a.x, b.z)),
          fma(a.x, b.y, -multiply(a.y, b.x))};
}
PERRIN_HD Vec3<double> rotate(const Quaternion& q, const Vec3<double>& r) {
  const Vec3<double> u{q.x, q.y, q.z};
  Vec3<double> t = exact_cross(u, r);
  t = {t.x + t.x, t.y + t.y, t.z + t.z};
  const Vec3<double> s = exact_cross(u, t);
  return {exact::fma(q.w, t.x, r.x) + s.x, exact::fma(q.w, t.y, r.y) + s.y,
          exact::fma(q.w, t.z, r.z) + s.z};
}

/// Where a site of a template is, for a molecule with this centre and orientation.
PERRIN_HD Position place_site(const Position& centre, const Quaternion& orientation,
                              const Vec3<double>& local, std::uint32_t type,
                              const Vec3<double>& per_unit) {
  const Vec3<double> r = rotate(orientation, local);
  return {centre.x + std::uint32_t(nearest(exact::multiply(r.x, per_unit.x))),
          centre.y + std::uint32_t(nearest(exact::multiply(r.y, per_unit.y))),
          centre.z + std::uint32_t(nearest(exact::multiply(r.z, per_unit.z))), type};
}

/// What is random about a trial; needs nothing of the molecule but that it turns or not.
struct Draw {
  std::uint32_t dx, dy, dz;  // fixed-point
  Quaternion turn;
  double factor;  // -ln u: the move is accepted where its energy change is at most factor · kT
};

/// Move number `index` of a cycle of a replica of the view.
PERRIN_HD Draw draw_trial(const MoveLaw& law, std::int64_t cycle, std::uint32_t index,
                          std::uint32_t replica, bool turns) {
  const std::uint32_t number = law.first_replica + replica;
  auto g = keyed<Philox>(law.move, std::uint64_t(cycle), index, number);
  Draw d;
  d.dx = std::uint32_t(nearest(exact::multiply(g.symmetric<double>(), law.step.x)));
  d.dy = std::uint32_t(nearest(exact::multiply(g.symmetric<double>(), law.step.y)));
  d.dz = std::uint32_t(nearest(exact::multiply(g.symmetric<double>(), law.step.z)));
  if (turns && law.deflection > 0) {
    // Half of θ in turns of 2^-32, within ±d/4 of a turn.
    const auto half = exact::sincos_turn<double>(std::uint32_t(
        nearest(exact::multiply(g.symmetric<double>(), exact::multiply(law.deflection, 0x1p30)))));
    const auto phi = exact::sincos_turn<double>(g.next());
    const double z = exact::multiply(g.uniform<double>(), law.deflection);
    const double r = exact::sqrt(z);
    const Vec3<double> v{exact::multiply(phi.sin, r), exact::multiply(phi.cos, r),
                         exact::sqrt(1.0 - z)};
    // (0, v) times the spin by θ + π, (-sin θ/2, 0, 0, cos θ/2).
    using exact::fma;
    using exact::multiply;
    d.turn = {-multiply(v.z, half.cos), fma(-half.sin, v.x, multiply(v.y, half.cos)),
              fma(-half.sin, v.y, -multiply(v.x, half.cos)), -multiply(half.sin, v.z)};
  }
  auto u = keyed<Philox>(law.accept, std::uint64_t(cycle), index, number);
  d.factor = -exact::log(u.uniform_open<double>());
  return d;
}

PERRIN_HD Position moved(const Position& c, const Draw& d) {
  return {c.x + d.dx, c.y + d.dy, c.z + d.dz, c.type()};
}
PERRIN_HD Quaternion turned(const Quaternion& q, const Draw& d) {
  return normalized(multiply(d.turn, q));
}

/// Which molecule is moved by move `index` of a cycle, where they are chosen at random. The same
/// for all replicas.
PERRIN_HD std::uint32_t chosen(const RunKey& choice, std::int64_t cycle, std::uint32_t index,
                               std::uint32_t molecules) {
  return keyed<Philox>(choice, std::uint64_t(cycle), index).below(molecules);
}

}  // namespace perrin::metropolis
