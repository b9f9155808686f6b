#include "gibbs_trials.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/components/stage_context.h"
#include "engine/dynamics/counted_tail.h"
#include "engine/dynamics/reservoir.h"
#include "whole_position.h"

namespace perrin::monte_carlo {

void GibbsTrials::open(StageContext& s) {
  context_ = &s;
  const std::vector<std::string>& names = s.particles.types;
  const std::uint32_t first_absent = first_absent_type(names);
  types_.clear(), kinds_.clear();
  counts_.assign(names.size(), 0);
  for (std::uint32_t type = 0; type < first_absent; ++type) {
    const auto absent = std::ranges::find(names, names[type] + std::string(absent_ending));
    if (absent == names.end()) continue;
    types_.push_back(type);
    kinds_[type].absent = std::uint32_t(absent - names.begin());
  }
  const std::vector<Position> position = s.particles.by_id(s.particles.position);
  for (std::uint32_t id = 0; id < position.size(); ++id) {
    const std::uint32_t type = position[id].type();
    if (type < first_absent) ++counts_[type];
    for (auto& [present, kind] : kinds_) {
      if (type == present) kind.here.push_back(id);
      if (type == kind.absent) kind.free.insert(id);
    }
  }
  const std::vector<std::uint32_t> ids = s.particles.id.to_host();
  index_.resize(ids.size());
  for (std::uint32_t at = 0; at < ids.size(); ++at) index_[ids[at]] = at;
  tails_.clear();
  for (const auto& force : s.forces)
    if (const auto* const counted = dynamic_cast<const CountedTail*>(force.get()))
      tails_.push_back(&counted->tail());
  if (energies_.room() < s.particles.size()) energies_.begin(s, s.particles.size(), false);
  energy_.reset();
  sorted_ = moved_ = scaled_ = false;
}

double GibbsTrials::volume() const { return context_->particles.box.volume(); }

std::int64_t GibbsTrials::particles() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t(0));
}

/// Everybody who is there.
void GibbsTrials::sort() {
  const RunKey key(Purpose::monte_carlo_insertion, context_->seed);
  cells_ = grid_.sort(*context_, key).front();
  sorted_ = true;
}

void GibbsTrials::fit() {
  if (grid_.fit(context_->particles, context_->range()) || !sorted_) sort();
}

double GibbsTrials::change_of(const TrialMove& move) {
  const Device& device = context_->device();
  double change = 0;
  device.memory().copy_in(energies_.move(), &move, sizeof move);
  device.memory().copy_in(energies_.change(), &change, sizeof change);
  energies_.measure_pairs(*context_, cells_, 0, 1);
  device.memory().copy_out(&change, energies_.change(), sizeof change);
  return change;
}

/// In the box as it is: each pair is seen from both sides.
double GibbsTrials::energy_of_pairs() {
  fit();
  const Device& device = context_->device();
  const auto n = std::size_t(particles());
  if (n == 0) return 0;
  std::vector<TrialMove> moves(n);
  for (std::uint32_t slot = 0; slot < n; ++slot)
    moves[slot] = {.before_as = cells_.place[slot],
                   .slot = slot,
                   .before = cells_.position[slot],
                   .after = cells_.position[slot]};
  std::vector<double> change(n);
  device.memory().copy_in(energies_.move(), moves.data(), n * sizeof(TrialMove));
  device.memory().copy_in(energies_.change(), change.data(), n * sizeof(double));
  energies_.measure_pairs(*context_, cells_, 0, std::int64_t(n));
  device.memory().copy_out(change.data(), energies_.change(), n * sizeof(double));
  return -0.5 * std::accumulate(change.begin(), change.end(), 0.0);
}

