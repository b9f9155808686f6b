#include "engine/dynamics/group_integrators.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "engine/components/box_mover.h"
#include "engine/components/no_potential.h"
#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
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

/// Of a particle's position and velocity, unless it is in a group, or a site.
struct Fingerprint {
  ParticleView particles;
  GroupMask without, sites;

  PERRIN_HD static std::uint64_t mixed(std::uint64_t x) {  // of SplitMix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  PERRIN_HD std::uint64_t operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    if (without.has(id) || sites.has(id)) return 0;
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

constexpr std::uint8_t nobody = GroupIntegrators::most;

/// [id]: whether it is a site of a rigid body, or not there.
std::vector<bool> sites(const Configuration& c) {
  std::vector<bool> site(c.type.size());
  for (std::size_t id = 0; id < site.size(); ++id)
    site[id] = c.topology.is_site(id) || is_absent(c.types[c.type[id]]);
  return site;
}

/// Which group each particle but sites is in, and mistakes.
struct Owners {
  std::vector<std::uint8_t> of;  // [id]
  struct Twice {
    std::size_t id, first, second;
  };
  std::optional<Twice> twice;     // the first that is in two groups
  std::int64_t without = 0;       // in none: how many, …
  std::size_t first_without = 0;  // … and the lowest id

  Owners(const std::vector<Group>& groups, const std::vector<bool>& site)
      : of(site.size(), nobody) {
    for (std::size_t k = 0; k < groups.size(); ++k)
      for (std::size_t id = 0; id < of.size(); ++id) {
        if (site[id] || !groups[k].has(id)) continue;
        if (of[id] != nobody && !twice) twice = {id, of[id], k};
        of[id] = std::uint8_t(k);
      }
    for (std::size_t id = of.size(); id-- > 0;)
      if (!site[id] && of[id] == nobody) ++without, first_without = id;
  }
};

/// Reports why an integrator cannot have such a group.
bool suits(const Integrator& one, const Group& group, const std::string& type,
           const std::string& key, Setup& setup) {
  if (!one.acts_on_groups()) {
    setup.error(key, fmt::format("{} moves all particles of a system, and cannot be one of several "
                                 "integrators",
                                 type));
    return false;
  }
  const std::string why = group.changes() ? one.needs_fixed_group() : "";
  if (why.empty()) return true;
  setup.error(key + ".group",
              fmt::format("the particles of \"{}\" are chosen anew every {} steps, and {} {}; "
                          "expected a group that stays the same",
                          group.name(), group.every(), type, why));
  return false;
}

/// Its steps take no time.
bool minimises(const Integrator& one) { return !one.prescribes_motion() && !(one.timestep() > 0); }

/// Of two baths, at all times.
bool same_temperature(const Integrator& one, const Integrator& other) {
  constexpr std::uint64_t late = std::uint64_t(1) << 60;  // after any ramp
  return one.bath_kt(0) == other.bath_kt(0) && one.bath_kt(1) == other.bath_kt(1) &&
         one.bath_kt(late) == other.bath_kt(late);
}

/// Reports time steps that differ, and what cannot stand beside a minimiser.
bool check_timesteps(const std::vector<std::unique_ptr<Integrator>>& integrators,
                     const std::vector<Part<Integrator>>& parts, Setup& setup) {
  bool usable = true;
  const auto wrong = [&](std::size_t k, const std::string& key, const std::string& what) {
    setup.error(fmt::format("integrators[{}]{}", k, key), what);
    usable = false;
  };
  const auto minimiser =
      std::ranges::find_if(integrators, [](const auto& one) { return minimises(*one); });
  if (minimiser != integrators.end()) {
    for (std::size_t k = 0; k < integrators.size(); ++k) {
      if (integrators[k] == *minimiser) continue;
      const auto& type = parts[std::size_t(minimiser - integrators.begin())].type();
      if (parts[k].type() != "frozen")
        wrong(k, "",
              fmt::format("{} cannot stand beside {}, whose steps take no time: expected "
                          "frozen",
                          parts[k].type(), type));
      else if (integrators[k]->timestep() > 0)
        wrong(k, ".timestep",
              fmt::format("must be left out beside {}, whose steps take no time", type));
    }
    return usable;
  }
  double timestep = 0;
  for (std::size_t k = 0; k < integrators.size(); ++k) {
    const double own = integrators[k]->timestep();
    if (timestep > 0 && own > 0 && own != timestep)
      wrong(k, ".timestep",
            fmt::format("must be that of the other integrators, {}, got {}", timestep, own));
    if (!(timestep > 0)) timestep = own;
  }
  if (!(timestep > 0)) wrong(0, ".timestep", "is missing: no other integrator has one");
  return usable;
}

using Integrators = std::vector<std::unique_ptr<Integrator>>;

/// Reports what cannot stand beside a barostat.
bool check_barostats(const Integrators& integrators, const std::vector<Part<Integrator>>& parts,
                     Setup& setup) {
  bool usable = true;
  const auto wrong = [&](std::size_t k, const std::string& key, const std::string& what) {
    setup.error(fmt::format("integrators[{}]{}", k, key), what);
    usable = false;
  };
  const Integrator* owner = nullptr;
  std::size_t of_owner = 0;
  for (std::size_t k = 0; k < integrators.size(); ++k) {
    const BoxMover* const mover = integrators[k]->box_mover();
    if (!mover) continue;
    if (!mover->serves_all_integrators())
      wrong(
          k, minimises(*integrators[k]) ? ".cell" : ".barostat",
          fmt::format("acts on what {} moves alone, and is not possible beside other integrators: "
                      "expected the barostat of velocity_verlet, bussi, langevin or brownian",
                      parts[k].type()));
    else if (owner)
      wrong(k, ".barostat", "is given twice: one integrator changes the box, for all particles");
    else
      owner = integrators[k].get(), of_owner = k;
  }
  if (!owner || !usable) return usable;
  const Configuration& c = setup.configuration();
  for (std::size_t k = 0; k < integrators.size(); ++k) {
    const Integrator& one = *integrators[k];
    if (one.prescribes_motion() && parts[k].type() != "frozen")
      wrong(k, "",
            fmt::format("{} prescribes a path, and cannot stand beside a barostat, which moves all "
                        "particles with the box: expected frozen",
                        parts[k].type()));
    else if (!one.prescribes_motion() && !one.motion().moves_all(c.types.size(), c.box.dimension))
      wrong(k, "",
            "stops particles along axes or by types, which is not possible beside a barostat: "
            "expected an integrator \"frozen\" for them");
    else if (owner->motion().velocities != VelocityRole::bath || one.prescribes_motion())
      continue;
    else if (parts[k].type() != parts[of_owner].type())
      wrong(k, "",
            fmt::format("{} cannot stand beside the barostat of {}: in overdamped motion the "
                        "pressure is that of one bath; expected {} or frozen",
                        parts[k].type(), parts[of_owner].type(), parts[of_owner].type()));
    else if (!same_temperature(one, *owner))
      wrong(k, ".temperature",
            "must be that of the integrator with the barostat, with the same ramp: in overdamped "
            "motion it stands for the kinetic energy in the pressure");
  }
  return usable;
}

/// Reports what cannot stand beside an integrator that applies friction between pairs.
bool check_pair_friction(const Integrators& integrators, const std::vector<Part<Integrator>>& parts,
                         Setup& setup) {
  const auto it = std::ranges::find_if(
      integrators, [](const auto& one) { return one->applies_pair_friction(); });
  if (it == integrators.end()) return true;
  bool usable = true;
  for (std::size_t k = 0; k < integrators.size(); ++k) {
    if (integrators[k] == *it || integrators[k]->prescribes_motion()) continue;
    setup.error(
        fmt::format("integrators[{}]", k),
        fmt::format("{} cannot stand beside {}, whose friction gives momentum from one particle of "
                    "a pair to the other: expected frozen or moving; groot_warren has this "
                    "friction among the forces, and can stand beside all",
                    parts[k].type(), parts[std::size_t(it - integrators.begin())].type()));
    usable = false;
  }
  return usable;
}

}  // namespace

std::unique_ptr<Integrator> GroupIntegrators::make(const std::vector<Part<Integrator>>& parts,
                                                   Setup& setup) {
  std::vector<std::unique_ptr<Integrator>> integrators;
  std::vector<Group> groups;
  const Topology& topology = setup.configuration().topology;
  const auto has_bodies = [&](const Group& group) {
    for (std::size_t id = 0; id < topology.body.size(); ++id)
      if (topology.body[id] == id && (group.changes() || group.has(id))) return true;
    return false;
  };
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
    const std::string name = parts[k] ? record_component(parts[k]).value("group", "") : "";
    integrators.push_back(setup.make(parts[k]));
    if (!integrators.back()) return nullptr;
    const Integrator& one = *integrators.back();
    if (name.empty()) {
      wrong(key, "the key \"group\" is missing: the name of the group that it moves");
      continue;
    }
    const Group* const group = setup.group(name, key + ".group");
    if (!group) return nullptr;
    groups.push_back(*group);
    usable = suits(one, *group, parts[k].type(), key, setup) && usable;
    if (!one.turns_particles() && !one.prescribes_motion() && has_bodies(*group))
      wrong(key,
            fmt::format("{} does not turn rigid bodies, which are in the group \"{}\": expected "
                        "velocity_verlet, bussi, nose_hoover, langevin, brownian, an active "
                        "one, frozen or moving",
                        parts[k].type(), name));
  }
  usable = usable && check_timesteps(integrators, parts, setup) &&
           check_pair_friction(integrators, parts, setup);
  if (!usable) return nullptr;
  const Owners owners(groups, sites(setup.configuration()));
  if (const auto& twice = owners.twice)
    wrong(fmt::format("integrators[{}].group", twice->second),
          fmt::format("particle {} is also in \"{}\", which another integrator moves", twice->id,
                      groups[twice->first].name()));
  // One that moves everybody is alone in its stage.
  if (parts.size() == 1 && owners.without == 0 && !groups[0].changes())
    return std::move(integrators.front());
  usable = check_barostats(integrators, parts, setup) && usable;
  if (usable && owners.without > 0)
    wrong("integrators",
          fmt::format("{} of {} particles are in no group of an integrator, the first is particle "
                      "{}; particles at rest need an integrator \"frozen\"",
                      owners.without, owners.of.size(), owners.first_without));
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
  return std::make_unique<GroupIntegrators>(std::move(integrators), std::move(groups),
                                            setup.configuration(), setup.device());
}

