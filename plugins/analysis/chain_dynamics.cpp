#include "chain_dynamics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "io/file_units.h"

namespace perrin::analysis {
namespace {

using Chain = std::vector<std::uint32_t>;  // ids from end to end

/// Molecules that are linear and wholly in the group, by their lowest ids.
std::vector<Chain> chains_of(const Topology& t, const Group& group) {
  std::vector<std::vector<std::uint32_t>> bonded(t.molecule.size()), members;
  for (const auto& bond : t.bonds)
    bonded[bond.a].push_back(bond.b), bonded[bond.b].push_back(bond.a);
  for (std::uint32_t id = 0; id < t.molecule.size(); ++id) {
    if (members.size() <= t.molecule[id]) members.resize(t.molecule[id] + 1);
    members[t.molecule[id]].push_back(id);
  }
  std::vector<Chain> chains;
  for (const auto& molecule : members) {
    if (molecule.size() < 2) continue;
    if (!std::ranges::all_of(molecule, [&](std::uint32_t id) { return group.has(id); })) continue;
    const auto end =
        std::ranges::find_if(molecule, [&](std::uint32_t id) { return bonded[id].size() == 1; });
    if (end == molecule.end()) continue;
    Chain chain{*end};
    for (std::uint32_t before = *end, at = bonded[*end][0];;) {
      chain.push_back(at);
      if (bonded[at].size() != 2) break;
      const std::uint32_t next = bonded[at][bonded[at][0] == before ? 1 : 0];
      before = at, at = next;
    }
    if (chain.size() == molecule.size() && bonded[chain.back()].size() == 1)
      chains.push_back(std::move(chain));
  }
  return chains;
}

/// Those asked for, or the first five that a chain has.
std::vector<std::int32_t> modes_of(const ChainDynamicsSettings& s, Setup& setup) {
  if (!s.modes.empty()) return s.modes;
  const Group* const group = setup.fixed_group(s.group, "group");
  const auto chains =
      group ? chains_of(setup.configuration().topology, *group) : std::vector<Chain>{};  // reported
  std::vector<std::int32_t> modes{1};
  while (!chains.empty() && modes.size() < std::min<std::size_t>(5, chains[0].size() - 1))
    modes.push_back(std::int32_t(modes.size()) + 1);
  return modes;
}

std::vector<io::ObservableColumn> columns_of(const ChainDynamicsSettings& s, Setup& setup) {
  const hsize_t lags = hsize_t(MultipleTau::lags(s.levels));
  const hsize_t modes = modes_of(s, setup).size();
  const auto length = io::file_length(setup.units());
  const std::string unit = length.name.empty() ? "" : length.name + " " + length.name;
  const double factor = length.factor * length.factor;
  return {{"g1", {lags}, unit, factor},
          {"g2", {lags}, unit, factor},
          {"g3", {lags}, unit, factor},
          {"rouse_modes", {modes, lags}, unit, factor},
          {"end_to_end", {lags}, unit, factor}};
}

void append(std::vector<double>& sample, const Vec3<double>& v) {
  sample.insert(sample.end(), {v.x, v.y, v.z});
}

}  // namespace

ChainDynamics::ChainDynamics(const ChainDynamicsSettings& s, Setup& setup)
    : CorrelationObserver(s, columns_of(s, setup), setup),
      remove_drift_(s.remove_drift),
      modes_(modes_of(s, setup)) {
  const Group* const group = setup.fixed_group(s.group, "group");
  if (!group) return;
  std::vector<Chain> chains = chains_of(setup.configuration().topology, *group);
  if (chains.empty()) {
    setup.error("group", group->has_all()
                             ? "the system has no linear molecule of two beads or more"
                             : "no linear molecule of two beads or more is wholly in \"" +
                                   group->name() + "\"");
    return;
  }
  const auto [shortest, longest] =
      std::ranges::minmax(chains, {}, [](const Chain& c) { return c.size(); });
  if (shortest.size() != longest.size()) {
    setup.error("group", fmt::format("has chains of {} to {} beads: expected one length, as Rouse "
                                     "modes belong to; choose a group for each",
                                     shortest.size(), longest.size()));
    return;
  }
  beads_ = std::int64_t(chains[0].size());
  if (s.inner > beads_)
    setup.error("inner",
                fmt::format("must be at most the {} beads of a chain, got {}", beads_, s.inner));
  for (std::size_t k = 0; k < s.modes.size(); ++k)
    if (s.modes[k] >= beads_)
      setup.error(fmt::format("modes[{}]", k),
                  fmt::format("must be below {}, the number of beads of a chain, got {}", beads_,
                              s.modes[k]));
  inner_ = std::min<std::int64_t>(s.inner, beads_);
  first_inner_ = (beads_ - inner_) / 2;
  const auto all = std::int64_t(chains.size());
  chains_ = s.chains == 0 ? all : std::min(all, s.chains);
  std::vector<std::uint32_t> ids;
  for (std::int64_t k = 0; k < chains_; ++k) {
    const Chain& chain = chains[std::size_t(k * all / chains_)];
    ids.insert(ids.end(), chain.begin(), chain.end());
  }
  followed_ = {setup.device(), ids};
  for (const std::int32_t p : modes_)
    for (std::int64_t i = 0; i < beads_; ++i)
      cosines_.push_back(std::cos(p * std::numbers::pi * (double(i) + 0.5) / double(beads_)) /
                         double(beads_));
  const std::int64_t inner = 3 * chains_ * inner_, one = 3 * chains_;
  correlator_ = MultipleTau(MultipleTau::Kind::displacement, {0, inner, 2 * inner, 2 * inner + one},
                            s.levels);
  std::vector<std::int64_t> groups{0};
  for (std::size_t k = 0; k <= modes_.size(); ++k) groups.push_back(groups.back() + one);
  vectors_ = MultipleTau(MultipleTau::Kind::product, groups, s.levels);
}

void ChainDynamics::sample(const Observation& s) {
  come_to(s);
  // Places are in fixed-point units; what is within a chain is a length in the box as it is now.
  const std::vector<Vec3<double>> bead =
      followed_.measure(s.particles(), s.device(), false, remove_drift_);
  const Lengths lengths(s.particles().box());
  const auto at = [&](std::int64_t chain, std::int64_t k) {
    return bead[std::size_t(chain * beads_ + k)];
  };
  const auto length = [&](const Vec3<double>& v) { return lengths.vector(v.x, v.y, v.z); };

  std::vector<Vec3<double>> places, centres;
  for (std::int64_t c = 0; c < chains_; ++c) {
    Vec3<double> sum{};
    for (std::int64_t k = 0; k < beads_; ++k) sum += at(c, k) - at(c, 0);
    centres.push_back(at(c, 0) + (1 / double(beads_)) * sum);
    for (std::int64_t k = 0; k < inner_; ++k) places.push_back(at(c, first_inner_ + k));
  }
  const std::size_t inner = places.size();
  places.insert(places.end(), centres.begin(), centres.end());
  const std::vector<Vec3<double>>& ways = ways_.follow(s.particles(), places);
  std::vector<double> displaced, vectors;
  for (std::size_t k = 0; k < inner; ++k) append(displaced, ways[k]);
  for (std::size_t k = 0; k < inner; ++k)
    append(displaced, length(places[k] - centres[k / std::size_t(inner_)]));
  for (std::size_t k = inner; k < ways.size(); ++k) append(displaced, ways[k]);
  add(displaced);

  for (std::size_t p = 0; p < modes_.size(); ++p)
    for (std::int64_t c = 0; c < chains_; ++c) {
      Vec3<double> mode{};
      for (std::int64_t k = 0; k < beads_; ++k)
        mode += cosines_[p * std::size_t(beads_) + std::size_t(k)] * (at(c, k) - at(c, 0));
      append(vectors, length(mode));
    }
  for (std::int64_t c = 0; c < chains_; ++c) append(vectors, length(at(c, beads_ - 1) - at(c, 0)));
  vectors_.add(host_, vectors);
}

std::vector<double> ChainDynamics::row(const Box& box) {
  std::vector<double> row = CorrelationObserver::row(box);
  const auto of_chains = double(chains_), of_beads = double(chains_ * inner_);
  for (std::size_t g = 0; g < 3; ++g)
    for (int k = 0; k < correlator_.lags(); ++k)
      row.push_back(correlator_.mean(g, k) / (g == 2 ? of_chains : of_beads));
  for (std::size_t g = 0; g <= modes_.size(); ++g)
    for (int k = 0; k < vectors_.lags(); ++k) row.push_back(vectors_.mean(g, k) / of_chains);
  return row;
}

void ChainDynamics::constants(const io::Node& root) {
  root.write("parameters/perrin/modes", {hsize_t(modes_.size())}, modes_.data());
}

void ChainDynamics::forget() {
  ways_.forget();
  vectors_.clear();
}

void ChainDynamics::own_sums(Archive& archive) {
  ways_.state(archive, chains_ * (inner_ + 1));
  const Archive::Scope scope(archive, "vectors");
  vectors_.state(archive);
  archive.require(vectors_.samples() == correlator_.samples(), "samples",
                  "as many as of the displacements");
}

void register_chain_dynamics(Registry& registry) {
  registry.add<Observer, ChainDynamicsSettings>(
      "chain_dynamics",
      "motion of linear chains: g1, g2, g3, Rouse modes, end-to-end vector, over many time origins",
      [](const ChainDynamicsSettings& s, Setup& setup) {
        return std::make_unique<ChainDynamics>(s, setup);
      });
}

}  // namespace perrin::analysis
