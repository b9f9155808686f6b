#include "engine/dynamics/dynamic_bonds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "engine/base/error.h"
#include "engine/dynamics/close_pairs.h"
#include "engine/system/checks.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

using IdPair = std::pair<std::uint32_t, std::uint32_t>;

IdPair in_order(std::uint32_t a, std::uint32_t b) { return {std::min(a, b), std::max(a, b)}; }

/// A number from 0 to below 1 of a pair of particles, for a rule.
class PairNumbers {
 public:
  PairNumbers(Purpose purpose, std::uint64_t seed, std::size_t rule, std::uint64_t step)
      : key_(purpose, instance_seed(seed, std::uint32_t(rule))), step_(step) {}
  double operator()(std::uint32_t a, std::uint32_t b) const {
    auto words = keyed_pair<Philox>(key_, step_, a, b);
    const std::uint64_t high = words.next(), low = words.next();
    return double((high << 32 | low) >> 11) * 0x1p-53;
  }

 private:
  RunKey key_;
  std::uint64_t step_;
};

/// See the header.
struct BondEvent {
  const BondRules& rules;
  Topology& topology;
  const std::vector<Position>& position;
  const Box& box;
  std::uint64_t seed, step;
  std::size_t stage;
  const Device& host;
  const std::vector<double>& force;  // along each bond; empty: nobody asks

  std::vector<IdPair> broken{};                         // in order
  std::vector<std::vector<std::uint32_t>> neighbors{};  // [id]

  /// A pair that a rule has chosen, and its place in the random order.
  struct Chosen {
    double place;
    std::uint32_t a, b, rule;
  };

  bool acts(const std::vector<bool>& stages) const { return stages.at(stage); }
  bool is_broken(std::uint32_t a, std::uint32_t b) const {
    return std::ranges::binary_search(broken, in_order(a, b));
  }
  bool are_bonded(std::uint32_t a, std::uint32_t b) const {
    return std::ranges::find(neighbors[a], b) != neighbors[a].end();
  }
  std::int64_t free_valences(std::uint32_t id) const {
    return rules.valence[position[id].type()] - std::int64_t(neighbors[id].size());
  }
  /// With which a candidate is chosen.
  double probability(const BondRules::Form& rule, std::uint32_t a, std::uint32_t b) const {
    if (!rule.by_valence) return rule.probability;
    double none = 1;
    for (std::int64_t k = free_valences(a) * free_valences(b); k > 0; --k)
      none *= 1 - rule.probability;
    return 1 - none;
  }

  void break_bonds(std::vector<std::int64_t>& count) {
    const PositionDistance measure(box);
    std::vector<char> breaks(topology.bonds.size(), 0);
    for (std::size_t r = 0; r < rules.broken.size(); ++r) {
      const BondRules::Break& rule = rules.broken[r];
      if (!acts(rule.stages)) continue;
      const PairNumbers number(Purpose::bond_breaking, seed, r, step);
      for (std::size_t k = 0; k < topology.bonds.size(); ++k) {
        const Topology::Bond& bond = topology.bonds[k];
        if (bond.type != rule.bond || breaks[k] != 0) continue;
        if (rule.length > 0 &&
            !(measure.square(position[bond.a], position[bond.b]) > rule.length * rule.length))
          continue;
        if (rule.force > 0 && std::abs(force[k]) <= rule.force) continue;
        if (number(bond.a, bond.b) < rule.probability) breaks[k] = 1;
      }
    }
    std::size_t left = 0;
    for (std::size_t k = 0; k < breaks.size(); ++k) {
      const Topology::Bond bond = topology.bonds[k];
      if (breaks[k] == 0) {
        topology.bonds[left++] = bond;
        continue;
      }
      broken.push_back(in_order(bond.a, bond.b));
      ++count[bond.type];
    }
    topology.bonds.resize(left);
    std::ranges::sort(broken);
    if (!broken.empty()) remove_along_broken();
  }