/// What the tails change with so many more particles of a type.
double GibbsTrials::tail(std::uint32_t type, int more) const {
  std::vector<std::int64_t> counts = counts_;
  counts[type] += more;
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
  Particles& p = context_->particles;
  const Device& device = context_->device();
  const std::uint32_t at = index_[id];
  const Image none{};
  device.memory().copy_in(p.position.data() + at, &position, sizeof position);
  device.memory().copy_in(p.velocity.data() + at, &velocity, sizeof velocity);
  device.memory().copy_in(p.image.data() + at, &none, sizeof none);
  sorted_ = false, moved_ = true;
}

double GibbsTrials::try_insertion(std::uint32_t type, const Words4& where) {
  fit();
  const Particles& p = context_->particles;
  const Device& device = context_->device();
  const std::uint32_t id = next_free(kinds_.at(type)), at = index_[id];
  const Position hidden = p.position.to_host(std::int64_t(at));
  const std::uint32_t z = p.box.dimension == 2 ? hidden.z : where.z;
  const Position there(where.x, where.y, z, type);
  // It lends its type and its attributes, as long as the trial is looked at.
  Position* const own = context_->particles.position.data() + at;
  device.memory().copy_in(own, &there, sizeof there);
  const double energy = change_of({.after_as = at, .before = there, .after = there});
  device.memory().copy_in(own, &hidden, sizeof hidden);
  coming_ = {type, id, 0, there, energy};
  return energy + tail(type, 1);
}

void GibbsTrials::insert(Philox& random, double kt) {
  const Candidate& c = coming_;
  Kind& kind = kinds_.at(c.type);
  const Real weight = context_->particles.velocity.to_host(std::int64_t(index_[c.id])).w;
  const double width = std::sqrt(kt * double(weight));
  Real4 velocity{0, 0, 0, weight};
  velocity.x = Real(width * random.normal<double>());
  velocity.y = Real(width * random.normal<double>());
  if (context_->particles.box.dimension == 3) velocity.z = Real(width * random.normal<double>());
  put(c.id, c.position, velocity);
  kind.free.erase(c.id);
  kind.here.push_back(c.id);
  ++counts_[c.type];
  next_ = c.id + 1;
  if (energy_) *energy_ += c.energy;
}

double GibbsTrials::try_removal(std::uint32_t type, std::uint32_t which) {
  fit();
  const std::uint32_t id = kinds_.at(type).here.at(which), at = index_[id];
  const Position here = context_->particles.position.to_host(std::int64_t(at));
  const std::uint32_t slot = cells_.slot_of(cells_.key(cells_.cell_of(here)), id);
  const double energy = change_of({.before_as = at, .slot = slot, .before = here, .after = here});
  going_ = {type, id, which, here, energy};
  return energy + tail(type, -1);
}

void GibbsTrials::remove() {
  const Candidate& c = going_;
  Kind& kind = kinds_.at(c.type);
  const Real weight = context_->particles.velocity.to_host(std::int64_t(index_[c.id])).w;
  put(c.id, at_place_of(c.position, Position(0, 0, 0, kind.absent)), {0, 0, 0, weight});
  kind.here[c.which] = kind.here.back();
  kind.here.pop_back();
  kind.free.insert(c.id);
  --counts_[c.type];
  if (energy_) *energy_ += c.energy;
}

/// All lengths in proportion.
Box GibbsTrials::scaled(double volume) const {
  Box box = context_->particles.box;
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
  const int dimension = context_->particles.box.dimension;
  for (int axis = 0; axis < dimension; ++axis)
    if (heights[axis] / 2 < context_->range() * (1 + 1e-9)) return true;
  return false;
}

double GibbsTrials::try_volume(double volume) {
  Particles& p = context_->particles;
  if (!energy_) energy_ = energy_of_pairs();
  const Box before = p.box;
  next_box_ = scaled(volume);
  p.box_state.set(next_box_);
  next_energy_ = energy_of_pairs();
  p.box_state.set(before);
  return next_energy_ - *energy_ + tail_in(volume) - tail_in(before.volume());
}

void GibbsTrials::take_volume() {
  context_->particles.box_state.set(next_box_);
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
