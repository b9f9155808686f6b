#include "forces/group_restraint.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/formula/parse.h"
#include "forces/deposit.h"
#include "forces/unwrapped.h"

namespace perrin {
namespace {

using Spring = GroupRestraint::Spring;

/// Who moves changes the energy of all members: what ForceOutput says of it is no share of it.
ForceTraits traits_of_restraint() {
  ForceTraits traits = ForceTraits::of_field();
  traits.energy_share = 0;
  return traits;
}

/// By one thread.
struct Stretch {
  Spring* spring;
  const Box* box;
  DeviceTime time;
  Vec3<double> point, velocity;
  Vec3<double> axes;  // 1 or 0
  double stiffness, length, rate;
  bool two, to_point;  // two groups; a spring without length
  bool counts;         // the step's own computation: the work since the one before is added
  formula::ProgramView formula, slope;  // of the distance and the time; empty: a spring

  PERRIN_HD Vec3<double> along_axes(const Vec3<double>& d) const {
    return {axes.x * d.x, axes.y * d.y, axes.z * d.z};
  }
  PERRIN_HD double at_rest(double t) const { return to_point ? 0.0 : length + rate * t; }
  PERRIN_HD double energy(const Vec3<double>& d, double t) const {
    const double distance = std::sqrt(dot(d, d));
    if (formula) {
      const double variables[2] = {distance, t};
      return formula.evaluate(variables);
    }
    const double stretch = distance - at_rest(t);
    return stiffness / 2 * stretch * stretch;
  }
  /// Along the distance.
  PERRIN_HD double force(double distance, double t) const {
    if (!slope) return -stiffness * (distance - at_rest(t));
    const double variables[2] = {distance, t};
    return -slope.evaluate(variables);
  }

  PERRIN_HD void operator()(std::int64_t) const {
    Spring& s = *spring;
    const double now = time(), before = now - time.timestep;
    const Vec3<double> last = s.group[two ? 1 : 0].center(*box);
    Vec3<double> d, earlier;  // from where the point is, and was a step before
    if (two) {
      const Vec3<double> first = s.group[0].center(*box);
      d = earlier = along_axes(nearest_by_fractions(*box, last - first));
    } else {
      const auto from = [&](double t) {
        const Vec3<double> r{last.x - point.x - velocity.x * t, last.y - point.y - velocity.y * t,
                             last.z - point.z - velocity.z * t};
        return along_axes(nearest_by_fractions(*box, r));
      };
      d = from(now), earlier = from(before);
    }
    const double distance = std::sqrt(dot(d, d));
    const double along = force(distance, now);
    // Of a spring without length the force is that of each axis.
    const double pull = to_point ? -stiffness : distance > 0 ? along / distance : 0.0;
    const Real3 on_last{Real(pull * d.x / s.group[two ? 1 : 0].v[0]),
                        Real(pull * d.y / s.group[two ? 1 : 0].v[0]),
                        Real(pull * d.z / s.group[two ? 1 : 0].v[0])};
    const double u = energy(d, now);
    s.pull[two ? 1 : 0] = on_last;
    s.share[two ? 1 : 0] = (two ? 0.5 : 1.0) * u / s.group[two ? 1 : 0].v[0];
    if (two) {
      s.pull[0] = {Real(-pull * d.x / s.group[0].v[0]), Real(-pull * d.y / s.group[0].v[0]),
                   Real(-pull * d.z / s.group[0].v[0])};
      s.share[0] = 0.5 * u / s.group[0].v[0];
    }
    s.reading.distance = distance, s.reading.length = at_rest(now), s.reading.force = along;
    if (counts) s.reading.work += u - energy(earlier, before);
  }
};

struct Pull {
  ParticleView particles;
  const Spring* spring;
  GroupMask group[2];
  int groups;
  ForceOutput out;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    const Real m = 1 / particles.velocity[i].w;
    Real3 force{};
    double energy = 0;
    for (int g = 0; g < groups; ++g) {
      if (!group[g].has(id)) continue;
      force += m * spring->pull[g];
      energy += double(m) * spring->share[g];
    }
    deposit(out, particles.n, i, force, Real(energy), Virial{}, Real(1));
  }
};

}  // namespace

GroupRestraint::GroupRestraint(const GroupRestraintSettings& settings, const Formula& formula,
                               const Device& device, const std::vector<Group>& groups)
    : Force(traits_of_restraint()),
      settings_(settings),
      energy_(device, std::span<const formula::Instruction>(formula.energy)),
      slope_(device, std::span<const formula::Instruction>(formula.slope)),
      spring_(device, 1),
      scratch_(device, sum_chunks) {
  for (const Group& group : groups) groups_.emplace_back(device, group);
}

