#include "insertion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/dynamics/reservoir.h"
#include "engine/system/orientations.h"
#include "place_in_cell.h"
#include "placed_body.h"
#include "thermal_motion.h"
#include "turn.h"
#include "whole_position.h"

namespace perrin::monte_carlo {
namespace {

enum Outcome : std::uint32_t { nothing = 0, inserted = 1, removed = 2 };

/// One trial of each active cell.
struct ProposeInsertions {
  TrialCells cells;
  RunKey key;
  const std::uint64_t* sweep;
  std::uint32_t round;
  std::uint32_t type, like;  // `like`: a place in memory with this type
  double log_of_zv;          // of the activity and the volume of a cell
  bool flat;
  const Position* position;
  TrialMove* move;
  std::uint32_t* place;
  double* change;
  float* log_of_uniform;  // less that of what stands before the exponential function
  std::uint32_t* outcome;
  TrialCounts* counts;

  PERRIN_HD Words4 words(std::uint32_t k, std::uint32_t use) const {
    return philox4x32<10>({std::uint32_t(*sweep), std::uint32_t(*sweep >> 32), k, 2 * round + use},
                          {key.x, key.y});
  }

  PERRIN_HD void operator()(std::int64_t at) const {
    const auto k = std::uint32_t(at);
    move[k] = {}, place[k] = TrialMove::none, change[k] = 0, outcome[k] = nothing;
    ++counts[k].tried;
    const Vec3<std::int32_t> c = cells.active_cell(k);
    const std::int32_t cell = cells.key(c);
    std::uint32_t n = 0;
    for (std::uint32_t s = cells.start[cell]; s < cells.start[cell + 1]; ++s)
      n += cells.position[s].type() == type ? 1 : 0;
    const Words4 drawn = words(k, 0), where = words(k, 1);
    if ((drawn.x >> 31) == 0) {
      const Position there = place_in_cell(cells, c, where, flat, position[like]);
      move[k] = {.after_as = like, .before = there, .after = there};
      log_of_uniform[k] = log_of(drawn.w) - float(log_of_zv - std::log(double(n + 1)));
    } else if (n > 0) {
      std::uint32_t left = below(n, where.x), slot = cells.start[cell];
      while (cells.position[slot].type() != type || left-- > 0) ++slot;
      move[k] = {.before_as = cells.place[slot],
                 .slot = slot,
                 .before = cells.position[slot],
                 .after = cells.position[slot]};
      log_of_uniform[k] = log_of(drawn.w) - float(std::log(double(n)) - log_of_zv);
    }
  }
};

struct DecideInsertions {
  const TrialMove* move;  // [active cell · size + particle of a body]
  std::uint32_t size;
  double kt;
  const double* change;
  const float* log_of_uniform;
  std::uint32_t* outcome;
  TrialCounts* counts;

  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialMove m = move[k * size];
    if (!m.is_tried()) return;
    double all = 0;
    for (std::int64_t e = k * size; e < (k + 1) * size; ++e) all += change[e];
    if (!(all <= -kt * double(log_of_uniform[k]))) return;
    ++counts[k].accepted;
    outcome[k] = m.after_as != TrialMove::none ? inserted : removed;
  }
};

struct ComeAndGo {
  const ComingOrGoing* change;
  Position* position;
  Real4* velocity;
  Image* image;
  OrientationView turning;
  PERRIN_HD void operator()(std::int64_t k) const {
    const ComingOrGoing c = change[k];
    position[c.place] = c.position;
    velocity[c.place] = c.velocity;
    image[c.place] = {};
    if (turning.orientation == nullptr) return;
    turning.angular_momentum[c.place] = c.angular_momentum;
    if (c.turns) turning.orientation[c.place] = c.orientation;
  }
};

/// Of bodies with centres of a type that are there, or not: the longest way to a site.
double reach_of_bodies(const Configuration& c, std::uint32_t type) {
  const Topology& t = c.topology;
  const auto absent = absent_type(c, type);
  double most = 0;
  for (std::size_t id = 0; id < t.body.size(); ++id) {
    if (!t.is_site(id)) continue;
    const std::uint32_t of = c.type[t.body[id]];
    if (of == type || of == absent) most = std::max(most, std::sqrt(dot(t.site[id], t.site[id])));
  }
  return most;
}

}  // namespace

