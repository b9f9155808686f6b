#include "engine/run/totals.h"

#include <algorithm>

#include "engine/core/parallel.h"
#include "engine/run/simulation.h"
#include "neighbor/neighbors.h"
#include "neighbor/strain.h"

namespace perrin {
namespace {

/// potential; virial (6); kinetic tensor m v ⊗ v (6); momentum (3)
struct Sums {
  double v[16] = {};
  PERRIN_HD Sums& operator+=(const Sums& b) {
    for (int k = 0; k < 16; ++k) v[k] += b.v[k];
    return *this;
  }
  std::array<double, 6> six(int first) const {
    std::array<double, 6> values{};
    for (std::size_t c = 0; c < 6; ++c) values[c] = v[std::size_t(first) + c];
    return values;
  }
};

struct Measure {
  ParticleView p;
  const Real4* force;
  const Real* virial;
  PERRIN_HD Sums operator()(std::int64_t i) const {
    Sums s;
    s.v[0] = double(force[i].w);
    for (int c = 0; c < 6; ++c) s.v[1 + c] = double(virial[c * p.n + i]);
    const Real4 v = p.velocity[i];
    const double m = 1.0 / double(v.w), x = double(v.x), y = double(v.y), z = double(v.z);
    s.v[7] = m * x * x, s.v[8] = m * y * y, s.v[9] = m * z * z;
    s.v[10] = m * x * y, s.v[11] = m * x * z, s.v[12] = m * y * z;
    s.v[13] = m * x, s.v[14] = m * y, s.v[15] = m * z;
    return s;
  }
};

/// After the forces that see pairs through the list, or after the others.
Sums sums_with(Simulation& simulation, Buffer<Real4>& force_sum, Buffer<Real>& virial, bool pairs,
               bool add) {
  for (const auto& force : simulation.forces) {
    if ((force->range() > 0) != pairs) continue;
    force->compute(simulation, {force_sum.data(), virial.data(), add, true});
    add = true;
  }
  return sum<Sums>(simulation.device(), "totals", simulation.particles.size(),
                   Measure{simulation.particles.view(), force_sum.data(), virial.data()});
}

}  // namespace

TotalsMeter::TotalsMeter(const Particles& particles)
    : force_(particles.device(), particles.size()),
      virial_(particles.device(), 6 * particles.size()) {}

const Totals& TotalsMeter::measure(Simulation& simulation) {
  if (valid_) return totals_;
  if (simulation.neighbors) simulation.neighbors->update();
  force_.zero();
  virial_.zero();
  const auto& forces = simulation.forces;
  const auto is_pair_force = [](const auto& force) { return force->range() > 0; };
  const bool any_pairs = std::any_of(forces.begin(), forces.end(), is_pair_force);
  const bool all_pairs = std::all_of(forces.begin(), forces.end(), is_pair_force);
  // The virial is that of all forces, friction and noise of pairs included: there the correction
  // errs by some 1e-8 of their random sum.
  Sums s = sums_with(simulation, force_, virial_, true, false);
  double unstretched =
      simulation.neighbors ? pair_strain(*simulation.neighbors).energy(s.six(1)) : 0;
  if (!all_pairs) {
    const Sums all = sums_with(simulation, force_, virial_, false, any_pairs);
    std::array<double, 6> others = all.six(1);
    for (std::size_t c = 0; c < 6; ++c) others[c] -= s.v[1 + c];
    unstretched += metric_strain(simulation.particles.box).energy(others);
    s = all;
  }
  Totals t;
  t.potential = s.v[0] + unstretched;
  t.virial = s.six(1);
  t.kinetic_tensor = s.six(7);
  t.kinetic = (t.kinetic_tensor[0] + t.kinetic_tensor[1] + t.kinetic_tensor[2]) / 2;
  t.momentum = {s.v[13], s.v[14], s.v[15]};
  for (const auto& force : forces) {
    const ForceCorrection c = force->correction(simulation);
    t.potential += c.energy;
    for (std::size_t axis = 0; axis < 3; ++axis) t.virial[axis] += c.virial / 3;
  }
  totals_ = t;
  valid_ = true;
  return totals_;
}

std::array<double, 6> pressure_tensor(const Totals& t, const Box& box) {
  std::array<double, 6> p{};
  for (std::size_t c = 0; c < 6; ++c) p[c] = (t.kinetic_tensor[c] + t.virial[c]) / box.volume();
  return p;
}

double pressure(const Totals& totals, const Box& box) {
  const auto p = pressure_tensor(totals, box);
  return box.dimension == 2 ? (p[0] + p[1]) / 2 : (p[0] + p[1] + p[2]) / 3;
}

}  // namespace perrin
