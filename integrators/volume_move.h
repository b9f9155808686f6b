// The kernels of a barostat: what a change of the box takes, its proposal and the decision
// (integrators/barostat.h).
#pragma once

#include <cmath>

#include "engine/core/faults.h"
#include "engine/run/force.h"
#include "integrators/barostat.h"
#include "rng/keyed.h"

namespace perrin::detail {

struct AddWork {
  BoxWork work;  // nullptr: no force has that
  const Real4 *force, *velocity;
  const Real* virial;  // nullptr: all have it
  std::int64_t n;
  PERRIN_HD AxisSums operator()(std::int64_t i) const {
    const Real4 a = work.of ? work.of[i] : Real4{};
    AxisSums s{{double(a.x), double(a.y), double(a.z)}, double(a.w)};
    if (!virial) return s;
    for (int k = 0; k < 3; ++k) s.of[k] += double(virial[k * n + i]);
    const Real4 f = force[i];
    s.power += double(work.power(velocity[i], f.x, f.y, f.z));
    return s;
  }
};

struct AddKinetic {
  const Real4* velocity;
  Vec3<double> drift;
  PERRIN_HD AxisSums operator()(std::int64_t i) const {
    const Real4 v = velocity[i];
    if (!(v.w > 0)) return {};
    const double x = double(v.x) - drift.x, y = double(v.y) - drift.y, z = double(v.z) - drift.z;
    const double m = 1 / double(v.w);
    return {{m * x * x, m * y * y, m * z * z}, 0};
  }
};

/// What proposal and decision need. Energies and volumes in the job's units.
struct VolumeMove {
  BarostatMemory* memory;
  Box* box;
  const std::uint64_t* step;
  RunKey key;
  Barostat::Ramp kt_ramp;
  double pressure, diffusion, most, tail_virial, range, half_step;
  bool axes[3];
  int dimension;

  PERRIN_HD static double volume(const Box& b) { return b.length.x * b.length.y * b.length.z; }
  PERRIN_HD double axis_count() const { return double(axes[0] + axes[1] + axes[2]); }
  PERRIN_HD double kt() const { return kt_ramp.at(*step); }
  /// The pressure along the axes; lengths have grown by `factor` since the kinetic energy was
  /// measured.
  PERRIN_HD double internal_pressure(const AxisSums& virial, double v, double factor) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      if (axes[k]) sum += memory->kinetic.of[k] / (factor * factor);
    return (sum + work(virial, v)) / (axis_count() * v);
  }
  /// Of the virial, tail corrections included, for a change of the lengths' logarithm.
  PERRIN_HD double work(const AxisSums& virial, double v) const {
    double sum = axis_count() * tail_virial / (double(dimension) * v);
    for (int k = 0; k < 3; ++k)
      if (axes[k]) sum += virial.of[k];
    return sum;
  }
  /// The mean of a step from λ; where the pressure is far off, no more than it can be undone from.
  PERRIN_HD double mean_step(double lambda, double internal) const {
    const double t = kt();
    const double far = 0.25 * axis_count() * most * lambda;  // half of the longest step
    const double drift = diffusion * t * (1 / lambda + 2 * lambda * (internal - pressure) / t);
    return drift > far ? far : drift < -far ? -far : drift;
  }
};

