#include "python/src/kept_forces.h"

#include <array>

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"

namespace perrin::python {
namespace {

/// A number that runs, and how far beyond it the instant is whose forces are computed.
struct Instant {
  const std::uint64_t* running;
  std::uint64_t beyond;
  PERRIN_HD std::uint64_t operator*() const { return *running + beyond; }
};

Instant instant_of(const StepContext& s) { return {s.device_step(), s.instant()}; }

struct Show {
  const Position* position;
  const Real4* velocity;
  const Image* image;
  const std::uint32_t* id;
  Instant instant;
  Shown to;
  Vec3<double> offset;                  // of a point whose fixed-point numbers are 0
  std::array<Vec3<double>, 3> unit;     // length per 2^-40 of the (padded) edges
  std::array<Vec3<double>, 3> crossed;  // by an image: the edges

  PERRIN_HD static void put(double* to, const Vec3<double>& v) {
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
  }
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::int64_t k = 3 * std::int64_t(id[i]);
    if (i == 0) *to.step = std::int64_t(*instant);
    if (to.positions || to.unwrapped) {
      const Position p = position[i];
      const double u[3] = {p.x * 256.0 + p.remainder(0), p.y * 256.0 + p.remainder(1),
                           p.z * 256.0 + p.remainder(2)};
      Vec3<double> r = offset + u[0] * unit[0] + u[1] * unit[1] + u[2] * unit[2];
      if (to.positions) put(to.positions + k, r);
      const Image c = image[i];
      r = r + double(c.x) * crossed[0] + double(c.y) * crossed[1] + double(c.z) * crossed[2];
      if (to.unwrapped) put(to.unwrapped + k, r);
    }
    if (!to.velocities) return;
    const Real4 v = velocity[i];
    put(to.velocities + k, {double(v.x), double(v.y), double(v.z)});
  }
};

PERRIN_HD Real4 row_of(const ForeignRows& rows, std::int64_t i, Real w) {
  const std::int64_t k = i * rows.stride;
  Real v[3];
  for (int axis = 0; axis < 3; ++axis)
    v[axis] = rows.is_double ? Real(static_cast<const double*>(rows.data)[k + axis * rows.step])
                             : Real(static_cast<const float*>(rows.data)[k + axis * rows.step]);
  return {v[0], v[1], rows.flat ? Real(0) : v[2], w};
}

struct KeepRow {
  ForeignRows rows;
  const std::uint32_t* id;
  Real share;
  Real4* kept;
  PERRIN_HD void operator()(std::int64_t i) const { kept[id[i]] = row_of(rows, i, share); }
};

struct RaiseIfDue {
  Instant instant;
  std::uint64_t stride;
  const std::uint64_t* kept;
  Condition due;
  PERRIN_HD void operator()(std::int64_t) const {
    const bool wanted = *instant % stride == 0 || *kept == never;
    if (wanted && *instant != *kept)
      due.raise();
    else
      *due.flag = 0;
  }
};

struct KeepReturned {
  Returned returned;
  Kept kept;
  Instant instant;
  std::int64_t n;
  PERRIN_HD void operator()(std::int64_t i) const {
    const double share = returned.energy ? *returned.energy / double(n) : 0;
    kept.force[i] = row_of(returned.forces, i, Real(share));
    if (i != 0) return;
    for (int c = 0; c < 6; ++c) kept.virial[c] = returned.virial ? returned.virial[c] : 0;
    *kept.instant = *instant;
  }
};

struct PutKept {
  const Real4* kept;
  const std::uint32_t* id;
  ForceOutput out;
  std::int64_t n;
  const double* virial;
  PERRIN_HD void operator()(std::int64_t i) const {
    Real4 f = kept[id[i]];
    if (!out.energy) f.w = 0;
    out.force[i] = out.add ? plus(out.force[i], f) : f;
    if (!out.energy || !out.virial) return;
    for (std::int64_t c = 0; c < 6; ++c) {
      Real& v = out.virial[c * n + i];
      v = (out.add ? v : Real(0)) + Real(virial[c] / double(n));
    }
  }
};

}  // namespace

void show_particles(StepContext& s, const Shown& shown) {
  const Particles& p = s.particles();
  const Box& box = p.box();
  // A padded axis begins at -padding and is 1 + 2 padding edges long (Box::point).
  constexpr double two40 = 1099511627776.0;
  Show show{p.position().data(),
            p.velocity().data(),
            p.image().data(),
            p.id().data(),
            instant_of(s),
            shown,
            box.point(Position{}),
            {},
            box.edges()};
  for (int axis = 0; axis < 3; ++axis) {
    const double padding = box.periodic[std::size_t(axis)] ? 0 : box.padding[axis];
    show.unit[std::size_t(axis)] = (1 + 2 * padding) / two40 * show.crossed[std::size_t(axis)];
  }
  for_each(s.device(), "particles for Python", p.size(), show);
}

void keep_rows(StepContext& s, const ForeignRows& rows, Real share, Buffer<Real4>& kept) {
  for_each(s.device(), "forces of Python", s.particles().size(),
           KeepRow{rows, s.particles().id().data(), share, kept.data()});
}

void raise_if_due(StepContext& s, std::int64_t stride, const std::uint64_t* kept_instant,
                  const Condition& due) {
  for_each(s.device(), "whether forces of Python are due", 1,
           RaiseIfDue{instant_of(s), std::uint64_t(stride), kept_instant, due});
}

void keep_returned(StepContext& s, const Returned& returned, const Kept& kept) {
  const std::int64_t n = s.particles().size();
  for_each(s.device(), "forces of Python", n, KeepReturned{returned, kept, instant_of(s), n});
}

void put_kept(StepContext& s, const Buffer<Real4>& kept, const Buffer<double>& virial,
              const ForceOutput& output) {
  const std::int64_t n = s.particles().size();
  for_each(s.device(), "forces of Python", n,
           PutKept{kept.data(), s.particles().id().data(), output, n, virial.data()});
}

}  // namespace perrin::python