std::unique_ptr<Integrator> GroupIntegrators::of_present(std::unique_ptr<Integrator> integrator,
                                                         const std::string& type, Setup& setup) {
  const Group* const all = setup.group("all", "");
  const char* wrong = !integrator->acts_on_groups() ? "moves all particles of a system"
                      : integrator->box_mover()     ? "changes the box"
                                                    : nullptr;
  if (wrong) {
    setup.error(
        "integrator",
        fmt::format("{} {}, which is not possible where the job has a \"reservoir\"", type, wrong));
    return nullptr;
  }
  std::vector<std::unique_ptr<Integrator>> one;
  one.push_back(std::move(integrator));
  // While it runs nobody comes or goes.
  std::vector<Group> groups{Group("all", all->members())};
  return std::make_unique<GroupIntegrators>(std::move(one), std::move(groups),
                                            setup.configuration(), setup.device());
}

void GroupIntegrators::follow_present(const StepContext& context) {
  const Configuration now = context.particles().configuration();
  type_ = now.type;
  site_ = sites(now);
  all_ = DegreesOfFreedom(now);
  for (auto& member : members_) {
    Group::Members members(site_.size());
    for (std::size_t id = 0; id < members.size(); ++id) members[id] = site_[id] ? 0 : 1;
    member->group.choose(std::move(members));
  }
  find_thermal(share_out());
}

