#include "integrators/fire_cell.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "integrators/fire_rule.h"

namespace perrin {
namespace {

/// A half kick, and the box goes along. A step that was halted by something full afterwards is run
/// again: it begins from where the box was.
struct StretchCell {
  static constexpr double most = 0.002;  // of the logarithm of an edge, in a step
  FireCellView cell;
  const FireRule* rule;
  double range;
  FaultSink faults;
  PERRIN_HD void operator()(std::int64_t) const {
    if (rule->converged) return;
    FireCellMemory& m = *cell.memory;
    const auto step = std::int64_t(*cell.step);
    if (m.moved_step != step) {
      m.before = *cell.box;
      for (int g = 0; g < 3; ++g) m.velocity_before[g] = m.velocity[g];
    }
    m.moved_step = step;
    double factor[3] = {1, 1, 1};
    for (int g = 0; g < cell.axes.groups; ++g) {
      double v = m.velocity_before[g] + 0.5 * rule->step * cell.inverse_mass * m.force[g];
      const double longest = most * cell.length[g] / rule->step;
      v = v > longest ? longest : v < -longest ? -longest : v;
      m.velocity[g] = v;
      factor[g] = std::exp(rule->step * v / cell.length[g]);
    }
    const Box b = cell.axes.stretched(m.before, factor);
    const double half = half_of_periodic(b);
    if (half < range) return faults.report(FaultKind::box_too_small, 0, half, range);
    *cell.box = b;
  }
};

struct FirstForces {
  FireCellView cell;
  PERRIN_HD void operator()(std::int64_t) const {
    cell.memory->moved_step = -1;
    cell.set_forces();
  }
};

}  // namespace

void FireCell::begin(StepContext& s, const FireRule* rule) {
  rule_ = rule;
  meter_.begin(s, MovingAxes(settings_.axes, s.particles().box().dimension).which(),
               "fire and its cell");
  double mass = 0;
  for (const Real4& v : s.particles().by_id(s.particles().velocity())) mass += 1 / double(v.w);
  mean_mass_ = mass / double(s.particles().size());
  if (begun_) return;
  begun_ = true;
  memory_ = {s.device(), 1};
  measure(s);
  for_each(s.device(), "first forces on the cell", 1, FirstForces{view(s)});
}

FireCellView FireCell::view(StepContext& s) {
  FireCellView v;
  const Box& start = s.particles().box_state().given();
  const auto n = double(s.particles().size());
  v.memory = memory_.data(), v.box = s.particles().box_state().data(), v.step = s.device_step();
  v.axes = MovingAxes(settings_.axes, start.dimension);
  const double spacing = std::pow(start.volume() / n, 1.0 / start.dimension);
  for (int g = 0; g < v.axes.groups; ++g) v.length[g] = std::sqrt(v.axes.count(g) * n) * spacing;
  v.inverse_mass = 1 / mean_mass_;
  v.pressure = settings_.pressure, v.tail = meter_.tail(), v.tolerance = settings_.tolerance;
  return v;
}

void FireCell::move_box(StepContext& s) {
  for_each(s.device(), "cell", 1, StretchCell{view(s), rule_, s.range(), s.fault_sink()});
  s.follow_box();
}

void FireCell::measure(StepContext& s) { meter_.measure(s, &memory_.data()->virial); }

std::string FireCell::report() const {
  return fmt::format(", deviation of the pressure {:.4g}, tolerance {:.4g}", memory_.to_host(0).off,
                     settings_.tolerance);
}

void FireCell::state(Archive& a) {
  const Archive::Scope scope(a, "cell");
  FireCellMemory m = memory_.size() > 0 ? memory_.to_host(0) : FireCellMemory{};
  std::vector<double> velocity(m.velocity, m.velocity + 3), force(m.force, m.force + 3);
  a("velocity", velocity);
  a("force", force);
  a("off", m.off);
  a.require(velocity.size() == 3 && force.size() == 3, "velocity", "a number of each axis");
  std::copy(velocity.begin(), velocity.end(), m.velocity);
  std::copy(force.begin(), force.end(), m.force);
  if (!a.is_saving() && memory_.size() > 0) memory_.assign(std::span<const FireCellMemory>(&m, 1));
}

}  // namespace perrin
