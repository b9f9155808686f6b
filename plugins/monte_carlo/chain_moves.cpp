#include "chain_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/system/bond_images.h"
#include "extent.h"
#include "trials_of_sweep.h"
#include "turn.h"
#include "whole_position.h"

namespace perrin::monte_carlo {
namespace {

struct ProposeTurn {
  TrialCells cells;
  Edges edges;
  std::uint32_t point, second;
  Vec3<double> axis;  // where second == point
  double angle;
  const std::uint32_t* turning;
  const Position* position;
  const Image* image;
  const std::uint32_t* index;
  TrialMove* move;  // [2 k]: it goes; [2 k + 1]: it comes
  double* change;
  Image *image_before, *image_after;

  PERRIN_HD WholePosition at(std::uint32_t id) const {
    return {position[index[id]], image[index[id]]};
  }
  PERRIN_HD Vec3<double> axis_of(const WholePosition& origin) const {
    if (second == point) return axis;
    const Vec3<double> a = edges.vector(at(second), origin);
    const double length = std::sqrt(dot(a, a));
    return length > 0 ? (1 / length) * a : Vec3<double>{0, 0, 1};
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::uint32_t id = turning[k], place = index[id];
    const Position before = position[place];
    const WholePosition origin = at(point);
    const Vec3<double> r = edges.vector(at(id), origin);
    WholePosition whole = at(id);
    edges.move(whole, Turn<double>(axis_of(origin), angle).step(r));
    const Position after = whole.position(before);
    image_before[k] = image[place], image_after[k] = whole.image();
    const std::uint32_t slot = cells.slot_of(cells.key(cells.cell_of(before)), id);
    move[2 * k] = {.before_as = place, .slot = slot, .before = before, .after = before};
    move[2 * k + 1] = {.after_as = place, .slot = slot, .before = after, .after = after};
    change[2 * k] = change[2 * k + 1] = 0;
  }
};

/// What is asked of forces on bonds and of fields: all of the molecule.
struct AskMolecule {
  std::int64_t members, first_unused;
  const std::uint32_t* whole;
  const std::uint32_t* index;
  TrialMove* move;
  std::uint32_t* place;
  double* change;
  PERRIN_HD void operator()(std::int64_t k) const {
    place[k] = k < members ? index[whole[k]] : TrialMove::none;
    if (k < first_unused) return;
    move[k] = {};
    change[k] = 0;
  }
};

/// No trial, where those that turn might meet copies of each other, before or after it.
struct RefuseLongArms {
  std::int64_t count;
  const TrialMove* move;
  const Image *image_before, *image_after;
  MostExtent most;
  double* change;
  PERRIN_HD static Vec3<double> fraction(const Position& p, const Image& image) {
    const WholePosition whole(p, image);
    return {0x1p-32 * double(whole.at[0]), 0x1p-32 * double(whole.at[1]),
            0x1p-32 * double(whole.at[2])};
  }
  PERRIN_HD void operator()(std::int64_t) const {
    Extent before, after;
    for (std::int64_t k = 0; k < count; ++k) {
      before.add(fraction(move[2 * k].before, image_before[k]));
      after.add(fraction(move[2 * k + 1].after, image_after[k]));
    }
    if (!before.is_within(most) || !after.is_within(most)) change[0] += 1e300;
  }
};

struct ApplyTurn {
  const TrialMove* move;
  const Image* image;
  Position* position;
  Image* images;
  bool back;
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::uint32_t place = move[2 * k].before_as;
    position[place] = back ? move[2 * k].before : move[2 * k + 1].after;
    images[place] = image[k];
  }
};

struct Mark {
  const std::uint32_t* turning;
  std::uint32_t* label;
  std::uint32_t mark;
  PERRIN_HD void operator()(std::int64_t k) const { label[turning[k]] = mark; }
};

struct ChangeOf {
  const double* change;
  PERRIN_HD double operator()(std::int64_t k) const { return change[k]; }
};

}  // namespace

std::string objection_to_images(const Configuration& c) {
  const auto wrong = bonds_against_images(c);
  if (wrong.empty()) return {};
  const Topology::Bond& bond = c.topology.bonds[wrong.front()];
  return fmt::format(
      "needs images that keep molecules whole, and the bond between the particles {} "
      "and {} goes the other way round the box",
      bond.a, bond.b);
}