/// Whose velocities count.
void GroupIntegrators::find_thermal(const std::vector<std::uint8_t>& group_of) {
  std::vector<std::uint8_t> thermal(group_of.size(), 1);
  bool all_count = true;
  for (std::size_t id = 0; id < group_of.size(); ++id)
    if (site_[id] || members_[group_of[id]]->integrator->prescribes_motion())
      thermal[id] = 0, all_count = false;
  if (thermal_.size() > 0)
    thermal_.assign(thermal);
  else if (!all_count)
    thermal_ = {group_of_.device(), std::span<const std::uint8_t>(thermal)};
}

GroupIntegrators::GroupIntegrators(std::vector<std::unique_ptr<Integrator>> integrators,
                                   std::vector<Group> groups, const Configuration& configuration,
                                   const Device& device)
    : type_(configuration.type),
      site_(sites(configuration)),
      types_(configuration.types.size()),
      all_(configuration),
      group_of_(device, std::int64_t(configuration.type.size())),
      parts_(device, std::int64_t(integrators.size())) {
  for (std::size_t k = 0; k < integrators.size(); ++k)
    members_.emplace_back(
        new Member{std::move(integrators[k]), std::move(groups[k]), {{}, all_, 0}, {}});
  for (const auto& member : members_) turns_.push_back(member.get());
  std::stable_partition(turns_.begin(), turns_.end(), [](const Member* member) {
    return member->integrator->applies_pair_friction();
  });
  find_thermal(share_out());
  for (std::size_t k = 0; k < members_.size(); ++k)
    members_[k]->own.group = {group_of_.data(), std::uint8_t(k)};
}

