#include "reptation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "chain_moves.h"
#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/system/bond_graph.h"
#include "growth.h"
#include "molecules.h"
#include "trials_of_sweep.h"
#include "whole_position.h"

namespace perrin::monte_carlo {
namespace {

/// A bead takes the place of the next one; the last one grows.
struct ProposeReptation {
  TrialCells cells;
  Growth growth;
  std::int64_t n;
  bool ends_alone;  // are asked
  const std::uint32_t* order;
  const Position* position;
  const Image* image;
  const std::uint32_t* index;
  TrialMove* move;
  std::uint32_t* asked;
  double* change;
  std::uint32_t *place, *id;
  Position *before, *after;
  Image *image_before, *image_after;

  PERRIN_HD WholePosition at(std::int64_t k) const {
    return {position[index[order[k]]], image[index[order[k]]]};
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::uint32_t self = order[k], own = index[self];
    const Position here = position[own];
    Position there;
    double proposal = 0;
    image_before[k] = image[own];
    if (k < n - 1) {
      const std::uint32_t next = index[order[k + 1]];
      there = at_place_of(position[next], here);
      image_after[k] = image[next];
    } else {
      const Growth::End end = growth(at(0), at(1), at(2), at(n - 1), at(n - 2));
      there = end.at.position(here);
      image_after[k] = end.at.image();
      proposal = end.energy;
    }
    before[k] = here, after[k] = there;
    place[k] = own, id[k] = self;
    asked[k] = own, asked[n + k] = TrialMove::none;
    const std::uint32_t slot = cells.slot_of(cells.key(cells.cell_of(here)), self);
    const auto inner = std::uint32_t(k);
    const TrialMove goes{.before_as = own, .slot = slot, .before = here, .after = here};
    const TrialMove comes{.after_as = own, .slot = slot, .before = there, .after = there};
    const bool is_asked_before = !ends_alone || k == 0, is_asked_after = !ends_alone || k == n - 1;
    move[k] = move[2 * n + k] = is_asked_before ? goes : TrialMove{};
    move[n + k] = move[3 * n + k] = is_asked_after ? comes : TrialMove{};
    move[2 * n + k].slot = move[3 * n + k].slot = inner;
    change[k] = change[2 * n + k] = change[3 * n + k] = 0;
    change[n + k] = proposal;
  }
};

struct ApplyReptation {
  const std::uint32_t* place;
  const Position* to;
  const Image* to_image;
  Position* position;
  Image* image;
  PERRIN_HD void operator()(std::int64_t k) const {
    position[place[k]] = to[k];
    image[place[k]] = to_image[k];
  }
};

struct MarkChain {
  const std::uint32_t* order;
  std::uint32_t* label;
  std::uint32_t mark;
  PERRIN_HD void operator()(std::int64_t k) const { label[order[k]] = mark; }
};

/// Where all of a chain are asked, pairs within it are counted twice.
struct ReptationChange {
  const double* change;
  std::int64_t first_inner;
  double share;
  PERRIN_HD double operator()(std::int64_t k) const {
    return (k < first_inner ? 1 : share) * change[k];
  }
};

/// Ids from end to end; empty: no linear chain of three particles or more.
std::vector<std::uint32_t> linear_chain(const BondGraph& bonds, const Molecules& molecules,
                                        std::uint32_t molecule) {
  const std::uint32_t first = molecules.begin[molecule], size = molecules.size(molecule);
  if (size < 3) return {};
  std::uint32_t end = TrialMove::none;
  for (std::uint32_t k = first + size; k-- > first;) {
    const std::uint32_t id = molecules.member[k];
    const std::size_t bonded = bonds.neighbors(id).size();
    if (bonded > 2) return {};
    if (bonded == 1) end = id;
  }
  if (end == TrialMove::none) return {};
  std::vector<std::uint32_t> ids{end, bonds.neighbors(end)[0]};
  while (ids.size() < size) {
    const auto next = bonds.neighbors(ids.back());
    ids.push_back(next[0] == ids[ids.size() - 2] ? next[1] : next[0]);
  }
  return ids;
}

/// What else a molecule is.
std::string shape(const BondGraph& bonds, const Molecules& molecules, std::uint32_t molecule) {
  for (std::uint32_t k = molecules.begin[molecule]; k < molecules.begin[molecule + 1]; ++k)
    if (bonds.neighbors(molecules.member[k]).size() > 2) return "branched";
  return "a ring";
}

/// [id]: of a group; empty: of all.
std::vector<std::uint8_t> members_of(const std::vector<Group>& groups, const std::string& name) {
  for (const Group& group : groups)
    if (group.name() == name) return group.members();
  return {};
}

bool has_all(const std::vector<std::uint8_t>& group, const std::vector<std::uint32_t>& ids) {
  return group.empty() ||
         std::ranges::all_of(ids, [&](std::uint32_t id) { return group[id] != 0; });
}

std::vector<std::uint32_t> ids_of(const Molecules& molecules, std::uint32_t m) {
  return {molecules.member.begin() + molecules.begin[m],
          molecules.member.begin() + molecules.begin[m + 1]};
}

/// Pairs of particles that pair forces may leave out for the angles, or dihedrals, of which they
/// are the ends.
class EndsOfTerms {
 public:
  template <class Terms, class Last>
  EndsOfTerms(const Terms& terms, const Last& last) {
    for (const auto& term : terms)
      both_.emplace_back(term.a, term.*last), both_.emplace_back(term.*last, term.a);
    std::ranges::sort(both_);
    both_.erase(std::unique(both_.begin(), both_.end()), both_.end());
  }
  /// Whether that says nothing against it that a chain goes along itself: its beads have such ends
  /// within the chain alone, and all that are equally far apart are such.
  bool alike(const std::vector<std::uint32_t>& chain) const {
    const auto n = std::ptrdiff_t(chain.size());
    std::vector<std::pair<std::uint32_t, std::ptrdiff_t>> number;
    for (std::ptrdiff_t k = 0; k < n; ++k) number.emplace_back(chain[std::size_t(k)], k);
    std::ranges::sort(number);
    std::vector<std::ptrdiff_t> pairs(chain.size());  // [distance]
    for (const auto& [id, k] : number) {
      auto one = std::ranges::lower_bound(both_, std::pair(id, 0u));
      for (; one != both_.end() && one->first == id; ++one) {
        const auto other =
            std::ranges::lower_bound(number, std::pair(one->second, std::ptrdiff_t(0)));
        if (other == number.end() || other->first != one->second) return false;
        ++pairs[std::size_t(std::abs(other->second - k))];
      }
    }
    for (std::ptrdiff_t d = 0; d < n; ++d)
      if (pairs[std::size_t(d)] != 0 && pairs[std::size_t(d)] != 2 * (n - d)) return false;
    return true;
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> both_;  // either way, in order
};

}  // namespace

void check_reptation(const ReptationSettings& s, const std::string& group, bool alone,
                     Setup& setup) {
  const Configuration& c = setup.configuration();
  if (s.stretch == 0 && alone)
    setup.warn("reptation.stretch",
               "is 0, and no other move of the stage changes the lengths of bonds: they stay those "
               "of the start; expected a number above 0, or \"translation\" as well");
  setup.fixed_group(group, "group");
  require_periodic("reptation", "needs", setup);
  check_terms_within_molecules("reptation", setup);
  const BondGraph bonds(c.position.size(), c.topology.bonds);
  const Molecules molecules(bonds.molecules());
  const std::vector<std::uint8_t> members = members_of(c.groups, group);
  std::uint32_t linear = 0, others = 0, one = 0;
  for (std::uint32_t m = 0; m < molecules.count(); ++m) {
    if (molecules.size(m) < 3 || !has_all(members, ids_of(molecules, m))) continue;
    if (!linear_chain(bonds, molecules, m).empty())
      ++linear;
    else if (others++ == 0)
      one = m;
  }
  const auto what = [&] {
    return fmt::format("the one of particle {} is {}", molecules.member[molecules.begin[one]],
                       shape(bonds, molecules, one));
  };
  if (linear == 0 && others == 0)
    setup.error("reptation",
                "moves linear chains of three particles or more: the stage's group has none");
  else if (linear == 0)
    setup.error("reptation", "moves linear chains, and no molecule is one: " + what());
  else if (others > 0)
    setup.warn("reptation",
               fmt::format("moves linear chains: {} other molecules stay where they are ({})",
                           others, what()));
  if (setup.resuming()) return;  // with images of the checkpoint, which are not here yet
  if (const std::string wrong = objection_to_images(c); !wrong.empty())
    setup.error("reptation", wrong);
}

void Reptation::begin(StageContext& s) {
  const Device& device = s.device();
  if (const auto wrong = objection_to_images(s.particles().configuration()); !wrong.empty())
    throw UserError("stage \"monte_carlo\": reptation " + wrong);
  find_chains(s);
  std::int64_t longest = 0;
  for (const Chain& chain : chains_) longest = std::max(longest, std::int64_t(chain.ids.size()));
  grid_.fit(s.particles(), s.range());
  energies_.begin(s, 4 * longest, true);
  order_ = {device, longest}, start_ = {device, 2}, place_ = {device, longest};
  id_ = {device, longest}, before_ = {device, longest}, after_ = {device, longest};
  image_before_ = {device, longest}, image_after_ = {device, longest};
  label_ = {device, s.particles().size()};
  label_.zero();
}

void Reptation::find_chains(const StepContext& s) {
  const Configuration c = s.particles().configuration();
  const BondGraph bonds(c.position.size(), c.topology.bonds);
  const Molecules molecules(bonds.molecules());
  const std::vector<std::uint8_t> members =
      members_of(s.particles().properties().groups, group_name_);
  const EndsOfTerms angles(c.topology.angles, &Topology::Angle::c),
      dihedrals(c.topology.dihedrals, &Topology::Dihedral::d);
  const auto alike = [&](const std::vector<std::uint32_t>& ids) {
    const auto same = [&](const auto& values) {
      return values.empty() || std::ranges::all_of(ids, [&](std::uint32_t id) {
               return values[id] == values[ids[0]];
             });
    };
    return same(c.topology.molecule) && same(c.type) && same(c.mass) && same(c.charge) &&
           same(c.diameter) &&
           std::ranges::all_of(s.particles().properties().attributes,
                               [&](const auto& one) { return same(one.second); });
  };
  // Particles take their orientations along.
  const bool turned =
      std::ranges::any_of(s.forces(), [](const auto& force) { return force->traits().torques; });
  chains_.clear();
  for (std::uint32_t m = 0; m < molecules.count(); ++m) {
    Chain chain{linear_chain(bonds, molecules, m), false};
    if (chain.ids.empty() || !has_all(members, chain.ids)) continue;
    chain.uniform =
        !turned && alike(chain.ids) && angles.alike(chain.ids) && dihedrals.alike(chain.ids);
    chains_.push_back(std::move(chain));
  }
}

void Reptation::sweep(StepContext& s, double kt) {
  if (s.particles().box_state().moves()) grid_.fit(s.particles(), s.range());
  if (chains_.empty()) return;
  // Of the same purpose as pivots, with numbers of its own.
  const RunKey key(Purpose::monte_carlo_pivot, instance_seed(s.seed(), 1));
  const std::int64_t trials =
      trials_of_sweep(settings_.trials * double(chains_.size()), key, s.step());
  bool sorted = false;
  TrialCells cells{};
  for (std::int64_t t = 0; t < trials; ++t) {
    auto random = keyed<Random>(key, s.step(), std::uint32_t(t));
    const Chain& chain = chains_[below(std::uint32_t(chains_.size()), random.next())];
    if (!sorted) cells = grid_.sort(s, key).front();
    const bool accepted = try_one(s, cells, chain, random, kt);
    ++counts_.tried;
    if (accepted) ++counts_.accepted;
    sorted = !accepted;
  }
}

TrialCells Reptation::own_cells(Position* position) {
  TrialCells cells{};
  cells.start = start_.data(), cells.position = position;
  cells.place = place_.data(), cells.id = id_.data();
  cells.cells = {1, 1, 1};
  return cells;
}

bool Reptation::try_one(StepContext& s, const TrialCells& cells, const Chain& chain, Random& random,
                        double kt) {
  const Device& device = s.device();
  const ParticleView particles = s.particles().view();
  std::vector<std::uint32_t> order = chain.ids;
  if (random.next() & 1u) std::ranges::reverse(order);
  const auto n = std::int64_t(order.size());
  const std::uint32_t start[2] = {0, std::uint32_t(n)};
  device.memory().copy_in(order_.data(), order.data(), order.size() * sizeof(std::uint32_t));
  device.memory().copy_in(start_.data(), start, sizeof start);
  const Words4 words{random.next(), random.next(), random.next(), random.next()};
  const Growth growth{Edges(s.particles().box()),
                      kt,
                      settings_.stretch,
                      settings_.bend.value_or(0),
                      !settings_.bend,
                      s.particles().box().dimension == 2,
                      words,
                      {random.next(), 0, 0, 0}};
  for_each(device, "reptation", n,
           ProposeReptation{cells, growth, n, chain.uniform, order_.data(), particles.position,
                            particles.image, particles.index, energies_.move(), energies_.place(),
                            energies_.change(), place_.data(), id_.data(), before_.data(),
                            after_.data(), image_before_.data(), image_after_.data()});
  const auto go = [&](bool back) {
    for_each(device, back ? "a chain slithers back" : "a chain slithers", n,
             ApplyReptation{place_.data(), back ? before_.data() : after_.data(),
                            back ? image_before_.data() : image_after_.data(), particles.position,
                            particles.image});
  };
  for_each(device, "a chain is marked", n, MarkChain{order_.data(), label_.data(), 1});
  energies_.measure(s, cells, 2 * n, [&] { go(false); },
                    {.molecule = label_.data(), .whole_terms = true});
  for_each(device, "no chain is marked", n, MarkChain{order_.data(), label_.data(), 0});
  energies_.measure_pairs(s, own_cells(before_.data()), 2 * n, n);
  energies_.measure_pairs(s, own_cells(after_.data()), 3 * n, n);
  const double change =
      sum<double>(device, "energy of reptation", 4 * n,
                  ReptationChange{energies_.change(), 2 * n, chain.uniform ? 1.0 : 0.5});
  const bool accepted = change <= -kt * std::log(random.uniform_open<double>());
  if (accepted != energies_.has_fields()) go(!accepted);
  return accepted;
}

void Reptation::state(Archive& archive) { archive_counts(archive, counts_); }

}  // namespace perrin::monte_carlo