void check_chains(const std::string& name, const std::string& group, Setup& setup) {
  const Configuration& c = setup.configuration();
  setup.fixed_group(group, "group");
  std::vector<std::uint32_t> size;
  for (const std::uint32_t m : c.topology.molecule) {
    if (m >= size.size()) size.resize(m + 1);
    ++size[m];
  }
  if (std::ranges::none_of(size, [](std::uint32_t n) { return n > 2; }))
    setup.error(name, "turns parts of molecules with three particles or more: the system has none");
  if (c.box.dimension == 2 && name == "crankshaft")
    setup.error(name,
                "turns particles out of the plane of a system of two dimensions: use \"pivot\"");
  require_periodic(name, "needs", setup);
  check_terms_within_molecules(name, setup);
  if (setup.resuming()) return;  // with images of the checkpoint, which are not here yet
  if (const std::string wrong = objection_to_images(c); !wrong.empty()) setup.error(name, wrong);
}

void ChainMove::begin(StageContext& s) {
  const Device& device = s.device();
  const Topology& topology = s.particles().properties().topology;
  const auto n = std::size_t(s.particles().size());
  if (const auto wrong = objection_to_images(s.particles().configuration()); !wrong.empty())
    throw UserError("stage \"monte_carlo\": " + name() + " " + wrong);
  bonds_ = std::make_unique<BondGraph>(n, topology.bonds);
  molecules_ = Molecules(bonds_->molecules());
  member_.clear();
  for (const Group& group : s.particles().properties().groups)
    if (group.name() == group_name_) member_ = group.members();
  chains_.clear();
  for (std::uint32_t m = 0; m < molecules_.count(); ++m)
    if (molecules_.size(m) > 2) chains_.push_back(m);
  const std::uint32_t largest = molecules_.largest;
  grid_.fit(s.particles(), s.range());
  energies_.begin(s, 2 * std::int64_t(largest), true);
  turning_ = {device, largest}, whole_ = {device, largest};
  image_before_ = {device, largest}, image_after_ = {device, largest};
  label_ = {device, std::int64_t(n)};
  label_.zero();
}

void ChainMove::sweep(StepContext& s, double kt) {
  if (s.particles().box_state().moves()) grid_.fit(s.particles(), s.range());
  if (chains_.empty()) return;
  const RunKey key(purpose(), s.seed());
  const std::int64_t trials = trials_of_sweep(trials_ * double(chains_.size()), key, s.step());
  energies_.begin_trials(s);
  bool sorted = false;
  TrialCells cells{};
  for (std::int64_t t = 0; t < trials; ++t) {
    auto random = keyed<Random>(key, s.step(), std::uint32_t(t));
    const ChainTurn turn = choose(random);
    const auto moves = [&](std::uint32_t id) { return member_.empty() || member_[id] != 0; };
    if (turn.turning.empty() || !std::ranges::all_of(turn.turning, moves)) continue;
    ++counts_.tried;
    if (!sorted) cells = grid_.sort(s, key).front();
    const bool accepted = try_one(s, cells, turn, random, kt);
    if (accepted) ++counts_.accepted;
    sorted = !accepted;
  }
}

bool ChainMove::try_one(StepContext& s, const TrialCells& cells, const ChainTurn& turn,
                        Random& random, double kt) {
  const Device& device = s.device();
  const ParticleView particles = s.particles().view();
  const auto count = std::int64_t(turn.turning.size());
  const std::uint32_t molecule = molecules_.of[turn.point];
  const std::uint32_t first = molecules_.begin[molecule];
  const std::int64_t members = molecules_.size(molecule);
  device.memory().copy_in(turning_.data(), turn.turning.data(),
                          turn.turning.size() * sizeof(std::uint32_t));
  device.memory().copy_in(whole_.data(), molecules_.member.data() + first,
                          std::size_t(members) * sizeof(std::uint32_t));
  Vec3<double> axis{0, 0, 1};
  const Words4 words{random.next(), random.next(), random.next(), 0};
  if (s.particles().box().dimension == 3) axis = direction<double>(words.x, words.y);
  const double angle = between(angle_, words.z);
  const std::int64_t all = std::max(2 * count, members);
  for_each(
      device, "turn of a chain", count,
      ProposeTurn{cells, Edges(s.particles().box()), turn.point, turn.second, axis, angle,
                  turning_.data(), particles.position, particles.image, particles.index,
                  energies_.move(), energies_.change(), image_before_.data(), image_after_.data()});
  for_each(device, "a molecule is asked", all,
           AskMolecule{members, 2 * count, whole_.data(), particles.index, energies_.move(),
                       energies_.place(), energies_.change()});
  for_each(device, "long arms", 1,
           RefuseLongArms{count, energies_.move(), image_before_.data(), image_after_.data(),
                          MostExtent(s.particles().box(), s.range()), energies_.change()});
  const auto go = [&](bool back) {
    for_each(device, back ? "a chain is turned back" : "a chain is turned", count,
             ApplyTurn{energies_.move(), back ? image_before_.data() : image_after_.data(),
                       particles.position, particles.image, back});
  };
  for_each(device, "those that turn", count, Mark{turning_.data(), label_.data(), 1});
  energies_.measure(s, cells, all, [&] { go(false); },
                    {.molecule = label_.data(), .whole_terms = true});
  for_each(device, "nobody turns", count, Mark{turning_.data(), label_.data(), 0});
  const double change = sum<double>(device, "energy of a turn", all, ChangeOf{energies_.change()});
  const bool accepted = change <= -kt * std::log(random.uniform_open<double>());
  if (accepted != energies_.has_fields()) go(!accepted);
  energies_.follow_trial(s, cells, all, {.molecule = label_.data()});
  return accepted;
}