/// Takes the groups as they are: whose each particle is, and the degrees of freedom of each
/// integrator. Returns the number of each particle's integrator.
std::vector<std::uint8_t> GroupIntegrators::share_out() {
  std::vector<Group> groups;
  for (const auto& member : members_) groups.push_back(member->group);
  const Owners owners(groups, site_);
  if (const auto& twice = owners.twice)
    throw RunError(
        fmt::format("particle {} has come to be in \"{}\" and in \"{}\": every particle "
                    "must be in the group of exactly one integrator",
                    twice->id, groups[twice->first].name(), groups[twice->second].name()));
  if (owners.without > 0)
    throw RunError(
        fmt::format("particle {} has come to be in no group of an integrator; expected "
                    "groups that make up the system at every time, as one and "
                    "{{\"not\": [it]}}",
                    owners.first_without));
  group_of_.assign(owners.of);
  std::vector<std::vector<std::int64_t>> count(members_.size(), std::vector<std::int64_t>(types_));
  for (std::size_t id = 0; id < site_.size(); ++id)
    if (!site_[id]) ++count[owners.of[id]][type_[id]];
  for (std::size_t k = 0; k < members_.size(); ++k) {
    auto& member = members_[k];
    member->version = member->group.version();
    member->own.degrees_of_freedom = {all_, count[k]};
    member->own.degrees_of_freedom.count({}, member->integrator->motion());
  }
  find_motion(owners.of);
  return owners.of;
}

/// What all of them move together.
void GroupIntegrators::find_motion(const std::vector<std::uint8_t>& group_of) {
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
    for (std::size_t k = 0; !site_[id] && k < 3; ++k) {
      const bool moves = !members_[group_of[id]]->integrator->prescribes_motion() &&
                         motions[group_of[id]].moves(type_[id], id, k);
      axes |= std::uint8_t(moves ? 1u << k : 0u);
      each->moving[k] += moves ? 1 : 0;
    }
    each->axes.push_back(axes);
  }
  motion_.of_each = std::move(each);
}

bool GroupIntegrators::follow_group(StageContext& context) {
  if (std::ranges::none_of(
          members_, [](const auto& member) { return member->version != member->group.version(); }))
    return false;
  share_out();
  bool records_anew = false;
  for (auto& member : members_) {
    context.exchange(member->own);
    records_anew = member->integrator->follow_group(context) || records_anew;
    context.exchange(member->own);
  }
  context.follow_groups(*this, records_anew);
  return records_anew;
}

void GroupIntegrators::follow_attributes(
    const std::map<std::string, std::vector<double>>& changed) {
  for (auto& member : members_)
    if (auto* const reader = dynamic_cast<AttributeReader*>(member->integrator.get()))
      reader->follow_attributes(changed);
}

void GroupIntegrators::begin(StageContext& context) {
  // First those that set velocities, which forces of the others may read.
  for (const bool sets : {true, false})
    for (auto& member : members_) {
      if (member->integrator->prescribes_motion() != sets) continue;
      context.exchange(member->own);
      member->integrator->begin(context);
      context.exchange(member->own);
    }
  context.ensure_forces();
  context.prepare(*this);
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
  // A barostat changes velocities of all, in the turn of the one that comes first.
  const bool box_moves = turns_.front()->at == StepMeeting::box;
  const bool watches = watched_ > 0 && !box_moves && !context.device().queue().recording() &&
                       !context.device().halt().skipping();
  for (Member* const member : turns_)
    if (!member->fiber.done())
      watches ? resume_watched(context, *member) : resume(context, *member);
  if (watches) --watched_;
  while (run_passes()) {
  }
  const Member& first = *members_.front();
  for (const auto& member : members_) {
    const bool together = member->fiber.done() == first.fiber.done() &&
                          (first.fiber.done() || member->at == first.at);
    if (!together && !context.forces().empty())
      throw BugError(
          fmt::format("the integrators of the groups \"{}\" and \"{}\" do not ask for neighbours, "
                      "box and forces equally often: they cannot be combined",
                      first.group.name(), member->group.name()));
  }
  return std::ranges::any_of(members_, [](const auto& member) { return !member->fiber.done(); });
}

