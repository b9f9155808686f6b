#include "engine/dynamics/group_integrators.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/simulation.h"
#include "engine/settings/settings_schema.h"

namespace perrin {
namespace {

struct AddUp {
  const double* part;
  std::int64_t count;
  double* total;
  PERRIN_HD void operator()(std::int64_t) const {
    double sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += part[k];
    *total = sum;
  }
};

/// Of a particle's position and velocity, unless it is in a group.
struct Fingerprint {
  ParticleView particles;
  GroupMask without;

  PERRIN_HD static std::uint64_t mixed(std::uint64_t x) {  // of SplitMix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  PERRIN_HD std::uint64_t operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    if (without.has(id)) return 0;
    const Position p = particles.position[i];
    const Real4 v = particles.velocity[i];
    std::uint64_t x = mixed(id);
    x = mixed(x ^ (std::uint64_t(p.x) << 32 | p.y));
    x = mixed(x ^ p.z);
    for (const Real u : {v.x, v.y, v.z}) x = mixed(x ^ bits(double(u)));
    return x;
  }
  PERRIN_HD static std::uint64_t bits(double u) {
#ifdef __CUDA_ARCH__
    return std::uint64_t(__double_as_longlong(u));
#else
    return std::bit_cast<std::uint64_t>(u);
#endif
  }
};

constexpr std::uint8_t nobody = 255;

}  // namespace

std::unique_ptr<Integrator> GroupIntegrators::make(const std::vector<Part<Integrator>>& parts,
                                                   Setup& setup) {
  const Configuration& c = setup.configuration();
  std::vector<std::unique_ptr<Integrator>> integrators;
  std::vector<std::string> names;
  std::vector<std::uint8_t> group_of(c.position.size(), nobody);
  bool usable = true;
  const auto wrong = [&](const std::string& key, const std::string& what) {
    setup.error(key, what);
    usable = false;
  };
  if (parts.size() >= most)
    wrong("integrators",
          fmt::format("must have fewer than {} entries, got {}", most, parts.size()));
  for (std::size_t k = 0; usable && k < parts.size(); ++k) {
    const std::string key = fmt::format("integrators[{}]", k);
    names.push_back(parts[k] ? record_component(parts[k]).value("group", "") : "");
    integrators.push_back(setup.make(parts[k]));
    if (!integrators.back()) return nullptr;
    const Integrator& one = *integrators.back();
    if (names[k].empty()) {
      wrong(key, "the key \"group\" is missing: the name of the group that it moves");
      continue;
    }
    const Group* const group = setup.fixed_group(names[k], key + ".group");
    if (!group) return nullptr;
    if (!one.acts_on_groups())
      wrong(key, fmt::format("{} moves all particles of a system, and cannot be one of several "
                             "integrators",
                             parts[k].type()));
    if (one.box_mover()) wrong(key + ".barostat", "is not possible beside other integrators");
    if (one.timestep() != integrators[0]->timestep())
      wrong(key + ".timestep", fmt::format("must be that of the other integrators, {}, got {}",
                                           integrators[0]->timestep(), one.timestep()));
    for (std::size_t id = 0; usable && id < group_of.size(); ++id) {
      if (!group->has(id)) continue;
      if (group_of[id] != nobody)
        wrong(key + ".group", fmt::format("particle {} is also in \"{}\", which another integrator "
                                          "moves",
                                          id, names[group_of[id]]));
      group_of[id] = std::uint8_t(k);
    }
  }
  if (!usable) return nullptr;
  // One that moves everybody is alone in its stage.
  if (parts.size() == 1 && std::ranges::count(group_of, nobody) == 0)
    return std::move(integrators.front());
  const auto left = std::ranges::count(group_of, nobody);
  if (left > 0)
    wrong(
        "integrators",
        fmt::format("{} of {} particles are in no group of an integrator, the first is particle "
                    "{}; particles at rest need an integrator \"frozen\"",
                    left, group_of.size(), std::ranges::find(group_of, nobody) - group_of.begin()));
  bool moved = false, overdamped = false;
  for (const auto& one : integrators) {
    if (one->prescribes_motion()) continue;
    (one->motion().velocities == VelocityRole::moved ? moved : overdamped) = true;
  }
  if (moved && overdamped)
    wrong("integrators",
          "integrators whose particles have velocities and integrators of overdamped motion cannot "
          "be combined");
  if (!usable) return nullptr;
  return std::make_unique<GroupIntegrators>(std::move(integrators), std::move(names),
                                            std::move(group_of), c, setup.device());
}

GroupIntegrators::GroupIntegrators(std::vector<std::unique_ptr<Integrator>> integrators,
                                   std::vector<std::string> groups,
                                   std::vector<std::uint8_t> group_of,
                                   const Configuration& configuration, const Device& device)
    : group_of_(device, std::span<const std::uint8_t>(group_of)),
      parts_(device, std::int64_t(integrators.size())) {
  const DegreesOfFreedom all(configuration);
  for (std::size_t k = 0; k < integrators.size(); ++k) {
    std::vector<std::int64_t> counts(configuration.types.size(), 0);
    for (std::size_t id = 0; id < group_of.size(); ++id)
      if (group_of[id] == k) ++counts[configuration.type[id]];
    const GroupMask mask{group_of_.data(), std::uint8_t(k)};
    std::unique_ptr<Member> member(
        new Member{std::move(integrators[k]), groups[k], {mask, {all, std::move(counts)}, 0}, {}});
    member->own.degrees_of_freedom.count({}, member->integrator->motion());
    members_.push_back(std::move(member));
  }
  find_motion(group_of, configuration);
  std::vector<std::uint8_t> thermal(group_of.size(), 1);
  bool all_count = true;
  for (std::size_t id = 0; id < group_of.size(); ++id)
    if (members_[group_of[id]]->integrator->prescribes_motion()) thermal[id] = 0, all_count = false;
  if (!all_count) thermal_ = {device, std::span<const std::uint8_t>(thermal)};
}

/// What all of them move together.
void GroupIntegrators::find_motion(const std::vector<std::uint8_t>& group_of,
                                   const Configuration& configuration) {
  auto each = std::make_shared<Motion::OfEach>();
  std::vector<Motion> motions;
  for (const auto& member : members_) {
    motions.push_back(member->integrator->motion());
    if (member->integrator->prescribes_motion()) continue;
    motion_.velocities = motions.back().velocities;
    motion_.conserves_momentum = motion_.conserves_momentum && motions.back().conserves_momentum &&
                                 !member->integrator->bath_kt(0);
  }
  for (std::size_t id = 0; id < group_of.size(); ++id) {
    std::uint8_t axes = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const bool moves = !members_[group_of[id]]->integrator->prescribes_motion() &&
                         motions[group_of[id]].moves(configuration.type[id], id, k);
      axes |= std::uint8_t(moves ? 1u << k : 0u);
      each->moving[k] += moves ? 1 : 0;
    }
    each->axes.push_back(axes);
  }
  motion_.of_each = std::move(each);
}

