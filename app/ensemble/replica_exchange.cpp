#include "app/ensemble/replica_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/components/integrator.h"
#include "engine/dynamics/simulation.h"
#include "engine/settings/json_file.h"
#include "engine/system/particle_swap.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

double kt_of(const Simulation& s) { return s.bath() ? s.bath()->bath_kt(s.step()).value_or(0) : 0; }

/// Why two systems cannot exchange their particles; empty: they can.
std::string objection(const Simulation& a, const Simulation& b) {
  if (!(kt_of(a) > 0) || !(kt_of(b) > 0)) return "a system without a heat bath has no temperature";
  if (a.moves_box() || b.moves_box()) return "boxes must not change";
  if (!(a.particles.box == b.particles.box)) return "their boxes differ";
  if (a.particles.size() != b.particles.size()) return "they have different numbers of particles";
  if (a.particles.types != b.particles.types) return "their particle types differ";
  if (a.particles.attributes != b.particles.attributes) return "attributes of particles differ";
  if (a.particles.charge != b.particles.charge) return "charges of particles differ";
  if (a.particles.topology.bonds.size() != b.particles.topology.bonds.size())
    return "their bonds differ";
  return "";
}

/// Have particles of one id one type and one mass?
bool are_alike(const Particles& a, const Particles& b) {
  const auto position_a = a.by_id(a.position), position_b = b.by_id(b.position);
  const auto velocity_a = a.by_id(a.velocity), velocity_b = b.by_id(b.velocity);
  for (std::size_t id = 0; id < position_a.size(); ++id)
    if (position_a[id].type() != position_b[id].type() || velocity_a[id].w != velocity_b[id].w)
      return false;
  return true;
}

void swap(Simulation& a, Simulation& b, double into_a, double into_b) {
  swap_particles(a.particles, b.particles, into_a, into_b);
  a.particles_were_moved(), b.particles_were_moved();
}

[[noreturn]] void refuse(std::int64_t k, const std::string& why) {
  throw UserError(fmt::format("ensemble.exchange: systems {} and {} cannot exchange particles: {}",
                              k, k + 1, why));
}

void check(std::int64_t k, const Simulation& a, const Simulation& b) {
  if (const std::string why = objection(a, b); !why.empty()) refuse(k, why);
}

double potential(Simulation& s) { return s.totals().potential; }

}  // namespace

ReplicaExchange::ReplicaExchange(ExchangeSettings settings, std::uint64_t seed,
                                 std::int64_t systems)
    : settings_(std::move(settings)),
      seed_(seed),
      replica_(std::size_t(systems)),
      bound_(std::size_t(systems)),
      pairs_(std::size_t(std::max<std::int64_t>(systems - 1, 0))),
      alike_(pairs_.size()) {
  std::iota(replica_.begin(), replica_.end(), 0);
}

bool ReplicaExchange::takes_part(const Run* run) const {
  if (run == nullptr) return false;
  return settings_.stages.empty() ||
         std::ranges::find(settings_.stages, run->stage_name()) != settings_.stages.end();
}

void ReplicaExchange::exchange(std::uint64_t step, const std::vector<Run*>& systems) {
  for (std::size_t k = 0; k + 1 < systems.size(); ++k)
    if (takes_part(systems[k]) && takes_part(systems[k + 1]))
      check(std::int64_t(k), systems[k]->simulation(), systems[k + 1]->simulation());
  const auto attempt = std::int64_t(step / std::uint64_t(settings_.every));
  for (std::int64_t k = attempt % 2; k + 1 < std::int64_t(systems.size()); k += 2) {
    Run *const a = systems[std::size_t(k)], *const b = systems[std::size_t(k) + 1];
    if (!takes_part(a) || !takes_part(b)) continue;
    Pair& pair = pairs_[std::size_t(k)];
    ++pair.tried;
    if (!exchange_pair(step, k, *a, *b)) continue;
    ++pair.accepted;
    std::swap(replica_[std::size_t(k)], replica_[std::size_t(k) + 1]);
  }
  count_trips();
  last_step_ = step;
}

bool ReplicaExchange::exchange_pair(std::uint64_t step, std::int64_t k, Run& a, Run& b) {
  Simulation &sa = a.simulation(), &sb = b.simulation();
  sa.complete(), sb.complete();
  const double kt_a = kt_of(sa), kt_b = kt_of(sb);
  const double u_a = potential(sa), u_b = potential(sb);
  const bool same_forces = a.forces_record() == b.forces_record();
  if (same_forces && kt_a == kt_b) return false;  // nothing would change
  auto& alike = alike_[std::size_t(k)];
  if (!alike && !(alike = are_alike(sa.particles, sb.particles)))
    refuse(k, "types or masses of particles differ");
  double b_in_a = u_b, a_in_b = u_a;
  if (!same_forces) {
    swap(sa, sb, 1, 1);
    b_in_a = potential(sa), a_in_b = potential(sb);
  }
  const double delta = (b_in_a - u_a) / kt_a + (a_in_b - u_b) / kt_b;
  auto random = keyed<Philox>(Purpose::replica_exchange, seed_, step, std::uint32_t(k));
  const double uniform = (double(random.next()) + 0.5) * 0x1p-32;
  const bool accepted = std::log(uniform) < -delta;
  if (!same_forces) swap(sa, sb, 1, 1);
  if (accepted) swap(sa, sb, std::sqrt(kt_a / kt_b), std::sqrt(kt_b / kt_a));
  return accepted;
}

void ReplicaExchange::count_trips() {
  if (replica_.size() < 2) return;
  int& first = bound_[std::size_t(replica_.front())];
  if (first == 2) ++round_trips_;
  first = 1;
  int& last = bound_[std::size_t(replica_.back())];
  if (last == 1) last = 2;
}

std::string ReplicaExchange::state() const {
  Json pairs = Json::array();
  for (const Pair& p : pairs_) pairs.push_back({p.tried, p.accepted});
  return Json{{"last_step", last_step_},
              {"replicas", replica_},
              {"bound", bound_},
              {"pairs", pairs},
              {"round_trips", round_trips_}}
      .dump();
}

void ReplicaExchange::restore(const std::string& text) {
  const Json state = Json::parse(text, nullptr, false);
  try {
    auto replicas = state.at("replicas").get<std::vector<std::int64_t>>();
    auto bound = state.at("bound").get<std::vector<int>>();
    const Json& pairs = state.at("pairs");
    auto sorted = replicas;
    std::ranges::sort(sorted);
    bool good = replicas.size() == replica_.size() && bound.size() == replica_.size() &&
                pairs.size() == pairs_.size();
    for (std::size_t k = 0; good && k < sorted.size(); ++k)
      good = sorted[k] == std::int64_t(k) && bound[k] >= 0 && bound[k] <= 2;
    if (!good) throw UserError("it is of another number of systems");
    for (std::size_t k = 0; k < pairs_.size(); ++k)
      pairs_[k] = {pairs[k].at(0).get<std::int64_t>(), pairs[k].at(1).get<std::int64_t>()};
    last_step_ = state.at("last_step").get<std::uint64_t>();
    round_trips_ = state.at("round_trips").get<std::int64_t>();
    replica_ = std::move(replicas), bound_ = std::move(bound);
  } catch (const std::exception& e) {
    throw UserError(
        fmt::format("the record of replica exchange in the checkpoints is damaged: {}", e.what()));
  }
}

}  // namespace perrin
