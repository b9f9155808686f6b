#include "app/ensemble/replica_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <type_traits>

#include "app/ensemble/particle_parcel.h"
#include "app/ensemble/system_hashes.h"
#include "engine/base/error.h"
#include "engine/components/integrator.h"
#include "engine/dynamics/reservoir.h"
#include "engine/dynamics/scheduled_changes.h"
#include "engine/dynamics/simulation.h"
#include "engine/settings/json_file.h"
#include "engine/system/particle_swap.h"
#include "integrators/barostat.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

/// nullptr: the box does not change, or by something else.
const Barostat* barostat_of(const Simulation& s) {
  const Integrator* const bath = s.bath();
  return bath != nullptr && s.deformation() == nullptr
             ? dynamic_cast<const Barostat*>(bath->box_mover())
             : nullptr;
}

[[noreturn]] void refuse(std::int64_t k, const std::string& why) {
  throw UserError(fmt::format("ensemble.exchange: systems {} and {} cannot exchange particles: {}",
                              k, k + 1, why));
}

/// After particles and box of another system have come.
void were_moved(Simulation& s) {
  if (s.moves_box()) s.follow_box();
  s.particles_were_moved();
}

double potential(Simulation& s) { return s.totals().potential; }

/// Bytes of values, and back: what processes of one build send each other.
template <class T>
void put(std::string& text, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
std::vector<T> values_of(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  std::vector<T> values(all.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), all.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

/// What all processes know of a system when they decide.
struct ReplicaExchange::Card {
  std::int64_t system = -1, particles = 0;
  double kt = 0, potential = 0, pressure = 0;  // pressure: of a barostat
  Box box, given_box;
  std::uint64_t types = 0, attributes = 0, charges = 0, forces = 0, kinds = 0, axes = 0;
  std::uint64_t topology = 0;
  int process = 0;
  bool takes_part = false, moves_box = false, barostat = false, orientations = false;
  bool comes_and_goes = false, links = false;  // particles; bonds

  /// U + P V of a potential energy in a box.
  double enthalpy(double energy, const Box& in) const { return energy + pressure * in.volume(); }
  /// Why two systems cannot exchange their particles; empty: they can.
  std::string objection(const Card& other) const {
    if (!(kt > 0) || !(other.kt > 0)) return "a system without a heat bath has no temperature";
    if (moves_box != barostat || other.moves_box != other.barostat)
      return "boxes must not change, or by the barostat of velocity_verlet, bussi, langevin, "
             "brownian or monte_carlo";
    if (barostat != other.barostat) return "one of them has a barostat";
    if (axes != other.axes) return "axes of their barostats differ";
    if (barostat && !(given_box == other.given_box)) return "their boxes at the start differ";
    if (!barostat && !(box == other.box)) return "their boxes differ";
    if (comes_and_goes || other.comes_and_goes)
      return "particles of a \"reservoir\" come and go, and replicas would need a chemical "
             "potential for their difference";
    if (links || other.links) return "\"dynamic_bonds\" change their bonds";
    if (particles != other.particles) return "they have different numbers of particles";
    if (types != other.types) return "their particle types differ";
    if (attributes != other.attributes) return "attributes or diameters of particles differ";
    if (charges != other.charges) return "charges of particles differ";
    if (topology != other.topology)
      return "their bonds, angles, dihedrals, impropers, constraints, molecules or "
             "rigid bodies differ";
    if (orientations != other.orientations) return "particles of one have no orientations";
    return "";
  }
};

ReplicaExchange::ReplicaExchange(ExchangeSettings settings, std::uint64_t seed,
                                 std::int64_t systems, Communicator& all)
    : Exchange(settings),
      settings_(std::move(settings)),
      seed_(seed),
      all_(all),
      replica_(std::size_t(systems)),
      bound_(std::size_t(systems)),
      pairs_(std::size_t(std::max<std::int64_t>(systems - 1, 0))),
      known_(std::size_t(systems)) {
  std::iota(replica_.begin(), replica_.end(), 0);
}

/// `tried`: it is in a pair of this attempt.
ReplicaExchange::Card ReplicaExchange::card_of(std::int64_t system, Run& run, bool tried) {
  Simulation& s = run.simulation();
  const Particles& p = s.particles();
  Card card;
  card.system = system, card.process = all_.rank(), card.takes_part = true;
  card.particles = p.size();
  card.comes_and_goes = first_absent_type(p.properties().types) < p.properties().types.size();
  card.links = s.changes().bonds() != nullptr;
  card.kt = kt_of(s), card.box = p.box(), card.moves_box = s.moves_box();
  if (const Barostat* const barostat = barostat_of(s)) {
    card.barostat = true, card.pressure = barostat->pressure(s.step());
    card.axes = hash_of(barostat->settings().axes), card.given_box = p.box_state().given();
  }
  card.types = types_hash(p), card.attributes = attributes_hash(p);
  Known& known = known_[std::size_t(system)];
  if (known.topology == 0) known.topology = topology_hash(p.properties().topology) | 1;
  if (known.forces == 0) known.forces = forces_hash(s) | 1;
  card.topology = known.topology;
  card.charges = hash_of(p.properties().charge),
  card.forces = hash_of(run.forces_record(), known.forces);
  card.orientations = p.orientations() != nullptr;
  if (!tried) return card;
  s.complete();
  card.potential = potential(s);
  if (known.kinds == 0) known.kinds = kinds_hash(p);
  card.kinds = known.kinds;
  return card;
}

/// [system]: of those that do not take part an empty one.
std::vector<ReplicaExchange::Card> ReplicaExchange::cards_of_all(std::int64_t first,
                                                                 const std::vector<Run*>& systems) {
  const auto n = std::int64_t(systems.size());
  std::string mine;
  for (std::int64_t k = 0; k < n; ++k)
    if (Run* const run = systems[std::size_t(k)]; takes_part(run))
      put(mine, card_of(k, *run, k >= first && k < first + (n - first) / 2 * 2));
  std::vector<Card> cards(systems.size());
  for (const Card& card : values_of<Card>(all_.all_gather(mine)))
    cards.at(std::size_t(card.system)) = card;
  return cards;
}

/// [2 j], [2 j + 1]: of the two systems of pair j, with the particles that they now have.
std::vector<double> ReplicaExchange::energies_of_all(const std::vector<std::int64_t>& pairs,
                                                     const std::vector<Run*>& systems) {
  struct Energy {
    std::size_t at;
    double value;
  };
  std::string mine;
  for (std::size_t at = 0; at < 2 * pairs.size(); ++at)
    if (Run* const run = systems[std::size_t(pairs[at / 2]) + at % 2])
      put(mine, Energy{at, potential(run->simulation())});
  std::vector<double> energies(2 * pairs.size());
  for (const Energy& energy : values_of<Energy>(all_.all_gather(mine)))
    energies.at(energy.at) = energy.value;
  return energies;
}

void ReplicaExchange::swap(const std::vector<Swap>& swaps, const std::vector<Card>& cards,
                           const std::vector<Run*>& systems) {
  struct Journey {
    Simulation& simulation;
    double factor;
    std::string out, in;
  };
  std::vector<ParticleSwap> pairs;
  for (const Swap& swap : swaps) {
    const auto k = std::size_t(swap.pair);
    if (systems[k] && systems[k + 1])
      pairs.push_back({&systems[k]->simulation().particles(),
                       &systems[k + 1]->simulation().particles(), swap.into_first,
                       swap.into_second});
  }
  swap_particles(pairs);
  std::deque<Journey> journeys;  // between processes
  for (const Swap& swap : swaps) {
    const auto k = std::size_t(swap.pair);
    Run *const a = systems[k], *const b = systems[k + 1];
    if (a && b) {
      Simulation &sa = a->simulation(), &sb = b->simulation();
      const Box of_a = sa.particles().box(), of_b = sb.particles().box();
      if (!(of_a == of_b))
        sa.particles().box_state().set(of_b), sb.particles().box_state().set(of_a);
      were_moved(sa), were_moved(sb);
    } else if (a || b) {
      Simulation& here = (a ? a : b)->simulation();
      Journey& journey = journeys.emplace_back(Journey{
          here, a ? swap.into_first : swap.into_second, pack_particles(here.particles()), {}});
      journey.in.resize(journey.out.size());
      const int there = cards[a ? k + 1 : k].process;
      all_.receive(there, journey.in.data(), journey.in.size());
      all_.send(there, journey.out.data(), journey.out.size());
    }
  }
  all_.wait();
  for (const Journey& journey : journeys) {
    unpack_particles(journey.in, journey.factor, journey.simulation.particles());
    were_moved(journey.simulation);
  }
}

bool ReplicaExchange::accept(std::uint64_t step, std::int64_t pair, double delta) const {
  auto random = keyed<Philox>(Purpose::replica_exchange, seed_, step, std::uint32_t(pair));
  const double uniform = (double(random.next()) + 0.5) * 0x1p-32;
  return std::log(uniform) < -delta;
}

std::vector<Exchange::Failure> ReplicaExchange::exchange(std::uint64_t step,
                                                         const std::vector<Run*>& systems) {
  const auto first = std::int64_t(step / std::uint64_t(settings_.every)) % 2;
  const std::vector<Card> cards = cards_of_all(first, systems);
  const auto both = [&](std::size_t k) { return cards[k].takes_part && cards[k + 1].takes_part; };
  for (std::size_t k = 0; k + 1 < cards.size(); ++k)
    if (both(k))
      if (const std::string why = cards[k].objection(cards[k + 1]); !why.empty())
        refuse(std::int64_t(k), why);

  std::vector<std::int64_t> tried, asked;  // pairs; asked: their forces differ
  std::vector<Swap> trials;
  for (auto k = std::size_t(first); k + 1 < cards.size(); k += 2) {
    if (!both(k)) continue;
    ++pairs_[k].tried;
    const Card &a = cards[k], &b = cards[k + 1];
    if (a.kinds != b.kinds)
      refuse(std::int64_t(k), "types, masses or moments of inertia of particles differ");
    tried.push_back(std::int64_t(k));
    if (a.forces == b.forces) continue;
    asked.push_back(std::int64_t(k));
    trials.push_back({std::int64_t(k)});
  }
  std::vector<double> elsewhere;  // energies with the particles of the other
  if (!asked.empty()) {
    swap(trials, cards, systems);
    elsewhere = energies_of_all(asked, systems);
    swap(trials, cards, systems);
  }
  std::vector<Swap> accepted;
  for (const std::int64_t k : tried) {
    const Card &a = cards[std::size_t(k)], &b = cards[std::size_t(k) + 1];
    double b_in_a = b.potential, a_in_b = a.potential;
    if (const auto it = std::ranges::find(asked, k); it != asked.end()) {
      const auto j = std::size_t(it - asked.begin());
      b_in_a = elsewhere[2 * j], a_in_b = elsewhere[2 * j + 1];
    }
    const double delta = (a.enthalpy(b_in_a, b.box) - a.enthalpy(a.potential, a.box)) / a.kt +
                         (b.enthalpy(a_in_b, a.box) - b.enthalpy(b.potential, b.box)) / b.kt;
    if (!accept(step, k, delta)) continue;
    accepted.push_back({k, std::sqrt(a.kt / b.kt), std::sqrt(b.kt / a.kt)});
    ++pairs_[std::size_t(k)].accepted;
    std::swap(replica_[std::size_t(k)], replica_[std::size_t(k) + 1]);
  }
  swap(accepted, cards, systems);
  count_trips();
  last_step_ = step;
  return {};
}

void ReplicaExchange::count_trips() {
  if (replica_.size() < 2) return;
  int& first = bound_[std::size_t(replica_.front())];
  if (first == 2) ++round_trips_;
  first = 1;
  int& last = bound_[std::size_t(replica_.back())];
  if (last == 1) last = 2;
}

std::vector<std::string> ReplicaExchange::columns() const {
  std::vector<std::string> columns;
  for (std::size_t k = 0; k < replica_.size(); ++k) columns.push_back(fmt::format("system_{}", k));
  return columns;
}

std::vector<std::string> ReplicaExchange::row() const {
  std::vector<std::string> row;
  for (const std::int64_t replica : replica_) row.push_back(std::to_string(replica));
  return row;
}

std::vector<std::string> ReplicaExchange::warnings() const {
  if (std::ranges::any_of(pairs_, [](const Pair& pair) { return pair.tried > 0; })) return {};
  return {
      fmt::format("ensemble.exchange: warning: no exchange was tried: neighbours take turns in "
                  "steps that are multiples of \"every\", {}, and the stages with exchanges had "
                  "too few of these before their ends",
                  settings_.every)};
}

std::vector<std::string> ReplicaExchange::summary() const {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const Pair& pair = pairs_[k];
    if (pair.tried > 0)
      lines.push_back(fmt::format("exchange  {} and {}: {} of {} accepted ({:.3f})", k, k + 1,
                                  pair.accepted, pair.tried,
                                  double(pair.accepted) / double(pair.tried)));
  }
  lines.push_back(fmt::format("exchange  {} round trips of replicas", round_trips_));
  return lines;
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