void GroupIntegrators::begin(Simulation& simulation) {
  for (auto& member : members_) {
    simulation.exchange(member->own);
    member->integrator->begin(simulation);
    simulation.exchange(member->own);
  }
  simulation.prepare(*this);
  constexpr int first_step = 3;  // before its neighbours, before its forces, after them
  watched_ = first_step;
}

void GroupIntegrators::end() {
  for (auto& member : members_) member->integrator->end();
}

void GroupIntegrators::steps(StepContext& context, int n) {
  context.set_meetings(this);
  context_ = &context;
  for (auto& member : members_) {
    Integrator& integrator = *member->integrator;
    member->own.step_of_recording = 0;
    member->fiber.start([&context, &integrator, n] { integrator.steps(context, n); });
  }
  try {
    while (take_turns(context)) {
    }
  } catch (...) {
    for (auto& member : members_) member->fiber.cancel(), member->pass = nullptr;
    context.set_meetings(nullptr);
    throw;
  }
  context.set_meetings(nullptr);
}

/// Each goes on to where it meets the others next. False: they have ended.
bool GroupIntegrators::take_turns(StepContext& context) {
  nobody_has_done_it_ = true;
  const bool watches =
      watched_ > 0 && !context.device().recording() && !context.device().skipping();
  for (auto& member : members_)
    if (!member->fiber.done())
      watches ? resume_watched(context, *member) : resume(context, *member);
  if (watches) --watched_;
  while (run_passes()) {
  }
  const Member& first = *members_.front();
  for (const auto& member : members_) {
    const bool together = member->fiber.done() == first.fiber.done() &&
                          (first.fiber.done() || member->at == first.at);
    if (!together && !context.forces.empty())
      throw BugError(
          fmt::format("the integrators of the groups \"{}\" and \"{}\" do not ask for neighbours "
                      "and forces equally often: they cannot be combined",
                      first.group, member->group));
  }
  return std::ranges::any_of(members_, [](const auto& member) { return !member->fiber.done(); });
}

void GroupIntegrators::resume(StepContext& context, Member& member) {
  running_ = &member;
  context.exchange(member.own);
  member.fiber.resume();
  context.exchange(member.own);
}

/// Throws RunError where an integrator, of a plug-in perhaps, moves particles of other groups.
void GroupIntegrators::resume_watched(StepContext& context, Member& member) {
  const std::uint64_t before = fingerprint_of_others(context, member);
  resume(context, member);
  if (fingerprint_of_others(context, member) == before) return;
  throw RunError(
      fmt::format("the integrator of the group \"{}\" has moved particles of other groups: it does "
                  "not know groups, and can only move all particles of a system",
                  member.group));
}

