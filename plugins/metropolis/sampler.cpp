#include "sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/system/changed_since.h"
#include "make_engine.h"
#include "moves.h"
#include "pair_rows.h"

namespace perrin::metropolis {
namespace {

// Words beside a molecule's: what else is drawn in a cycle.
constexpr std::uint32_t for_volume = 1, for_exchange = 2;

std::int64_t to_multiple(std::int64_t cycle, std::int64_t interval) {
  return interval - cycle % interval;
}

}  // namespace

Sampler::Sampler(const Device& device, const Prepared& prepared, const SamplerOptions& options)
    : options_(options),
      given_sizes_(prepared.sizes),
      given_box_(prepared.model.box),
      system_(std::holds_alternative<SequentialOptions>(options.engine) ? Device::cpu(1) : device,
              prepared.model, prepared.start, std::int64_t(prepared.kT.size())),
      sizes_(prepared.sizes),
      kT_(prepared.kT),
      replica_of_(prepared.kT.size()) {
  std::iota(replica_of_.begin(), replica_of_.end(), 0u);
  system_.set_temperatures(kT_);
  engine_ = make_engine(system_, options.chain, options.engine);
  engine_->set_sizes(sizes_);
  counted_.resize(kT_.size());
  tuned_.resize(kT_.size());
  step_sum_.resize(kT_.size());
  const auto start = engine_->totals();
  std::vector<double> energy;
  for (const Totals& t : start) {
    // Sites on one another: so much leaves a thousandth of kT, or less, to the last digit.
    if (!(t.energy < rough_energy())) rough_start_ = true;
    if (t.cores > 0)
      throw OverlapError(
          fmt::format("hard cores overlap at the start, {} pairs of sites", t.cores));
    energy.push_back(t.energy);
  }
  system_.set_energies(energy);
}

std::int64_t Sampler::advance(std::int64_t n) {
  n = std::min(n, to_multiple(cycle_, options_.recompute));
  const bool tuning = options_.tune && cycle_ < options_.equilibration;
  if (tuning) n = std::min(n, to_multiple(cycle_, options_.tune->interval));
  if (cycle_ < options_.equilibration) n = std::min(n, options_.equilibration - cycle_);
  if (options_.volume) n = std::min(n, to_multiple(cycle_, options_.volume->interval));
  if (options_.exchange > 0) n = std::min(n, to_multiple(cycle_, options_.exchange));
  if (rough_start_ && cycle_ < options_.recompute)
    n = std::min(n, std::int64_t(std::bit_ceil(std::uint64_t(cycle_) + 1)) - cycle_);
  engine_->run(cycle_, n);
  cycle_ += n;
  tried_ += std::uint64_t(n) * std::uint64_t(engine_->moves_per_cycle());
  if (!engine_->moves_in_order()) step_from_ = cycle_;
  // Cycle by cycle: the same bits however many are run at once.
  for (std::int64_t k = 0; options_.volume && k < n; ++k)
    step_tail_ += double(engine_->moves_per_cycle()) *
                  tail_of(system_.model(), system_.model().volume()).energy;
  const auto due = [&](std::int64_t interval) { return cycle_ % interval == 0; };
  if (options_.volume && due(options_.volume->interval)) volume_move();
  if (options_.exchange > 0 && due(options_.exchange)) exchange();
  if (tuning && due(options_.tune->interval)) tune();
  if (due(options_.recompute) || early_recompute()) recompute();
  return n;
}

void Sampler::compare(const std::vector<Totals>& fresh) {
  const auto running = system_.energies();
  for (std::size_t r = 0; r < fresh.size(); ++r)
    drift_ = std::max(drift_, std::abs(running[r] - fresh[r].energy));
}

double Sampler::drift() {
  if (!rough_start_ || cycle_ > options_.recompute) compare(engine_->totals());
  return drift_;
}

/// After a rough start: after 1, 2, 4, 8 … cycles, too.
bool Sampler::early_recompute() const {
  return rough_start_ && cycle_ < options_.recompute && std::has_single_bit(std::uint64_t(cycle_));
}

void Sampler::recompute() {
  const auto fresh = engine_->totals();
  if (!rough_start_ || cycle_ > options_.recompute) compare(fresh);
  std::vector<double> energy;
  for (std::size_t r = 0; r < fresh.size(); ++r) {
    energy.push_back(fresh[r].energy);
    if (!std::isfinite(fresh[r].energy) && cycle_ >= options_.recompute)
      throw RunError(
          fmt::format("cycle {}: the energy of replica {} is {}", cycle_, r, fresh[r].energy));
  }
  system_.set_energies(energy);
  // The mean begins behind energies in which all else drowns.
  if (rough_start_ && cycle_ <= options_.recompute)
    for (const double mean : step_mean().energy)
      if (!(mean < rough_energy())) return clear_step_mean();
}

double Sampler::rough_energy() const {
  return (options_.chain.single_precision ? 1e4 : 1e10) * kT_[0];
}

/// What replicas have summed up, to the temperatures that they have.
void Sampler::collect_steps() {
  const auto sums = system_.step_energies();
  for (std::size_t k = 0; k < kT_.size(); ++k) step_sum_[k] += sums[replica_of_[k]];
  system_.clear_step_energies();
}

Sampler::StepMean Sampler::step_mean() const {
  StepMean mean{step_from_, {}};
  if (!engine_->moves_in_order()) return mean;
  const double moves = double(engine_->moves_per_cycle()) * double(cycle_ - step_from_);
  if (moves == 0) return {step_from_, energies()};
  const auto sums = system_.step_energies();
  const double tail = options_.volume ? step_tail_ / moves
                                      : tail_of(system_.model(), system_.model().volume()).energy;
  for (std::size_t k = 0; k < kT_.size(); ++k)
    mean.energy.push_back((step_sum_[k] + sums[replica_of_[k]]) / moves + tail);
  return mean;
}

void Sampler::clear_step_mean() {
  system_.clear_step_energies();
  step_sum_.assign(kT_.size(), 0);
  step_tail_ = 0;
  step_from_ = cycle_;
}

void Sampler::tune() {
  const auto accepted = system_.accepted();
  const double tried =
      double(engine_->moves_per_cycle()) * double(cycle_ - tuned_cycle_) * double(accepted.size());
  double sum = 0;
  for (std::size_t r = 0; r < accepted.size(); ++r) sum += double(accepted[r] - tuned_[r]);
  tuned_ = accepted;
  tuned_cycle_ = cycle_;
  const double factor = std::clamp(sum / tried / options_.tune->acceptance, 0.5, 1.5);
  const Vec3<double>& box = system_.box();
  sizes_.translation = std::min(sizes_.translation * factor, std::min({box.x, box.y, box.z}) / 2);
  sizes_.rotation = std::min(sizes_.rotation * factor, std::numbers::pi);
  engine_->set_sizes(sizes_);
}

// A random walk in ln V; molecules keep their shape, their centres move with the box (Eppenga,
// Frenkel, Mol. Phys. 52, 1303 (1984); Frenkel, Smit, Understanding Molecular Simulation, 5.4).
void Sampler::volume_move() {
  auto g = keyed<Philox>(Purpose::metropolis_choice, options_.chain.seed, std::uint64_t(cycle_), 0,
                         for_volume);
  const double change = options_.volume->step * g.symmetric<double>();
  const double allowed = -std::log(g.uniform_open<double>());
  const Vec3<double> old = system_.box();
  const double volume = system_.model().volume(), fresh_volume = volume * std::exp(change);
  const double old_energy = system_.energies()[0] + tail_of(system_.model(), volume).energy;
  const Vec3<double> fresh_box = std::exp(change / 3) * old;
  // The ensemble has such states, but their energies would need images beyond the nearest.
  if (const std::string why = system_.model().too_small(fresh_box); !why.empty())
    throw RunError(fmt::format(
        "cycle {}: in a volume move {}; use more molecules, a shorter cut-off or a lower pressure",
        cycle_, why));
  system_.set_box(fresh_box);
  const Totals fresh = engine_->totals()[0];
  const double energy = fresh.energy + tail_of(system_.model(), fresh_volume).energy;
  const double cost =
      (energy - old_energy + options_.volume->pressure * (fresh_volume - volume)) / kT_[0] -
      double(system_.molecules() + 1) * change;
  ++volume_tried_;
  if (fresh.cores == 0 && cost <= allowed) {
    ++volume_accepted_;
    system_.set_energies({fresh.energy});
  } else {
    system_.set_box(old);
  }
  engine_->system_changed();
}

// Neighbours (0,1), (2,3), … and (1,2), (3,4), … in turn.
void Sampler::exchange() {
  collect_steps();
  const auto energy = system_.energies();
  const std::size_t first = std::size_t(cycle_ / options_.exchange) % 2;
  for (std::size_t k = first; k + 1 < kT_.size(); k += 2) {
    auto g = keyed<Philox>(Purpose::metropolis_choice, options_.chain.seed, std::uint64_t(cycle_),
                           std::uint32_t(k), for_exchange);
    const double allowed = -std::log(g.uniform_open<double>());
    const double gain =
        (1 / kT_[k] - 1 / kT_[k + 1]) * (energy[replica_of_[k]] - energy[replica_of_[k + 1]]);
    ++exchange_tried_;
    if (-gain > allowed) continue;
    ++exchange_accepted_;
    std::swap(replica_of_[k], replica_of_[k + 1]);
  }
  use_temperatures();
}

void Sampler::use_temperatures() {
  std::vector<double> kT(kT_.size());
  for (std::size_t k = 0; k < kT.size(); ++k) kT[replica_of_[k]] = kT_[k];
  system_.set_temperatures(kT);
}

std::vector<double> Sampler::energies() const {
  const auto by_replica = system_.energies();
  const double tail = tail_of(system_.model(), system_.model().volume()).energy;
  std::vector<double> list;
  for (const std::uint32_t r : replica_of_) list.push_back(by_replica[r] + tail);
  return list;
}

std::vector<Sampler::State> Sampler::states() {
  const auto by_replica = engine_->totals();
  const double volume = system_.model().volume();
  const TailEnergy tail = tail_of(system_.model(), volume);
  std::vector<State> list;
  for (std::size_t k = 0; k < kT_.size(); ++k) {
    const Totals& t = by_replica[replica_of_[k]];
    list.push_back(
        {t.energy + tail.energy,
         (double(system_.molecules()) * kT_[k] + (t.virial + tail.virial) / 3) / volume});
  }
  return list;
}

std::vector<double> Sampler::acceptance() {
  const auto accepted = system_.accepted();
  const double tried = double(engine_->moves_per_cycle()) * double(cycle_ - counted_cycle_);
  std::vector<double> list;
  for (const std::uint32_t r : replica_of_)
    list.push_back(tried > 0 ? double(accepted[r] - counted_[r]) / tried : 0);
  counted_ = accepted;
  counted_cycle_ = cycle_;
  return list;
}

std::vector<double> Sampler::acceptance_since_start() const {
  const auto accepted = system_.accepted();
  std::vector<double> list;
  for (const std::uint32_t r : replica_of_)
    list.push_back(tried_ > 0 ? double(accepted[r]) / double(tried_) : 0);
  return list;
}

void Sampler::check_molecules(Archive& archive) const {
  const Model& model = system_.model();
  std::vector<double> templates;
  for (const MoleculeTemplate& t : model.templates) {
    templates.push_back(double(t.sites.size()));
    for (const auto& site : t.sites)
      templates.insert(templates.end(), {double(site.type), site.at.x, site.at.y, site.at.z});
  }
  const bool other_templates = changed_since(archive, "templates", templates);
  if (changed_since(archive, "molecules", model.molecule) || other_templates)
    throw UserError("molecules: they differ from those of the checkpoint; start a new run");
  std::uint64_t replicas = 0;
  if (changed_since(archive, "replicas", std::uint64_t(kT_.size()), &replicas))
    throw UserError(fmt::format("replicas: the checkpoint has {}, a resumed run cannot have {}",
                                replicas, kT_.size()));
}

/// Whether the system's energies are those of other settings. The box follows the settings where
/// they were changed, else it is the restored one.
bool Sampler::other_energies(Archive& archive) {
  const Model& model = system_.model();
  std::vector<double> potential{double(model.tail)};
  for (const PairParameters& p : model.pairs)
    potential.insert(potential.end(), {double(p.kind), p.a, p.b, p.c, p.cutoff, p.core});
  const bool other_potential = changed_since(archive, "potential", potential);
  const bool other_box = changed_since(archive, "given_box", given_box_);
  if (other_box) system_.set_box(given_box_);
  return other_potential || other_box;
}

void Sampler::check_restored(const Archive& archive) const {
  const auto from_0_to = [&](const char* name, std::int64_t value, std::int64_t most) {
    archive.require(value >= 0 && value <= most, name, fmt::format("from 0 to {}", most));
  };
  archive.require(cycle_ >= 0, "cycle", "at least 0");
  constexpr std::uint64_t most_trials = 1000;  // of an atom in a sweep (settings.h)
  const std::uint64_t moves = std::uint64_t(cycle_) * std::uint64_t(system_.molecules());
  archive.require(tried_ >= moves && tried_ / most_trials <= moves, "tried",
                  "a move of every molecule in every cycle, or up to 1000");
  for (const double size : {sizes_.translation, sizes_.rotation})
    archive.require(size >= 0 && std::isfinite(size), "sizes", "at least 0");
  std::vector<bool> seen(kT_.size());
  archive.require(replica_of_.size() == kT_.size(), "replica_of",
                  "a replica for every temperature");
  for (const std::uint32_t r : replica_of_) {
    archive.require(r < seen.size() && !seen[r], "replica_of", "every replica once");
    seen[r] = true;
  }
  archive.require(counted_.size() == kT_.size() && tuned_.size() == kT_.size(), "counted",
                  "a number for every replica");
  from_0_to("volume_accepted", volume_accepted_, volume_tried_);
  from_0_to("exchange_accepted", exchange_accepted_, exchange_tried_);
  archive.require(step_sum_.size() == kT_.size(), "step_sum", "a number for every replica");
  from_0_to("step_from", step_from_, cycle_);
  from_0_to("counted_cycle", counted_cycle_, cycle_);
  from_0_to("tuned_cycle", tuned_cycle_, cycle_);
}

void Sampler::state(Archive& archive) {
  if (archive.is_saving()) engine_->update_system();
  check_molecules(archive);
  {
    const Archive::Scope scope(archive, "system");
    system_.state(archive);
  }
  archive("cycle", cycle_);
  archive("tried", tried_);
  archive("rough_start", rough_start_);
  if (archive.has("step_sum")) {
    archive("step_sum", step_sum_);
    archive("step_tail", step_tail_);
    archive("step_from", step_from_);
  } else {  // of an earlier version
    clear_step_mean();
  }
  archive("sizes", sizes_);
  archive("replica_of", replica_of_);
  archive("drift", drift_);
  archive("volume_tried", volume_tried_);
  archive("volume_accepted", volume_accepted_);
  archive("exchange_tried", exchange_tried_);
  archive("exchange_accepted", exchange_accepted_);
  archive("counted", counted_);
  archive("counted_cycle", counted_cycle_);
  archive("tuned", tuned_);
  archive("tuned_cycle", tuned_cycle_);
  check_restored(archive);
  if (changed_since(archive, "given_translation", given_sizes_.translation))
    sizes_.translation = given_sizes_.translation;
  if (changed_since(archive, "given_rotation", given_sizes_.rotation))
    sizes_.rotation = given_sizes_.rotation;
  const bool other_temperatures = changed_since(archive, "given_temperatures", kT_);
  const bool other_volume_moves = changed_since(archive, "volume_moves", options_.volume ? 1 : 0);
  const bool other_pressure =
      changed_since(archive, "pressure", options_.volume ? options_.volume->pressure : 0.0);
  const bool other_energy = other_energies(archive);
  if (archive.is_saving()) return engine_->state(archive);
  other_ensemble_ = other_temperatures || other_volume_moves || other_pressure || other_energy;
  if (const std::string why = system_.model().too_small(system_.box()); !why.empty())
    throw UserError(fmt::format("in the box of the checkpoint, at cycle {}, {}", cycle_, why));
  use_temperatures();
  engine_->system_changed();
  engine_->set_sizes(sizes_);
  engine_->state(archive);
  if (!engine_->moves_in_order()) clear_step_mean();  // another engine summed them up
  if (!other_energy) return;
  std::vector<double> energy;
  for (const Totals& t : engine_->totals()) {
    if (t.cores > 0)
      throw UserError(fmt::format(
          "hard cores overlap at cycle {} with the settings of the resumed run", cycle_));
    energy.push_back(t.energy);
  }
  system_.set_energies(energy);
}

}  // namespace perrin::metropolis