  void remove_along_broken() {
    std::erase_if(topology.angles, [this](const Topology::Angle& t) {
      return is_broken(t.a, t.b) || is_broken(t.b, t.c);
    });
    std::erase_if(topology.dihedrals, [this](const Topology::Dihedral& t) {
      return is_broken(t.a, t.b) || is_broken(t.b, t.c) || is_broken(t.c, t.d);
    });
    std::erase_if(topology.impropers, [this](const Topology::Dihedral& t) {
      const std::uint32_t m[4] = {t.a, t.b, t.c, t.d};
      for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j)
          if (is_broken(m[i], m[j])) return true;
      return false;
    });
  }

  void find_neighbors() {
    neighbors.resize(position.size());
    for (const Topology::Bond& bond : topology.bonds) {
      neighbors[bond.a].push_back(bond.b);
      neighbors[bond.b].push_back(bond.a);
    }
  }

  std::vector<Chosen> choose() const {
    std::vector<Chosen> chosen;
    for (std::size_t r = 0; r < rules.form.size(); ++r) {
      const BondRules::Form& rule = rules.form[r];
      if (!acts(rule.stages) || rule.probability <= 0) continue;
      const std::uint32_t one = rule.types[0], other = rule.types[1];
      std::vector<std::uint32_t> ids;
      for (std::uint32_t id = 0; id < position.size(); ++id) {
        const std::uint32_t type = position[id].type();
        if ((type == one || type == other) && free_valences(id) > 0) ids.push_back(id);
      }
      if (ids.size() < 2) continue;
      const PairNumbers number(Purpose::bond_forming, seed, r, step);
      const auto wanted = [&](std::uint32_t a, std::uint32_t b) {
        const std::uint32_t s = position[a].type(), t = position[b].type();
        return ((s == one && t == other) || (s == other && t == one)) &&
               number(a, b) < probability(rule, a, b) && !are_bonded(a, b) && !is_broken(a, b);
      };
      for (const auto& [a, b] : close_pairs(host, box, position, ids, rule.distance, wanted))
        chosen.push_back({number(a, b) / probability(rule, a, b), a, b, std::uint32_t(r)});
    }
    std::ranges::sort(chosen, {},
                      [](const Chosen& c) { return std::tuple(c.place, c.a, c.b, c.rule); });
    return chosen;
  }

  bool form_bonds(std::vector<std::int64_t>& count) {
    find_neighbors();
    std::vector<char> taken(position.size(), 0);
    bool any = false;
    for (const Chosen& c : choose()) {
      if (taken[c.a] != 0 || taken[c.b] != 0) continue;
      taken[c.a] = taken[c.b] = 1;
      any = true;
      const BondRules::Form& rule = rules.form[c.rule];
      if (rule.angle) {
        for (const std::uint32_t end : neighbors[c.a])
          topology.angles.push_back({end, c.a, c.b, *rule.angle});
        for (const std::uint32_t end : neighbors[c.b])
          topology.angles.push_back({c.a, c.b, end, *rule.angle});
      }
      topology.bonds.push_back({c.a, c.b, rule.bond});
      neighbors[c.a].push_back(c.b);
      neighbors[c.b].push_back(c.a);
      ++count[rule.bond];
    }
    return any;
  }
};

}  // namespace

bool DynamicBonds::act_in(std::size_t stage) const {
  const auto acts = [stage](const auto& rule) { return rule.stages.at(stage); };
  return std::ranges::any_of(rules_.form, acts) || std::ranges::any_of(rules_.broken, acts);
}

bool DynamicBonds::asks_for_forces(std::size_t stage) const {
  return std::ranges::any_of(rules_.broken, [stage](const BondRules::Break& rule) {
    return rule.stages.at(stage) && rule.force > 0;
  });
}

std::int64_t DynamicBonds::steps_to_event(std::uint64_t step, std::size_t stage) const {
  if (!act_in(stage)) return std::numeric_limits<std::int64_t>::max();
  return rules_.stride - std::int64_t(step % std::uint64_t(rules_.stride));
}

bool DynamicBonds::is_due(std::uint64_t step, std::size_t stage) const {
  return step % std::uint64_t(rules_.stride) == 0 && act_in(stage);
}

bool DynamicBonds::react(Topology& topology, const std::vector<Position>& position, const Box& box,
                         std::uint64_t step, std::size_t stage, const Device& host,
                         const std::vector<double>& force) {
  PERRIN_ASSERT(!asks_for_forces(stage) || force.size() == topology.bonds.size());
  for (const BondRules::Form& rule : rules_.form)
    if (rule.stages.at(stage) && rule.distance > largest_range(box))
      throw RunError(
          fmt::format("step {}: dynamic_bonds: half the shortest distance between opposite faces "
                      "of the box has "
                      "become {:.6g}, less than the distance {:.6g} at which bonds are made",
                      step, largest_range(box), rule.distance));
  BondEvent event{rules_, topology, position, box, seed_, step, stage, host, force};
  event.break_bonds(broken_);
  const bool formed = event.form_bonds(formed_);
  if (!formed && event.broken.empty()) return false;
  ++changes_;
  return true;
}

void DynamicBonds::state(Archive& archive) {
  const std::size_t types = formed_.size();
  archive("formed", formed_);
  archive("broken", broken_);
  archive.require(formed_.size() <= types && broken_.size() == formed_.size(), "formed",
                  "a number for every bond type");
  formed_.resize(types), broken_.resize(types);
}

}  // namespace perrin
