#include "engine/run/totals_meter.h"

#include <algorithm>
#include <limits>

#include "engine/core/parallel.h"
#include "engine/core/team.h"
#include "engine/run/deformation.h"
#include "engine/run/simulation.h"
#include "neighbor/neighbors.h"
#include "neighbor/strain.h"

namespace perrin {
namespace {

using detail::Sums, detail::TotalsRow;

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

struct KeepRow {
  const TotalsRow* row;
  TotalsRow* rows;
  std::uint32_t* written;
  const std::uint64_t* step;
  PERRIN_HD void operator()(std::int64_t) const {
    TotalsRow& kept = rows[(*written)++];
    kept = *row;
    kept.written = *step + 1;
  }
};

bool acts_on_pairs(const std::unique_ptr<Force>& force) { return force->range() > 0; }

/// Velocities that nothing moves say nothing.
void replace_kinetic(const Simulation& simulation, std::uint64_t steps, Totals& t) {
  const DegreesOfFreedom& freedom = simulation.degrees_of_freedom;
  if (freedom.velocities() == VelocityRole::moved) return;
  const double kt = simulation.kt_without_velocities(steps);
  t.kinetic_tensor = {kt * freedom.along(0), kt * freedom.along(1), kt * freedom.along(2), 0, 0, 0};
  const bool rest = freedom.velocities() == VelocityRole::rest;
  const double none = rest ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  t.kinetic = none;
  t.momentum = {none, none, none};
}

}  // namespace

TotalsMeter::TotalsMeter(const Particles& particles)
    : force_(particles.device(), particles.size()),
      virial_(particles.device(), 6 * particles.size()),
      scratch_(particles.device(), sum_chunks),
      rows_(particles.device(), most + 1),
      written_(particles.device(), 1) {}

/// Measures into the last row.
void TotalsMeter::launch(Simulation& simulation, bool lists_hold) {
  const Device& device = simulation.device();
  if (simulation.neighbors && !lists_hold) simulation.neighbors->update();
  // They have changed since they were sent.
  if (simulation.particles.velocities_travel)
    simulation.particles.complete(simulation.particles.velocity);
  force_.zero();
  virial_.zero();
  TotalsRow* const row = rows_.data() + most;
  bool add = false;
  // After the forces that see pairs through the list, or after the others.
  const auto sum_with = [&](bool pairs, Sums* result) {
    for (const auto& force : simulation.forces) {
      if (acts_on_pairs(force) != pairs) continue;
      force->compute(simulation, {force_.data(), virial_.data(), add, true});
      add = true;
    }
    sum<Sums>(device, "totals", simulation.particles.size(),
              Measure{simulation.particles.view(), force_.data(), virial_.data()}, scratch_,
              result);
  };
  sum_with(true, &row->pairs);
  if (!std::ranges::all_of(simulation.forces, acts_on_pairs)) sum_with(false, &row->all);
  if (simulation.bath) simulation.bath->measure_heat(simulation, &row->heat);
  if (simulation.deformation) simulation.deformation->measure_work(simulation, &row->work);
  if (simulation.particles.box_moves)
    device.copy(&row->box, simulation.particles.kept_box(), sizeof row->box);
}

Totals TotalsMeter::totals_of(const Simulation& simulation, const TotalsRow& row,
                              std::uint64_t steps, const Box& box) const {
  const auto& forces = simulation.forces;
  // The virial is that of all forces, friction and noise of pairs included: there the correction
  // errs by some 1e-8 of their random sum.
  Sums s = row.pairs;
  double unstretched =
      simulation.neighbors ? pair_strain(*simulation.neighbors, box).energy(s.six(1)) : 0;
  if (!std::ranges::all_of(forces, acts_on_pairs)) {
    std::array<double, 6> others = row.all.six(1);
    for (std::size_t c = 0; c < 6; ++c) others[c] -= s.v[1 + c];
    unstretched += metric_strain(box).energy(others);
    s = row.all;
  }
  Totals t;
  t.potential = s.v[0] + unstretched;
  t.virial = s.six(1);
  t.kinetic_tensor = s.six(7);
  t.kinetic = t.mean_kinetic();
  t.momentum = {s.v[13], s.v[14], s.v[15]};
  replace_kinetic(simulation, steps, t);
  for (const auto& force : forces) {
    const ForceCorrection c = force->correction(box);
    t.potential += c.energy;
    for (std::size_t axis = 0; axis < 3; ++axis) t.virial[axis] += c.virial / 3;
  }
  if (simulation.bath) t.heat = row.heat;
  if (simulation.deformation) t.work = row.work;
  return t;
}

const Totals& TotalsMeter::measure(Simulation& simulation) {
  if (valid_) return totals_;
  launch(simulation, false);
  set(totals_of(simulation, rows_.to_host(most), simulation.step(), simulation.particles.box));
  return totals_;
}

const Buffer<Real>& TotalsMeter::complete_virials() {
  const std::int64_t n = force_.size();
  if (Team* const team = force_.device().team())
    for (int c = 0; c < 6; ++c) team->complete(virial_.data() + c * n, sizeof(Real), n);
  return virial_;
}

void TotalsMeter::launch_sample(Simulation& simulation, bool lists_hold) {
  launch(simulation, lists_hold);
  for_each(simulation.device(), "totals", 1,
           KeepRow{rows_.data() + most, rows_.data(), written_.data(), simulation.device_step()});
}

void TotalsMeter::note_sample(std::uint64_t step) {
  PERRIN_ASSERT(!full());
  sampled_.push_back(step);
}

std::vector<Instant> TotalsMeter::collect(const Simulation& simulation) {
  std::vector<Instant> collected;
  if (sampled_.empty()) return collected;
  std::vector<TotalsRow> rows(sampled_.size());
  simulation.device().copy_out(rows.data(), rows_.data(), rows.size() * sizeof(TotalsRow));
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (rows[k].written == sampled_[k] + 1) {
      const Box& box = simulation.particles.box_moves ? rows[k].box : simulation.particles.box;
      collected.push_back(instant_of(simulation, sampled_[k], box,
                                     totals_of(simulation, rows[k], sampled_[k], box)));
    }
  sampled_.clear();
  written_.zero();
  return collected;
}

Instant TotalsMeter::now(Simulation& simulation) {
  return instant_of(simulation, simulation.step(), simulation.particles.box, measure(simulation));
}

Instant TotalsMeter::instant_of(const Simulation& s, std::uint64_t steps, const Box& box,
                                const Totals& totals) {
  Instant instant;
  instant.step = steps;
  instant.time = s.time_after(steps);
  instant.box = box;
  instant.box_moves = s.particles.box_moves;
  instant.box_deforms = s.deformation != nullptr;
  if (s.deformation) instant.shear_strain = s.deformation->strain(steps);
  instant.particles = s.particles.size();
  instant.totals = totals;
  instant.velocities = s.degrees_of_freedom.velocities();
  instant.temperature = s.temperature_of(totals, steps);
  return instant;
}

}  // namespace perrin