std::string ChainMove::size_text() const { return fmt::format("rotation {:.6g}", angle_); }

std::string ChainMove::why_none_tried() const {
  return "no part of a molecule of the group was found that can be turned by itself";
}

void ChainMove::state(Archive& archive) {
  archive("rotation", angle_);
  archive.require(angle_ > 0 && angle_ <= M_PI, "rotation", "above 0, at most pi");
  archive_counts(archive, counts_);
}

/// A bond of a random particle; the part of the molecule behind it, unless that is joined to the
/// other one elsewhere.
ChainTurn Pivot::choose(Random& random) const {
  const std::uint32_t m = chains_[below(std::uint32_t(chains_.size()), random.next())];
  const std::uint32_t first = molecules_.begin[m], size = molecules_.size(m);
  const std::uint32_t a = molecules_.member[first + below(size, random.next())];
  const auto bonded = bonds_->neighbors(a);
  const std::uint32_t b = bonded[below(std::uint32_t(bonded.size()), random.next())];
  const auto part = [&](std::uint32_t from, std::uint32_t without) {
    std::vector<std::uint32_t> found{from};
    std::vector<bool> seen(size);
    const auto number = [&](std::uint32_t id) {
      return std::size_t(std::lower_bound(molecules_.member.begin() + first,
                                          molecules_.member.begin() + first + size, id) -
                         molecules_.member.begin() - first);
    };
    seen[number(from)] = true;
    for (std::size_t k = 0; k < found.size(); ++k)
      for (const std::uint32_t next : bonds_->neighbors(found[k])) {
        if (k == 0 && next == without) continue;
        if (next == without) return std::vector<std::uint32_t>{};  // a ring
        if (!seen[number(next)]) seen[number(next)] = true, found.push_back(next);
      }
    return found;
  };
  ChainTurn turn{a, a, part(b, a)};
  if (2 * turn.turning.size() > size) turn = {b, b, part(a, b)};
  return turn;
}

/// From a random particle along its chain, by a random number of bonds.
ChainTurn Crankshaft::choose(Random& random) const {
  const std::uint32_t m = chains_[below(std::uint32_t(chains_.size()), random.next())];
  const std::uint32_t first = molecules_.begin[m], size = molecules_.size(m);
  ChainTurn turn;
  turn.point = molecules_.member[first + below(size, random.next())];
  const std::uint32_t bonds = 2 + below(longest_ - 1, random.next());
  const auto bonded = bonds_->neighbors(turn.point);
  std::uint32_t before = turn.point,
                at = bonded[below(std::uint32_t(bonded.size()), random.next())];
  for (std::uint32_t k = 1; k < bonds; ++k) {
    const auto next = bonds_->neighbors(at);
    if (next.size() != 2 || at == turn.point) return {};
    turn.turning.push_back(at);
    const std::uint32_t there = next[0] == before ? next[1] : next[0];
    before = at, at = there;
  }
  turn.second = at;
  if (at == turn.point || std::ranges::find(turn.turning, at) != turn.turning.end()) return {};
  return turn;
}

}  // namespace perrin::monte_carlo