void GroupIntegrators::resume(StepContext& context, Member& member) {
  running_ = &member;
  context.exchange(member.own);
  try {
    member.fiber.resume();
  } catch (...) {
    context.exchange(member.own);  // a step that cannot be noted for a batch is launched again
    throw;
  }
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
                  member.group.name()));
}

std::uint64_t GroupIntegrators::fingerprint_of_others(StepContext& context, const Member& member) {
  const auto k =
      std::ranges::find_if(members_, [&](const auto& other) { return other.get() == &member; });
  const GroupMask group{group_of_.data(), std::uint8_t(k - members_.begin())};
  return sum<std::uint64_t>(
      context.device(), "particles of other groups", context.particles().size(),
      Fingerprint{context.particles().view(), group, {group_of_.data(), nobody}});
}

bool GroupIntegrators::meet(StepMeeting meeting) {
  running_->at = meeting;
  running_->fiber.wait();
  return std::exchange(nobody_has_done_it_, false);
}

void GroupIntegrators::meet(const GroupPass& pass) {
  // Alone where it is watched, on the CPU, where it costs nothing to be, and where friction of
  // pairs follows in the same turn, before others move on.
  if (watched_ > 0 || !context_->device().is_cuda() || applies_pair_friction())
    return pass.run(*context_, pass, nullptr);
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

double GroupIntegrators::timestep() const {
  double timestep = 0;
  for (const auto& member : members_) timestep = std::max(timestep, member->integrator->timestep());
  return timestep;
}

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

bool GroupIntegrators::finished(const StepContext& context) {
  bool all = true;
  for (auto& member : members_)
    if (!member->integrator->prescribes_motion())
      all = member->integrator->finished(context) && all;
  return all;
}

std::int64_t GroupIntegrators::finish_stride() const {
  std::int64_t stride = 0;
  for (const auto& member : members_)
    stride = std::gcd(stride, member->integrator->finish_stride());
  return stride;
}

std::string GroupIntegrators::report() {
  std::string all;
  for (auto& member : members_)
    if (const std::string one = member->integrator->report(); !one.empty())
      all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", member->group.name(), one);
  return all;
}

std::string GroupIntegrators::shortcoming() {
  std::string all;
  for (auto& member : members_)
    if (const std::string one = member->integrator->shortcoming(); !one.empty())
      all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", member->group.name(), one);
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
    if (members_[k]->group.name() == group) return parts_.data() + k;
  return nullptr;
}

void GroupIntegrators::measure_work(StepContext& context, double* work) {
  add_up(context, work, [&](Integrator& one, double* part) { one.measure_work(context, part); });
}

bool GroupIntegrators::turns_particles() const {
  return std::ranges::any_of(
      members_, [](const auto& member) { return member->integrator->turns_particles(); });
}

bool GroupIntegrators::takes_impulses() const {
  return std::ranges::all_of(members_,
                             [](const auto& m) { return m->integrator->takes_impulses(); });
}

bool GroupIntegrators::applies_pair_friction() const {
  return std::ranges::any_of(members_,
                             [](const auto& m) { return m->integrator->applies_pair_friction(); });
}

BoxMover* GroupIntegrators::box_mover() const {
  for (const auto& member : members_)
    if (BoxMover* const mover = member->integrator->box_mover()) return mover;
  return nullptr;
}

std::string GroupIntegrators::objection(const Force& force) const {
  for (const auto& member : members_)
    if (std::string why = member->integrator->objection(force); !why.empty())
      return "\"" + member->group.name() + "\" " + why;
  return {};
}

void GroupIntegrators::state(Archive& archive) {
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Archive::Scope scope(archive, fmt::format("group{}", k));
    members_[k]->integrator->state(archive);
  }
}

bool works_without_potential(const Integrator& integrator) {
  if (dynamic_cast<const NoPotential*>(&integrator)) return true;
  const auto* const several = dynamic_cast<const GroupIntegrators*>(&integrator);
  return several && std::ranges::any_of(several->members_, [](const auto& member) {
           return works_without_potential(*member->integrator);
         });
}

}  // namespace perrin