void check_insertion(const std::vector<InsertionSettings>& all, std::size_t k, Setup& setup) {
  const InsertionSettings& s = all[k];
  const std::string key = fmt::format("insertion[{}]", k);
  const Configuration& c = setup.configuration();
  if (std::ranges::find(all, s.type, &InsertionSettings::type) != all.begin() + std::ptrdiff_t(k))
    setup.error(key + ".type",
                fmt::format("\"{}\" is given twice: expected one entry for each type", s.type));
  const std::uint32_t type = setup.type_index(s.type, key + ".type");
  if (!absent_type(c, type))
    setup.error(key + ".type",
                fmt::format("there is no room for more particles of the type \"{0}\": expected "
                            "\"reservoir\": {{\"{0}\": number of them}} in the job",
                            s.type));
  for (std::size_t id = 0; id < c.type.size(); ++id) {
    if (c.type[id] != type || !c.topology.is_site(id)) continue;
    setup.error(key + ".type",
                fmt::format("\"{0}\" is the type of sites of rigid bodies: expected that of their "
                            "centres, \"{1}\", with room for them in \"reservoir\"",
                            s.type, c.types[c.type[c.topology.body[id]]]));
    break;
  }
  // Boxes of jobs with a reservoir change in the Gibbs ensemble alone, which keeps them as wide.
  if (const auto what = misfit(c.box, reach_of_bodies(c, type), "a body", "centre"); !what.empty())
    setup.error(key + ".type", what);
  const std::vector<bool> bonded = bonded_particles(c);
  for (std::size_t id = 0; id < bonded.size(); ++id) {
    if (!bonded[id] || c.type[id] != type) continue;
    setup.error(
        key + ".type",
        fmt::format("particle {} of the type \"{}\" has bonds, which would be lost with it: "
                    "expected a type without",
                    id, s.type));
    break;
  }
  if (s.activity.has_value() == s.chemical_potential.has_value())
    setup.error(key, "must have either activity or chemical_potential");
  require_periodic(key, "needs", setup);
}

RunKey Insertion::key(const StepContext& s) const {
  return {Purpose::monte_carlo_insertion, instance_seed(s.seed(), instance_)};
}

void Insertion::begin(StageContext& s) {
  const std::vector<std::string>& types = s.particles().properties().types;
  const auto find = [&](const std::string& name) {
    return std::uint32_t(std::ranges::find(types, name) - types.begin());
  };
  type_ = find(settings_.type);
  absent_ = find(settings_.type + std::string(absent_ending));
  other_.assign(types.size(), 0);
  for (std::uint32_t k = 0; k < types.size(); ++k)
    if (const std::uint32_t of = find(types[k] + std::string(absent_ending)); of < types.size())
      other_[k] = of, other_[of] = k;
  bodies_.begin(s, type_);
  fit(s);
}

/// What depends on the box. Cells are wide enough for bodies to lie in them.
void Insertion::fit(const StepContext& s) {
  if (!grid_.fit(s.particles(), s.range() + 2 * bodies_.extent())) return;
  const Device& device = s.device();
  energies_.begin(s, grid_.active() * bodies_.size(), false);
  log_of_uniform_ = {device, grid_.active()}, outcome_ = {device, grid_.active()};
  tally_.begin(device, grid_.active());
}

RunError Insertion::no_room() const {
  return RunError(
      fmt::format("all {1} of the type \"{0}\" are in the box, and the reservoir is empty: "
                  "expected a larger number at reservoir.{0}, or a smaller activity",
                  settings_.type, bodies_.has_any() ? "bodies" : "particles"));
}

void Insertion::find_free(const StepContext& s) {
  const std::vector<Position> position = s.particles().position().to_host();
  id_ = s.particles().id().to_host();
  index_.resize(id_.size());
  free_.clear();
  for (std::size_t at = 0; at < id_.size(); ++at) {
    index_[id_[at]] = std::uint32_t(at);
    if (position[at].type() == absent_) free_.insert(id_[at]);
  }
}

void Insertion::sweep(StepContext& s, double kt) {
  if (s.particles().box_state().moves()) fit(s);
  find_free(s);
  const auto rounds = std::uint32_t((settings_.trials + grid_.active() - 1) / grid_.active());
  bool changed = true;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    try_all(s, grid_.sort(s, key(s), round, changed).front(), round, kt);
    changed = change(s, round, kt);
  }
}