struct Propose {
  VolumeMove m;
  FaultSink faults;
  PERRIN_HD void operator()(std::int64_t) const {
    BarostatMemory& memory = *m.memory;
    Box b = *m.box;
    memory.box = b;
    memory.factor = 1;
    const double v = VolumeMove::volume(b), lambda = std::sqrt(v);
    auto random = keyed<Philox>(m.key, *m.step, 0);
    const double spread = std::sqrt(2 * m.diffusion * m.kt());
    const double next = lambda + m.mean_step(lambda, m.internal_pressure(memory.before, v, 1)) +
                        spread * random.normal<double>();
    const double log_factor = next > 0 ? 2 * std::log(next / lambda) / m.axis_count() : -1e300;
    if (log_factor > m.most || log_factor < -m.most) return;
    const double f = std::exp(log_factor);
    for (int k = 0; k < 3; ++k)
      if (m.axes[k]) b.length[k] *= f, b.origin[k] *= f;
    if (m.axes[0]) b.xy *= f, b.xz *= f;
    if (m.axes[1]) b.yz *= f;
    const auto heights = b.padded_heights();
    for (int k = 0; k < m.dimension; ++k)
      if (b.periodic[std::size_t(k)] && heights[k] / 2 < m.range) {
        faults.report(FaultKind::box_too_small, 0, heights[k] / 2, m.range);
        return;
      }
    memory.factor = f;
    const Real s = Real(1 / f);
    memory.scale = {m.axes[0] ? s : Real(1), m.axes[1] ? s : Real(1), m.axes[2] ? s : Real(1), 0};
    memory.pending = 1;
    *m.box = b;
  }
};

/// A search without lists was halted by something full before the decision: what is left of the
/// step is run again.
struct TakeBack {
  BarostatMemory* memory;
  Box* box;
  PERRIN_HD void operator()(std::int64_t) const {
    if (memory->pending) *box = memory->box;
    memory->pending = 0;
  }
};

struct Decide {
  VolumeMove m;
  std::uint32_t* due;
  PERRIN_HD void operator()(std::int64_t) const {
    *due = 0;
    BarostatMemory& memory = *m.memory;
    memory.pending = 0;
    memory.tried += 1;
    const double f = memory.factor;
    if (f == 1) return;
    const double kt = m.kt(), d = m.diffusion * kt;
    const double v0 = VolumeMove::volume(memory.box), v1 = VolumeMove::volume(*m.box);
    const double a = std::sqrt(v0), b = std::sqrt(v1);
    const double forth = b - a - m.mean_step(a, m.internal_pressure(memory.before, v0, 1));
    const double back = a - b - m.mean_step(b, m.internal_pressure(memory.after, v1, f));
    double energy = -0.5 * (m.work(memory.before, v0) + m.work(memory.after, v1)) * std::log(f);
    for (int k = 0; k < 3; ++k)
      if (m.axes[k]) energy += 0.5 * memory.kinetic.of[k] * (1 / (f * f) - 1);
    // The second half of the kick is still to come.
    energy += m.half_step * (memory.after.power - memory.before.power);
    const double log_ratio = std::log(b / a) - (energy + m.pressure * (v1 - v0)) / kt +
                             (forth * forth - back * back) / (4 * d);
    auto random = keyed<Philox>(m.key, *m.step, 1);
    if (std::log(random.uniform_open<double>()) < log_ratio) {
      memory.heat += energy;
      memory.accepted += 1;
    } else {
      *m.box = memory.box;
      memory.factor = 1;
    }
  }
};

/// v -> drift + (v - drift) / factor along the axes that have changed.
struct ScaleVelocities {
  Real4* velocity;
  const BarostatMemory* memory;
  Vec3<double> drift;
  bool axes[3];
  PERRIN_HD void operator()(std::int64_t i) const {
    const double f = memory->factor;
    if (f == 1) return;
    Real4 v = velocity[i];
    const Real s = Real(1 / f);
    const double rest = 1 - double(s);
    if (axes[0]) v.x = multiply_add(s, v.x, Real(rest * drift.x));
    if (axes[1]) v.y = multiply_add(s, v.y, Real(rest * drift.y));
    if (axes[2]) v.z = multiply_add(s, v.z, Real(rest * drift.z));
    velocity[i] = v;
  }
};

struct AddHeat {
  const BarostatMemory* memory;
  double* heat;
  PERRIN_HD void operator()(std::int64_t) const { *heat += memory->heat; }
};

}  // namespace perrin::detail
