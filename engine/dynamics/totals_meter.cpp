#include "engine/dynamics/totals_meter.h"

#include <algorithm>
#include <limits>

#include "engine/components/box_mover.h"
#include "engine/components/constraints.h"
#include "engine/components/integrator.h"
#include "engine/components/rigid_bodies.h"
#include "engine/components/step_context.h"
#include "engine/device/batch_replay.h"
#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "engine/domain/reduction.h"
#include "engine/system/orientations.h"
#include "neighbor/neighbors.h"
#include "neighbor/strain.h"

namespace perrin {
namespace {

using detail::Sums, detail::TotalsRow;

struct Measure {
  ParticleView p;
  const Real4* force;
  const Real* virial;
  GroupMask thermal;  // particles whose velocities count
  OrientationView turning;
  PERRIN_HD Sums operator()(std::int64_t i) const {
    Sums s;
    s.v[0] = double(force[i].w);
    for (int c = 0; c < 6; ++c) s.v[1 + c] = double(virial[c * p.n + i]);
    if (thermal && !thermal.has(p.id[i])) return s;
    const Real4 v = p.velocity[i];
    const double m = 1.0 / double(v.w), x = double(v.x), y = double(v.y), z = double(v.z);
    s.v[7] = m * x * x, s.v[8] = m * y * y, s.v[9] = m * z * z;
    s.v[10] = m * x * y, s.v[11] = m * x * z, s.v[12] = m * y * z;
    s.v[13] = m * x, s.v[14] = m * y, s.v[15] = m * z;
    if (turning.moment) s.v[16] = rotational_energy(turning.angular_momentum[i], turning.moment[i]);
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

bool acts_on_pairs(const std::unique_ptr<Force>& force) { return force->traits().range() > 0; }

/// Velocities that nothing moves say nothing.
void replace_kinetic(const StepContext& s, std::uint64_t steps, Totals& t) {
  const DegreesOfFreedom& freedom = s.degrees_of_freedom_of_all();
  if (freedom.velocities() == VelocityRole::moved) return;
  const double kt = s.kt_without_velocities(steps);
  t.kinetic_tensor = {kt * freedom.along(0), kt * freedom.along(1), kt * freedom.along(2), 0, 0, 0};
  const bool rest = freedom.velocities() == VelocityRole::rest;
  const double none = rest ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  t.kinetic = none;
  t.rotational = 0;
  t.momentum = {none, none, none};
}

}  // namespace

TotalsMeter::TotalsMeter(StepContext& context, const Clock& clock)
    : s_(context),
      clock_(clock),
      force_(s_.device(), s_.particles().size()),
      virial_(s_.device(), 6 * s_.particles().size()),
      scratch_(s_.device(), sum_chunks),
      rows_(s_.device(), most + 1),
      written_(s_.device(), 1),
      groups_(context) {}

/// What forces add to. Of the other particles nothing is read: their part of the arrays takes no
/// room while nobody writes it.
void TotalsMeter::zero_own() {
  const Share own = s_.particles().share();
  if (own.size() == force_.size()) return force_.zero(), virial_.zero();
  const auto zero = [&](auto* first) {
    s_.device().memory().zero(first + own.begin, std::size_t(own.size()) * sizeof *first);
  };
  zero(force_.data());
  for (int c = 0; c < 6; ++c) zero(virial_.data() + c * force_.size());
}

/// Measures into the last row.
void TotalsMeter::launch(bool lists_hold) {
  const Device& device = s_.device();
  if (s_.neighbors() && !lists_hold) s_.neighbors()->update();
  // They have changed since they were sent.
  if (s_.particles().domain().needs().velocities)
    s_.particles().domain().gather(s_.particles().velocity());
  zero_own();
  TotalsRow* const row = rows_.data() + most;
  const GroupMask thermal = s_.thermal();
  const OrientationView turning =
      s_.particles().orientations() ? s_.particles().orientations()->view() : OrientationView{};
  bool add = false;
  // After the forces that see pairs through the list, or after the others.
  const auto sum_with = [&](bool pairs, Sums* result) {
    for (const auto& force : s_.forces()) {
      if (acts_on_pairs(force) != pairs) continue;
      force->act(s_, {force_.data(), virial_.data(), add, true});
      add = true;
    }
    const bool whole = !pairs || std::ranges::all_of(s_.forces(), acts_on_pairs);
    if (s_.bodies() && whole)
      s_.bodies()->correct_virial(s_.particles(), force_.data(), virial_.data());
    if (s_.constraints() && whole)
      s_.constraints()->add_forces(s_.particles(), s_.fault_sink(), force_, virial_.data());
    sum<Sums>(device, "totals", s_.particles().size(),
              Measure{s_.particles().view(), force_.data(), virial_.data(), thermal, turning},
              scratch_, result);
  };
  sum_with(true, &row->pairs);
  if (!std::ranges::all_of(s_.forces(), acts_on_pairs)) sum_with(false, &row->all);
  if (s_.bath()) s_.bath()->measure_heat(s_, &row->heat);
  groups_.measure(force_.data(), virial_.data(), thermal);
  if (s_.deformation())
    s_.deformation()->measure_work(s_, &row->work);
  else if (s_.bath())
    s_.bath()->measure_work(s_, &row->work);
  if (s_.particles().box_state().moves())
    device.memory().copy(&row->box, s_.particles().box_state().data(), sizeof row->box);
}

Totals TotalsMeter::totals_of(const TotalsRow& row, std::uint64_t steps, const Box& box) const {
  const auto& forces = s_.forces();
  // The virial is that of all forces, friction and noise of pairs included: there the correction
  // errs by some 1e-8 of their random sum.
  Sums s = row.pairs;
  double unstretched = s_.neighbors() ? pair_strain(*s_.neighbors(), box).energy(s.six(1)) : 0;
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
  t.rotational = s.v[16];
  replace_kinetic(s_, steps, t);
  for (const auto& force : forces) {
    const ForceCorrection c = force->correction(box);
    t.potential += c.energy;
    for (std::size_t axis = 0; axis < 3; ++axis) t.virial[axis] += c.virial / 3;
  }
  if (s_.bath()) t.heat = row.heat;
  if (s_.deformation() || s_.bath()) t.work = row.work;
  return t;
}

const Totals& TotalsMeter::measure() {
  if (valid_) return totals_;
  launch(false);
  set(totals_of(rows_.to_host(most), s_.step(), s_.particles().box()), groups_.row(-1, s_.step()));
  return totals_;
}

const Buffer<Real>& TotalsMeter::complete_virials() {
  const std::int64_t n = force_.size();
  for (int c = 0; c < 6; ++c)
    decomposition_of(force_.device()).all_gather(virial_.data() + c * n, sizeof(Real), n);
  return virial_;
}

void TotalsMeter::launch_sample(bool lists_hold) {
  launch(lists_hold);
  groups_.keep(written_.data());
  for_each(s_.device(), "totals", 1,
           KeepRow{rows_.data() + most, rows_.data(), written_.data(), s_.device_step()});
}

void TotalsMeter::note_sample(std::uint64_t step) {
  PERRIN_ASSERT(!full());
  sampled_.push_back(step);
}

std::vector<Instant> TotalsMeter::collect() {
  std::vector<Instant> collected;
  if (sampled_.empty()) return collected;
  std::vector<TotalsRow> rows(sampled_.size());
  const std::size_t bytes = rows.size() * sizeof(TotalsRow);
  if (const DeviceRole& role = s_.device().role(); role.batch && s_.device().is_cuda())
    role.batch->fetch(role.batch_member, rows.data(), rows_.data(), bytes);
  else
    s_.device().memory().copy_out(rows.data(), rows_.data(), bytes);
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (rows[k].written == sampled_[k] + 1) {
      const Box& box = s_.particles().box_state().moves() ? rows[k].box : s_.particles().box();
      collected.push_back(instant_of(sampled_[k], box, totals_of(rows[k], sampled_[k], box),
                                     groups_.row(std::int64_t(k), sampled_[k])));
    }
  sampled_.clear();
  put_word(s_.device(), written_.data(), 0);
  return collected;
}

Instant TotalsMeter::now() {
  const Totals& totals = measure();
  return instant_of(s_.step(), s_.particles().box(), totals, of_groups_);
}

double TotalsMeter::temperature_of(const Totals& totals, std::uint64_t steps) const {
  const DegreesOfFreedom& freedom = s_.degrees_of_freedom_of_all();
  const double kt = freedom.velocities() == VelocityRole::moved
                        ? freedom.kt(totals.kinetic, totals.momentum)
                        : s_.kt_without_velocities(steps);
  return kt / s_.k_boltzmann();
}

Instant TotalsMeter::instant_of(std::uint64_t steps, const Box& box, const Totals& totals,
                                std::vector<GroupTotals> of_groups) const {
  Instant instant;
  instant.step = steps;
  instant.time = clock_.time_after(steps);
  instant.box = box;
  instant.box_moves = s_.particles().box_state().moves();
  instant.box_deforms = s_.deformation() != nullptr;
  if (s_.deformation()) instant.shear_strain = s_.deformation()->strain(steps);
  instant.particles = s_.degrees_of_freedom_of_all().present();
  instant.totals = totals;
  instant.velocities = s_.degrees_of_freedom_of_all().velocities();
  instant.temperature = temperature_of(totals, steps);
  instant.groups = std::move(of_groups);
  return instant;
}

}  // namespace perrin