void Insertion::try_all(StepContext& s, const TrialCells& cells, std::uint32_t round, double kt) {
  if (free_.empty()) throw no_room();
  const Device& device = s.device();
  const ParticleView particles = s.particles().view();
  const Box& box = s.particles().box();
  const double activity =
      settings_.activity ? std::log(*settings_.activity) : *settings_.chemical_potential / kt;
  const double log_of_zv = activity + std::log(box.volume() / double(cells.count()));
  // One that is not there lends its types and its attributes, as long as trials are looked at.
  const std::uint32_t like = *free_.begin();
  std::vector<ComingOrGoing> hidden, shown;
  weight_.clear();
  for (const std::uint32_t id : ids_of(like)) {
    const std::uint32_t at = index_[id];
    const Position p = s.particles().position().to_host(std::int64_t(at));
    const Real4 velocity = s.particles().velocity().to_host(std::int64_t(at));
    hidden.push_back({.place = at, .position = p, .velocity = velocity});
    shown.push_back(hidden.back()), shown.back().position = typed(p, other_[p.type()]);
    weight_.push_back(velocity.w);
  }
  if (const auto& turning = s.particles().orientations())
    moment_ = turning->moment().to_host(std::int64_t(index_[like]));
  apply(s, shown);
  if (bodies_.has_any())
    bodies_.propose(s,
                    {cells, key(s), round, log_of_zv, like, energies_.move(), energies_.place(),
                     energies_.change(), log_of_uniform_.data(), outcome_.data(), tally_.data()});
  else
    for_each(device, "insertions", cells.active(),
             ProposeInsertions{cells, key(s), s.device_step(), round, type_, index_[like],
                               log_of_zv, box.dimension == 2, particles.position, energies_.move(),
                               energies_.place(), energies_.change(), log_of_uniform_.data(),
                               outcome_.data(), tally_.data()});
  energies_.measure(s, cells, cells.active() * bodies_.size(), [] {}, {.inserted = true});
  for_each(device, "insertions are accepted", cells.active(),
           DecideInsertions{energies_.move(), bodies_.size(), kt, energies_.change(),
                            log_of_uniform_.data(), outcome_.data(), tally_.data()});
  apply(s, hidden);
}

/// By what was accepted, in the order of the cells. Whether anything was.
bool Insertion::change(StepContext& s, std::uint32_t round, double kt) {
  const std::vector<std::uint32_t> outcome = outcome_.to_host();
  if (std::ranges::count(outcome, nothing) == std::ptrdiff_t(outcome.size())) return false;
  const std::vector<TrialMove> moves = energies_.moves_on_host();
  const std::vector<Real4> turns = bodies_.has_any() ? bodies_.turns() : std::vector<Real4>{};
  const int dimension = s.particles().box().dimension;
  std::vector<ComingOrGoing> changes;
  std::vector<std::uint32_t> gone;  // nobody goes and comes in one round
  for (std::size_t k = 0; k < outcome.size(); ++k) {
    if (outcome[k] == nothing) continue;
    const TrialMove* const of = moves.data() + k * bodies_.size();
    if (outcome[k] == removed) {
      for (std::size_t e = 0; e < bodies_.size(); ++e)
        changes.push_back({.place = of[e].before_as,
                           .position = typed(of[e].before, other_[of[e].before.type()]),
                           .velocity = {0, 0, 0, weight_[e]}});
      gone.push_back(id_[of->before_as]);
      continue;
    }
    const std::uint32_t id = take_free();
    const std::size_t first = changes.size();
    for (std::size_t e = 0; e < bodies_.size(); ++e)
      changes.push_back({.place = index_[ids_of(id)[e]],
                         .position = of[e].after,
                         .velocity = {0, 0, 0, weight_[e]}});
    // Other numbers than those of cells (ProposeInsertions). Sites follow their bodies.
    auto random = keyed<Philox>(key(s), s.step(), id, 0x80000000u | round);
    ComingOrGoing& head = changes[first];
    head.velocity = drawn_velocity(random, kt, weight_[0], dimension);
    head.angular_momentum = drawn_angular_momentum(random, kt, moment_, dimension);
    if (turns.empty()) continue;
    head.turns = true, head.orientation = turns[k];
  }
  apply(s, changes);
  free_.insert(gone.begin(), gone.end());
  return true;
}

/// The first one from `next_` on.
std::uint32_t Insertion::take_free() {
  if (free_.empty()) throw no_room();
  auto at = free_.lower_bound(next_);
  if (at == free_.end()) at = free_.begin();
  const std::uint32_t id = *at;
  free_.erase(at);
  next_ = id + 1;
  return id;
}

void Insertion::apply(StepContext& s, const std::vector<ComingOrGoing>& changes) {
  const ParticleView particles = s.particles().view();
  Orientations* const turning = s.particles().orientations();
  changes_ = Buffer<ComingOrGoing>(s.device(), std::span<const ComingOrGoing>(changes));
  for_each(s.device(), "particles come and go", std::int64_t(changes.size()),
           ComeAndGo{changes_.data(), particles.position, particles.velocity, particles.image,
                     turning ? turning->view() : OrientationView{}});
}

void Insertion::state(Archive& archive) {
  archive("next", next_);
  tally_.state(archive);
}

}  // namespace perrin::monte_carlo