void GroupRestraint::compute(StepContext& context, const ForceOutput& output) {
  const Device& device = context.device();
  const ParticleView particles = context.particles().view();
  const bool two = groups_.size() == 2;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    sum<MassCenterSums>(device, "centre of mass", particles.n,
                        AddToMassCenter{particles, groups_[g].mask()}, scratch_,
                        &spring_.data()->group[g]);
  const auto has = [&](char axis) {
    return settings_.axes.find(axis) != std::string::npos ? 1.0 : 0.0;
  };
  const bool in_step = context.instant() == 1;
  for_each(device, "restraint", 1,
           Stretch{spring_.data(),
                   context.particles().box_state().data(),
                   context.device_time(),
                   settings_.point.value_or(Vec3<double>{}),
                   settings_.velocity,
                   {has('x'), has('y'), has('z')},
                   settings_.stiffness.value_or(0),
                   settings_.length.value_or(0),
                   settings_.rate,
                   two,
                   !two && !settings_.length && !settings_.energy,
                   in_step,
                   {energy_.data(), int(energy_.size())},
                   {slope_.data(), int(slope_.size())}});
  Pull pull{particles, spring_.data(), {}, int(groups_.size()), output};
  for (std::size_t g = 0; g < groups_.size(); ++g) pull.group[g] = groups_[g].mask();
  for_each(device, "group_restraint", context.particles().share(), pull);
}

MomentumChange GroupRestraint::momentum_change(std::span<const std::int64_t>) const {
  if (groups_.size() == 2) return {};
  const auto has = [&](char axis) { return settings_.axes.find(axis) != std::string::npos; };
  return {{has('x'), has('y'), has('z')}, {}};
}

void GroupRestraint::state(Archive& archive) {
  std::vector<double> reading;
  Spring spring = spring_.to_host(0);
  RestraintReading& r = spring.reading;
  if (archive.is_saving()) reading = {r.distance, r.length, r.force, r.work};
  archive("reading", reading);
  if (archive.is_saving()) return;
  archive.require(reading.size() == 4, "reading", "four numbers");
  r = {reading[0], reading[1], reading[2], reading[3]};
  spring_.assign(std::span<const Spring>(&spring, 1));
}

namespace {

/// Reports what is wrong with it.
GroupRestraint::Formula formula_of(const std::string& text, Setup& setup) {
  const std::vector<std::string> variables{"r", "t"};
  try {
    const auto formula = formula::parse(text, variables);
    if (formula.parameters.empty())
      return {formula::program(formula.value, variables),
              formula::program(formula::derivative(formula.value, "r"), variables)};
    setup.error("energy", fmt::format("unknown name \"{}\"; the energy of a restraint is a "
                                      "formula of r and t",
                                      formula.parameters[0]));
  } catch (const UserError& e) {
    setup.error("energy", e.what());
  }
  return {};
}

}  // namespace

void register_group_restraint(Registry& registry) {
  registry.add<Force, GroupRestraintSettings>(
      "group_restraint", "a spring between the centres of mass of two groups, or to a point",
      [](const GroupRestraintSettings& s, Setup& setup) -> std::unique_ptr<Force> {
        if (s.groups.empty() || s.groups.size() > 2) {
          setup.error("groups",
                      fmt::format("must name one or two groups, got {}", s.groups.size()));
          return nullptr;
        }
        std::vector<Group> groups;
        for (std::size_t k = 0; k < s.groups.size(); ++k) {
          const Group* const group = setup.fixed_group(s.groups[k], fmt::format("groups[{}]", k));
          if (!group) return nullptr;
          groups.push_back(*group);
        }
        const bool two = groups.size() == 2;
        const bool moves = s.velocity.x != 0 || s.velocity.y != 0 || s.velocity.z != 0;
        if (two && s.point) setup.error("point", "is for one group; two are held to each other");
        if (two && moves) setup.error("velocity", "is for a point; of two groups use \"rate\"");
        if (s.energy && (s.stiffness || s.length || s.rate != 0))
          setup.error("energy",
                      "stands in place of stiffness, length and rate: give one or the "
                      "other");
        if (two && !s.length && !s.energy)
          setup.error("length", "is missing: the distance at which the spring is at rest");
        if (!two && !s.point) setup.error("point", "is missing: where one group is held");
        if (!s.energy && !s.length && s.rate != 0) setup.error("rate", "needs a \"length\"");
        if (two)
          for (std::size_t id = 0; id < groups[0].members().size(); ++id)
            if (groups[0].has(id) && groups[1].has(id)) {
              setup.error("groups",
                          fmt::format("must have no particle in common: particle {} is in "
                                      "\"{}\" and in \"{}\"",
                                      id, groups[0].name(), groups[1].name()));
              break;
            }
        if (setup.configuration().box.dimension == 2) {
          if (s.axes == "z" || s.axes == "xz" || s.axes == "yz")
            setup.error("axes",
                        fmt::format("must be x, y or xy in two dimensions, got {}", s.axes));
          if (s.point) setup.refuse_z("point", *s.point);
          setup.refuse_z("velocity", s.velocity);
        }
        for (int k = 0; k < 3; ++k)
          if (s.velocity[k] != 0 && s.axes.find("xyz"[k]) == std::string::npos)
            setup.error("velocity", fmt::format("moves the point along {}, which is none of the "
                                                "axes \"{}\" along which the force acts",
                                                "xyz"[k], s.axes));
        const auto formula = s.energy ? formula_of(*s.energy, setup) : GroupRestraint::Formula{};
        return std::make_unique<GroupRestraint>(s, formula, setup.device(), groups);
      });
}

}  // namespace perrin
