#include "gibbs_trials.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/components/rigid_bodies.h"
#include "engine/components/stage_context.h"
#include "engine/dynamics/counted_tail.h"
#include "engine/dynamics/reservoir.h"
#include "engine/system/orientations.h"
#include "placed_body.h"
#include "thermal_motion.h"
#include "whole_position.h"

namespace perrin::monte_carlo {

void GibbsTrials::open(StageContext& s) {
  context_ = &s;
  if (s.bodies())
    if (const auto what = misfit(s.particles().box(), s.bodies()->extent(), "a body", "centre");
        !what.empty())
      throw UserError("exchange: " + what);
  const std::vector<std::string>& names = s.particles().properties().types;
  const std::uint32_t first_absent = first_absent_type(names);
  const std::vector<Position> position = s.particles().by_id(s.particles().position());
  const Topology& t = s.particles().properties().topology;
  types_.clear(), kinds_.clear(), bodies_.clear();
  counts_.assign(names.size(), 0), other_.assign(names.size(), 0), sites_ = 0;
  std::vector<bool> is_of_sites(names.size());
  for (std::uint32_t id = 0; id < position.size(); ++id)
    if (t.is_site(id)) is_of_sites[position[id].type()] = true;
  for (std::uint32_t type = 0; type < first_absent; ++type) {
    const auto found = std::ranges::find(names, names[type] + std::string(absent_ending));
    if (found == names.end()) continue;
    const auto absent = std::uint32_t(found - names.begin());
    other_[type] = absent, other_[absent] = type;
    if (is_of_sites[type] || is_of_sites[absent]) continue;
    types_.push_back(type);
    kinds_[type];
  }
  for (std::uint32_t id = 0; id < position.size(); ++id) {
    const std::uint32_t type = position[id].type();
    if (type < first_absent) ++counts_[type], sites_ += t.is_site(id) ? 1 : 0;
    if (!t.body.empty() && t.body[id] == id) bodies_[id].push_back(id);
    for (auto& [present, kind] : kinds_) {
      if (type == present) kind.here.push_back(id);
      if (type == other_[present]) kind.free.insert(id);
    }
  }
  for (std::uint32_t id = 0; id < position.size(); ++id)
    if (t.is_site(id)) bodies_.at(t.body[id]).push_back(id);
  for (auto& [present, kind] : kinds_)
    if (!kind.here.empty() || !kind.free.empty())
      kind.size =
          std::uint32_t(ids_of(kind.here.empty() ? *kind.free.begin() : kind.here.front()).size());
  const std::vector<std::uint32_t> ids = s.particles().id().to_host();
  index_.resize(ids.size());
  for (std::uint32_t at = 0; at < ids.size(); ++at) index_[ids[at]] = at;
  tails_.clear();
  for (const auto& force : s.forces())
    if (const auto* const counted = dynamic_cast<const CountedTail*>(force.get()))
      tails_.push_back(&counted->tail());
  if (energies_.room() < s.particles().size()) energies_.begin(s, s.particles().size(), false);
  energy_.reset();
  sorted_ = moved_ = scaled_ = false;
}

double GibbsTrials::volume() const { return context_->particles().box().volume(); }

std::int64_t GibbsTrials::particles() const {
  return std::accumulate(counts_.begin(), counts_.end(), -sites_);
}

/// Who comes and goes with a particle, by its id: itself, or the whole body.
std::span<const std::uint32_t> GibbsTrials::ids_of(const std::uint32_t& id) const {
  const auto body = bodies_.find(id);
  return body == bodies_.end() ? std::span(&id, 1) : std::span<const std::uint32_t>(body->second);
}

/// Everybody who is there.
void GibbsTrials::sort() {
  const RunKey key(Purpose::monte_carlo_insertion, context_->seed());
  cells_ = grid_.sort(*context_, key).front();
  sorted_ = true;
}

void GibbsTrials::fit() {
  if (grid_.fit(context_->particles(), context_->range()) || !sorted_) sort();
}

/// Of all of them together.
double GibbsTrials::change_of(const std::vector<TrialMove>& moves) {
  const Device& device = context_->device();
  std::vector<double> change(moves.size());
  device.memory().copy_in(energies_.move(), moves.data(), moves.size() * sizeof(TrialMove));
  device.memory().copy_in(energies_.change(), change.data(), change.size() * sizeof(double));
  energies_.measure_pairs(*context_, cells_, 0, std::int64_t(moves.size()));
  device.memory().copy_out(change.data(), energies_.change(), change.size() * sizeof(double));
  return std::accumulate(change.begin(), change.end(), 0.0);
}

/// In the box as it is: each pair is seen from both sides.
double GibbsTrials::energy_of_pairs() {
  fit();
  const auto n = std::size_t(particles() + sites_);
  if (n == 0) return 0;
  std::vector<TrialMove> moves(n);
  for (std::uint32_t slot = 0; slot < n; ++slot)
    moves[slot] = {.before_as = cells_.place[slot],
                   .slot = slot,
                   .before = cells_.position[slot],
                   .after = cells_.position[slot]};
  return -0.5 * change_of(moves);
}

/// What the tails change with one more, or one less.
double GibbsTrials::tail(const Candidate& candidate, int more) const {
  std::vector<std::int64_t> counts = counts_;
  for (const Position& p : candidate.position) counts[p.type()] += more;
  double change = 0;
  for (const TailMatrix* const tail : tails_)
    change +=
        tail->correction(counts, volume()).energy - tail->correction(counts_, volume()).energy;
  return change;
}

double GibbsTrials::tail_in(double volume) const {
  double energy = 0;
  for (const TailMatrix* const tail : tails_) energy += tail->correction(counts_, volume).energy;
  return energy;
}

std::uint32_t GibbsTrials::next_free(const Kind& kind) const {
  const auto at = kind.free.lower_bound(next_);
  return at == kind.free.end() ? *kind.free.begin() : *at;
}

void GibbsTrials::put(std::uint32_t id, const Position& position, const Real4& velocity) {
  Particles& p = context_->particles();
  const Device& device = context_->device();
  const std::uint32_t at = index_[id];
  const Image none{};
  device.memory().copy_in(p.position().data() + at, &position, sizeof position);
  device.memory().copy_in(p.velocity().data() + at, &velocity, sizeof velocity);
  device.memory().copy_in(p.image().data() + at, &none, sizeof none);
  sorted_ = false, moved_ = true;
}

/// nullptr: the orientation stays.
void GibbsTrials::set_rotation(std::uint32_t id, const Real4* orientation,
                               const Real4& angular_momentum) {
  Orientations* const all = context_->particles().orientations();
  if (all == nullptr) return;
  const auto& memory = context_->device().memory();
  const std::uint32_t at = index_[id];
  memory.copy_in(all->angular_momentum().data() + at, &angular_momentum, sizeof angular_momentum);
  if (orientation) memory.copy_in(all->orientation().data() + at, orientation, sizeof *orientation);
}

double GibbsTrials::try_insertion(std::uint32_t type, const Words4& where, const Words4& turn) {
  fit();
  Particles& p = context_->particles();
  const auto& memory = context_->device().memory();
  const bool flat = p.box().dimension == 2;
  coming_ = {.type = type, .id = next_free(kinds_.at(type))};
  const std::span<const std::uint32_t> ids = ids_of(coming_.id);
  std::vector<Position> hidden;
  for (const std::uint32_t id : ids)
    hidden.push_back(p.position().to_host(std::int64_t(index_[id])));
  const PlacedBody body(place_in_box(where, flat, typed(hidden.front(), type)), turn, flat);
  coming_.turn = body.turn;
  std::vector<TrialMove> moves;
  for (std::size_t e = 0; e < ids.size(); ++e) {
    const std::uint32_t at = index_[ids[e]];
    Position there = body.first;
    if (e > 0) {
      const Vec3<double>& site = p.properties().topology.site[ids[e]];
      there = body.particle(p.box().metric(), {Real(site.x), Real(site.y), Real(site.z)},
                            typed(hidden[e], other_[hidden[e].type()]));
    }
    coming_.position.push_back(there);
    moves.push_back({.after_as = at, .before = there, .after = there});
    // It lends its type and its attributes, as long as the trial is looked at.
    memory.copy_in(p.position().data() + at, &there, sizeof there);
  }
  coming_.energy = change_of(moves);
  for (std::size_t e = 0; e < ids.size(); ++e)
    memory.copy_in(p.position().data() + index_[ids[e]], &hidden[e], sizeof hidden[e]);
  return coming_.energy + tail(coming_, 1);
}

void GibbsTrials::insert(Philox& random, double kt) {
  const Candidate& c = coming_;
  Kind& kind = kinds_.at(c.type);
  const Particles& p = context_->particles();
  const int dimension = p.box().dimension;
  const std::span<const std::uint32_t> ids = ids_of(c.id);
  for (std::size_t e = 0; e < ids.size(); ++e) {
    const Real weight = p.velocity().to_host(std::int64_t(index_[ids[e]])).w;
    // Sites follow their bodies.
    put(ids[e], c.position[e],
        e == 0 ? drawn_velocity(random, kt, weight, dimension) : Real4{0, 0, 0, weight});
    ++counts_[c.position[e].type()];
  }
  if (p.orientations()) {
    const Real4 moment = p.orientations()->moment().to_host(std::int64_t(index_[c.id]));
    set_rotation(c.id, kind.size > 1 ? &c.turn : nullptr,
                 drawn_angular_momentum(random, kt, moment, dimension));
  }
  sites_ += std::int64_t(ids.size()) - 1;
  kind.free.erase(c.id);
  kind.here.push_back(c.id);
  next_ = c.id + 1;
  if (energy_) *energy_ += c.energy;
}

double GibbsTrials::try_removal(std::uint32_t type, std::uint32_t which) {
  fit();
  going_ = {.type = type, .id = kinds_.at(type).here.at(which), .which = which};
  std::vector<TrialMove> moves;
  for (const std::uint32_t id : ids_of(going_.id)) {
    const std::uint32_t at = index_[id];
    const Position here = context_->particles().position().to_host(std::int64_t(at));
    const std::uint32_t slot = cells_.slot_of(cells_.key(cells_.cell_of(here)), id);
    going_.position.push_back(here);
    moves.push_back({.before_as = at, .slot = slot, .before = here, .after = here});
  }
  going_.energy = change_of(moves);
  return going_.energy + tail(going_, -1);
}

void GibbsTrials::remove() {
  const Candidate& c = going_;
  Kind& kind = kinds_.at(c.type);
  const std::span<const std::uint32_t> ids = ids_of(c.id);
  for (std::size_t e = 0; e < ids.size(); ++e) {
    const Real weight = context_->particles().velocity().to_host(std::int64_t(index_[ids[e]])).w;
    put(ids[e], typed(c.position[e], other_[c.position[e].type()]), {0, 0, 0, weight});
    --counts_[c.position[e].type()];
  }
  set_rotation(c.id, nullptr, {});
  sites_ -= std::int64_t(ids.size()) - 1;
  kind.here[c.which] = kind.here.back();
  kind.here.pop_back();
  kind.free.insert(c.id);
  if (energy_) *energy_ += c.energy;
}

/// All lengths in proportion.
Box GibbsTrials::scaled(double volume) const {
  Box box = context_->particles().box();
  const double factor = std::pow(volume / box.volume(), 1.0 / box.dimension);
  for (int axis = 0; axis < box.dimension; ++axis) {
    box.length[axis] *= factor;
    box.origin[axis] *= factor;
  }
  box.xy *= factor;
  if (box.dimension == 3) box.xz *= factor, box.yz *= factor;
  return box;
}

bool GibbsTrials::is_too_small(double volume) const {
  const Vec3<double> heights = scaled(volume).heights();
  const int dimension = context_->particles().box().dimension;
  // No site goes as far as half of the box.
  const double least =
      std::max(context_->range(), context_->bodies() ? context_->bodies()->extent() : 0);
  for (int axis = 0; axis < dimension; ++axis)
    if (heights[axis] / 2 < least * (1 + 1e-9)) return true;
  return false;
}

/// Sites go where their bodies are.
void GibbsTrials::set_box(const Box& box) {
  Particles& p = context_->particles();
  p.box_state().set(box);
  if (context_->bodies()) context_->bodies()->follow_box(p), sorted_ = false;
}

double GibbsTrials::try_volume(double volume) {
  if (!energy_) energy_ = energy_of_pairs();
  const Box before = context_->particles().box();
  next_box_ = scaled(volume);
  set_box(next_box_);
  next_energy_ = energy_of_pairs();
  set_box(before);
  return next_energy_ - *energy_ + tail_in(volume) - tail_in(before.volume());
}

void GibbsTrials::take_volume() {
  set_box(next_box_);
  energy_ = next_energy_;
  scaled_ = true;
}

void GibbsTrials::close() {
  StageContext& s = *context_;
  if (moved_) {
    count_present(s, present_);
    s.follow_groups(owner_, false);
  }
  if (scaled_) s.follow_box();
  if (moved_ || scaled_) s.particles_were_moved();
}

void GibbsTrials::state(Archive& archive) { archive("next", next_); }

}  // namespace perrin::monte_carlo