std::uint64_t GroupIntegrators::fingerprint_of_others(StepContext& context, const Member& member) {
  const auto k =
      std::ranges::find_if(members_, [&](const auto& other) { return other.get() == &member; });
  const GroupMask group{group_of_.data(), std::uint8_t(k - members_.begin())};
  return sum<std::uint64_t>(context.device(), "particles of other groups", context.particles.size(),
                            Fingerprint{context.particles.view(), group});
}

bool GroupIntegrators::meet(StepMeeting meeting) {
  running_->at = meeting;
  running_->fiber.wait();
  return std::exchange(nobody_has_done_it_, false);
}

void GroupIntegrators::meet(const GroupPass& pass) {
  // Alone where it is watched, and on the CPU, where it costs nothing to be.
  if (watched_ > 0 || !context_->device().is_cuda()) return pass.run(*context_, pass, nullptr);
  running_->pass = &pass;
  running_->fiber.wait();
}

/// Launches the passes that are waited for, two and two where they are alike, and lets those who
/// wait go on. False: nobody waits.
bool GroupIntegrators::run_passes() {
  std::vector<Member*> waiting;
  for (auto& member : members_)
    if (member->pass) waiting.push_back(member.get());
  std::vector<const GroupPass*> left;
  for (const Member* member : waiting) left.push_back(member->pass);
  while (!left.empty()) {
    const GroupPass& one = *left.front();
    left.erase(left.begin());
    const auto other =
        std::ranges::find_if(left, [&](const GroupPass* pass) { return pass->run == one.run; });
    one.run(*context_, one, other == left.end() ? nullptr : *other);
    if (other != left.end()) left.erase(other);
  }
  for (Member* member : waiting) {
    member->pass = nullptr;
    resume(*context_, *member);
  }
  return !waiting.empty();
}

double GroupIntegrators::timestep() const { return members_.front()->integrator->timestep(); }

double GroupIntegrators::typical_displacement(const StepContext& context) const {
  double largest = 0;
  for (const auto& member : members_)
    if (!member->integrator->prescribes_motion())
      largest = std::max(largest, member->integrator->typical_displacement(context));
  return largest;
}

bool GroupIntegrators::recordable() const {
  return std::ranges::all_of(members_,
                             [](const auto& member) { return member->integrator->recordable(); });
}

bool GroupIntegrators::finished(Simulation& simulation) {
  bool all = true;
  for (auto& member : members_) all = member->integrator->finished(simulation) && all;
  return all;
}

std::int64_t GroupIntegrators::finish_stride() const {
  std::int64_t stride = 0;
  for (const auto& member : members_)
    stride = std::gcd(stride, member->integrator->finish_stride());
  return stride;
}

std::string GroupIntegrators::report(Simulation& simulation) {
  std::string all;
  for (auto& member : members_)
    if (const std::string one = member->integrator->report(simulation); !one.empty())
      all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", member->group, one);
  return all;
}

std::string GroupIntegrators::shortcoming(Simulation& simulation) {
  std::string all;
  for (auto& member : members_)
    if (const std::string one = member->integrator->shortcoming(simulation); !one.empty())
      all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", member->group, one);
  return all;
}

/// Of all, where it is the same for all that move.
std::optional<double> GroupIntegrators::bath_kt(std::uint64_t steps) const {
  std::optional<double> common;
  for (const auto& member : members_) {
    if (member->integrator->prescribes_motion()) continue;
    const auto one = member->integrator->bath_kt(steps);
    if (!one || (common && *common != *one)) return {};
    common = one;
  }
  return common;
}

/// *total = the sum of what measure(integrator, place) has put there.
template <class Measure>
void GroupIntegrators::add_up(StepContext& context, double* total, const Measure& measure) {
  for (std::size_t k = 0; k < members_.size(); ++k)
    measure(*members_[k]->integrator, parts_.data() + k);
  for_each(context.device(), "sum of integrators", 1, AddUp{parts_.data(), parts_.size(), total});
}

void GroupIntegrators::measure_heat(StepContext& context, double* heat) {
  add_up(context, heat, [&](Integrator& one, double* part) { one.measure_heat(context, part); });
}

const double* GroupIntegrators::measured_heat_of(const std::string& group) const {
  for (std::size_t k = 0; k < members_.size(); ++k)
    if (members_[k]->group == group) return parts_.data() + k;
  return nullptr;
}

void GroupIntegrators::measure_work(StepContext& context, double* work) {
  add_up(context, work, [&](Integrator& one, double* part) { one.measure_work(context, part); });
}

bool GroupIntegrators::turns_particles() const {
  return std::ranges::any_of(
      members_, [](const auto& member) { return member->integrator->turns_particles(); });
}

std::string GroupIntegrators::objection(const Force& force) const {
  for (const auto& member : members_)
    if (std::string why = member->integrator->objection(force); !why.empty())
      return "\"" + member->group + "\" " + why;
  return {};
}

void GroupIntegrators::state(Archive& archive) {
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Archive::Scope scope(archive, fmt::format("group{}", k));
    members_[k]->integrator->state(archive);
  }
}

}  // namespace perrin
