#include "engine/dynamics/group_meter.h"

#include <limits>

#include "engine/components/integrator.h"
#include "engine/components/rigid_bodies.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"

namespace perrin {
namespace {

using detail::GroupSums;

struct MeasureGroup {
  ParticleView particles;
  const Real4* force;
  const Real* virial;
  GroupMask group, thermal;
  GroupMask moved;  // all but sites of rigid bodies, whose mass is that of their centres
  PERRIN_HD GroupSums operator()(std::int64_t i) const {
    GroupSums s;
    if (!group.has(particles.id[i])) return s;
    const Real4 v = particles.velocity[i], f = force[i];
    s.v[4] = double(f.x), s.v[5] = double(f.y), s.v[6] = double(f.z);
    for (int c = 0; c < 6; ++c) s.v[7 + c] = double(virial[c * particles.n + i]);
    if (!moved.has(particles.id[i])) return s;
    const double m = 1 / double(v.w), x = double(v.x), y = double(v.y), z = double(v.z);
    s.v[0] = 0.5 * m * (x * x + y * y + z * z);
    s.v[1] = m * x, s.v[2] = m * y, s.v[3] = m * z;
    if (thermal && !thermal.has(particles.id[i])) return s;
    s.v[13] = m * x * x, s.v[14] = m * y * y, s.v[15] = m * z * z;
    s.v[16] = m * x * y, s.v[17] = m * x * z, s.v[18] = m * y * z;
    return s;
  }
};

struct Keep {
  GroupSums* rows;
  std::int64_t groups, last;
  const std::uint32_t* number;
  PERRIN_HD void operator()(std::int64_t k) const {
    rows[std::int64_t(*number) * groups + k] = rows[last * groups + k];
  }
};

/// Of each particle, by id, what constraints take of its degrees of freedom: of each a part as the
/// light one of its two particles moves more along it. That of a whole molecule is exact.
std::vector<double> taken_by_constraints(const Particles& particles) {
  const std::vector<Topology::Constraint>& constraints =
      particles.properties().topology.constraints;
  if (constraints.empty()) return {};
  const std::vector<Real4> velocity = particles.by_id(particles.velocity());  // w: 1/mass
  std::vector<double> taken(velocity.size(), 0);
  for (const auto& c : constraints) {
    const double a = double(velocity[c.a].w), b = double(velocity[c.b].w);
    taken[c.a] += a / (a + b), taken[c.b] += b / (a + b);
  }
  return taken;
}

}  // namespace

void GroupMeter::watch(const std::vector<Group>& groups, std::int64_t most) {
  groups_ = groups;
  most_ = most;
  masks_.clear();
  for (const Group& group : groups_) masks_.emplace_back(s_.device(), group);
  freedom_.assign(groups_.size(), 0);
  rows_ = {s_.device(), (most + 1) * std::int64_t(groups_.size())};
  scratch_ = {s_.device(), sum_chunks};
}

void GroupMeter::begin_stage(const Motion& motion) {
  if (empty()) return;
  motion_ = motion;
  type_.clear();
  for (const Position& p : s_.particles().by_id(s_.particles().position()))
    type_.push_back(p.type());
  count();
}

/// Degrees of freedom that all particles have together are shared out among them.
void GroupMeter::count() {
  const int dimension = s_.particles().box().dimension;
  double all = 0;
  moving_.assign(groups_.size(), {});
  version_.clear();
  for (const Group& group : groups_) version_.push_back(group.version());
  const Topology& topology = s_.particles().properties().topology;
  for (std::size_t id = 0; id < type_.size(); ++id)
    for (std::size_t axis = 0; axis < std::size_t(dimension); ++axis) {
      if (topology.is_site(id) || !motion_.moves(type_[id], id, axis)) continue;
      ++all;
      for (std::size_t g = 0; g < groups_.size(); ++g)
        moving_[g][axis] += groups_[g].has(id) ? 1 : 0;
    }
  const std::vector<double> taken = taken_by_constraints(s_.particles());
  for (const double part : taken) all -= part;
  const double each = all > 0 ? s_.degrees_of_freedom_of_all().number() / all : 0.0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    auto moving = double(moving_[g][0] + moving_[g][1] + moving_[g][2]);
    for (std::size_t id = 0; id < taken.size(); ++id)
      if (groups_[g].has(id)) moving -= taken[id];
    freedom_[g] = moving * each;
  }
}

void GroupMeter::measure(const Real4* force, const Real* virial, const GroupMask& thermal) {
  has_heat_.assign(masks_.size(), false);
  for (std::size_t g = 0; g < masks_.size(); ++g) {
    GroupSums* const row = rows_.data() + most_ * std::int64_t(masks_.size()) + std::int64_t(g);
    sum<GroupSums>(s_.device(), "totals of a group", s_.particles().size(),
                   MeasureGroup{s_.particles().view(), force, virial, masks_[g].mask(), thermal,
                                s_.bodies() ? s_.bodies()->moved() : GroupMask{}},
                   scratch_, row);
    const double* const heat = s_.bath() ? s_.bath()->measured_heat_of(groups_[g].name()) : nullptr;
    has_heat_[g] = heat != nullptr;
    if (heat) s_.device().memory().copy(&row->heat, heat, sizeof row->heat);
  }
}

void GroupMeter::keep(const std::uint32_t* number) {
  if (empty()) return;
  const auto groups = std::int64_t(masks_.size());
  for_each(s_.device(), "totals of groups", groups, Keep{rows_.data(), groups, most_, number});
}

std::vector<GroupTotals> GroupMeter::row(std::int64_t number, std::uint64_t steps) {
  std::vector<GroupSums> sums(masks_.size());
  if (empty()) return {};
  for (std::size_t g = 0; g < version_.size(); ++g)
    if (version_[g] != groups_[g].version()) {
      count();
      break;
    }
  const std::int64_t row = number < 0 ? most_ : number;
  s_.device().memory().copy_out(sums.data(), rows_.data() + row * std::int64_t(sums.size()),
                                sums.size() * sizeof(GroupSums));
  std::vector<GroupTotals> found;
  const bool moved = s_.degrees_of_freedom_of_all().velocities() == VelocityRole::moved;
  const double kt = moved ? 0.0 : s_.kt_without_velocities(steps);
  for (std::size_t g = 0; g < sums.size(); ++g) {
    const double* const v = sums[g].v;
    GroupTotals t{.kinetic = v[0], .momentum = {v[1], v[2], v[3]}, .force = {v[4], v[5], v[6]}};
    for (std::size_t c = 0; c < 6; ++c) {
      const double bath = c < 3 ? kt * double(moving_[g][c]) : 0.0;
      t.stress[c] = v[7 + c] + (moved ? v[13 + c] : bath);
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    t.temperature = moved && freedom_[g] > 0 ? 2 * v[0] / (freedom_[g] * s_.k_boltzmann()) : none;
    t.heat = g < has_heat_.size() && has_heat_[g] ? sums[g].heat : none;
    if (!moved) t.kinetic = none, t.momentum = {none, none, none};
    found.push_back(t);
  }
  return found;
}

}  // namespace perrin
