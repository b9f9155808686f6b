#include "monte_carlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/force.h"
#include "engine/components/no_potential.h"
#include "engine/components/stage_context.h"
#include "engine/dynamics/counted_tail.h"
#include "engine/dynamics/reservoir.h"
#include "engine/system/changed_since.h"
#include "engine/system/orientations.h"

namespace perrin::monte_carlo {
namespace {

/// `all`: of the stage so far.
void archive_tuned(Archive& archive, TrialCounts& tuned, const TrialCounts& all) {
  archive("tuned_tried", tuned.tried);
  archive("tuned_accepted", tuned.accepted);
  archive.require(tuned.accepted >= 0 && tuned.accepted <= tuned.tried, "tuned_accepted",
                  "at most as many as were tried");
  archive.require(tuned.tried <= all.tried && tuned.accepted <= all.accepted, "tuned_tried",
                  "at most those of the stage");
}

/// What Move::size() is when a stage begins; 0: no setting says it.
double given_size(const MonteCarloSettings& s, const std::string& move) {
  if (move == "translation") return s.translation->displacement;
  if (move == "rotation") return s.rotation->angle;
  if (move == "pivot") return s.pivot->rotation;
  if (move == "crankshaft") return s.crankshaft->rotation;
  if (move == "cluster") return s.cluster->displacement.value_or(0);
  if (move == "hybrid") return s.hybrid->timestep;
  return 0;
}

/// A size that a resumed run has been given anew holds from now on. One that is tuned is what
/// tuning has come to.
void archive_given_size(Archive& archive, const MonteCarloSettings& settings, Move& move) {
  const double given = given_size(settings, move.name());
  double before = given;
  if (given == 0 || !archive.has("given") || !changed_since(archive, "given", given, &before))
    return;
  if (settings.tune)
    throw UserError(fmt::format(
        "{}: its size is tuned, and cannot change in a resumed run: expected {}, as in the "
        "checkpoint, got {}; without \"tune\" it can",
        move.name(), before, given));
  move.set_size(given);
}

}  // namespace

MonteCarlo::MonteCarlo(const MonteCarloSettings& settings, double k_boltzmann,
                       std::shared_ptr<const Motion::OfEach> moving,
                       std::unique_ptr<Barostat> barostat, std::optional<Group> present)
    : settings_(settings),
      k_boltzmann_(k_boltzmann),
      moving_(std::move(moving)),
      barostat_(std::move(barostat)),
      present_(std::move(present)) {
  if (settings.translation)
    moves_.push_back(std::make_unique<Translation>(*settings.translation, settings.group));
  if (settings.rotation)
    moves_.push_back(std::make_unique<RotationMove>(*settings.rotation, settings.group));
  if (settings.molecule)
    moves_.push_back(std::make_unique<MoleculeMove>(*settings.molecule, settings.group));
  if (settings.pivot) moves_.push_back(std::make_unique<Pivot>(*settings.pivot, settings.group));
  if (settings.crankshaft)
    moves_.push_back(std::make_unique<Crankshaft>(*settings.crankshaft, settings.group));
  if (settings.reptation)
    moves_.push_back(std::make_unique<Reptation>(*settings.reptation, settings.group));
  if (settings.swap) moves_.push_back(std::make_unique<Swap>(*settings.swap, settings.group));
  if (settings.cluster)
    moves_.push_back(std::make_unique<Cluster>(*settings.cluster, settings.group));
  for (const InsertionSettings& one : settings.insertion)
    moves_.push_back(
        std::make_unique<Insertion>(one, std::uint32_t(&one - settings.insertion.data())));
  if (settings.hybrid) moves_.push_back(std::make_unique<Hybrid>(*settings.hybrid, settings.group));
  tuned_.resize(moves_.size());
  if (present_ && settings.insertion.empty()) gibbs_.emplace(*this, *present_);
}

void MonteCarlo::begin(StageContext& context) {
  context_ = &context;
  context.ensure_forces();
  if (ramp_start_ < 0) ramp_start_ = std::int64_t(context.step());
  context.particles().domain().gather_all();  // moves look at all particles
  group_ = moved_particles_of(context, settings_.group);
  for (const auto& move : moves_) move->begin(context);
  if (barostat_) barostat_->begin(context, 1, ramp(), BoxRule::energies);
}

void MonteCarlo::steps(StepContext& context, int) {
  context.particles().domain().gather_all();  // each of several processes does the whole
  if (Orientations* const all = context.particles().orientations())
    context.particles().domain().gather(all->orientation());
  if (barostat_) context.particles().box_state().download();
  // Sums over all particles are in the order of memory, as settle() makes it.
  if (trials_are_coupled(context)) context.renew_neighbors();
  for (const auto& move : moves_) move->sweep(context, ramp().at(context.step()));
  settled_ = false;
  ++done_;
  tune();
  if (!barostat_ || (context.step() + 1) % std::uint64_t(context.box_stride()) != 0) return;
  settle(context);
  context.move_box();
  settled_ = false;
}

/// Lists are built anew in any case: the order in memory must be that of the positions alone,
/// whoever has looked before.
void MonteCarlo::settle(StepContext& context) {
  if (settled_) return;
  settled_ = true;
  context.renew_neighbors();
  context.compute_forces();
  if (settings_.insertion.empty()) return;
  count_present(*context_, *present_);
  context_->follow_groups(*this, false);
}

/// By what a size is to be multiplied after what was accepted since `then`, which becomes `now`.
/// Few trials say little: as if some more had been accepted as often as wanted.
double MonteCarlo::factor_since(TrialCounts& then, const TrialCounts& now) const {
  constexpr double more = 20;
  const double wanted = settings_.tune->acceptance, tried = double(now.tried - then.tried),
               accepted = double(now.accepted - then.accepted);
  then = now;
  return std::clamp((accepted + more * wanted) / ((tried + more) * wanted), 0.5, 1.5);
}

void MonteCarlo::tune() {
  constexpr std::int64_t every = 10;
  if (!settings_.tune || done_ > settings_.tune->sweeps) return;
  if (done_ % every != 0 && done_ != settings_.tune->sweeps) return;
  for (std::size_t k = 0; k < moves_.size(); ++k) {
    Move& move = *moves_[k];
    if (move.size() == 0) continue;
    const double factor = factor_since(tuned_[k], move.counts());
    move.set_size(std::min(move.size() * factor, move.largest_size()));
  }
  if (!barostat_) return;
  const double factor = factor_since(tuned_box_, box_counts());
  barostat_->set_step(std::min(barostat_->step() * factor, barostat_->largest_step()));
}

double MonteCarlo::typical_displacement(const StepContext&) const {
  return settings_.translation ? 0.4 * moves_.front()->size() : 0;
}

Motion MonteCarlo::motion() const {
  Motion motion;
  motion.velocities = VelocityRole::bath;
  motion.conserves_momentum = false;
  motion.of_each = moving_;
  return motion;
}

std::string MonteCarlo::report() {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  };
  for (const auto& move : moves_) {
    const TrialCounts counts = move->counts();
    std::string part = move->name() + ": no trials";
    if (counts.tried > 0)
      part = fmt::format("{}: {:.4g} of {} trials accepted", move->name(),
                         double(counts.accepted) / double(counts.tried), counts.tried);
    for (const std::string& more : {move->size_text(), move->way()})
      if (!more.empty()) part += ", " + more;
    add(part);
  }
  if (barostat_) add(barostat_->report());
  return text;
}

std::string MonteCarlo::shortcoming() {
  std::string text;
  for (const auto& move : moves_) {
    const TrialCounts counts = move->counts();
    std::string part;
    if (counts.tried == 0)
      part = "nothing was tried: " + move->why_none_tried();
    else if (counts.accepted == 0)
      part = "no trial was accepted: " + move->why_none_accepted();
    else
      part = move->shortcoming();
    if (!part.empty()) text += (text.empty() ? "" : "; ") + move->name() + ": " + part;
  }
  if (barostat_ && barostat_->tried() > 0 && barostat_->accepted() == 0)
    text += (text.empty() ? "" : "; ") +
            std::string(
                "barostat: no change of the box was accepted: try \"tune\", a longer "
                "\"tau\", or a start without overlaps");
  return done_ > 0 ? text : "";
}

std::string MonteCarlo::gibbs_objection() const {
  if (!settings_.insertion.empty())
    return "inserts and removes particles by itself: expected no \"insertion\"";
  if (!present_) return "has no room for particles that come: expected \"reservoir\" in the job";
  return {};
}

std::string MonteCarlo::objection(const Force& force) const {
  if (!settings_.insertion.empty() && dynamic_cast<const CountedTail*>(&force) != nullptr)
    return "has a tail correction, by which all insertions would see one another: \"insertion\" "
           "expects a potential without \"tail\"";
  if (dynamic_cast<const NoPotential*>(&force) != nullptr)
    return "has no potential, and energies decide on trials: expected forces that have one";
  if (force.traits().velocities)
    return "has friction or noise, which have no energy: expected a potential, as soft_dpd in "
           "place of dpd";
  if (force.traits().torques && present_)
    return "depends on orientations, of which particles that come are given others: expected "
           "other forces beside a \"reservoir\"";
  if (std::ranges::all_of(moves_, [](const auto& move) { return move->name() == "hybrid"; }))
    return {};
  if (CoupledTrials* const trials = coupled_trials_of(force)) return objection_to_coupled(*trials);
  if (has_trial_energies(force)) return settings_.cluster ? cluster_objection(force) : "";
  return "has no energies of single moves, as many-body potentials and restraints of groups: "
         "expected forces between pairs, on bonds, angles and dihedrals, and fields, or "
         "\"hybrid\" alone";
}

std::string MonteCarlo::objection_to_coupled(const CoupledTrials& trials) const {
  if (present_)
    return "acts between all particles, and does not know of any that come and go: expected forces "
           "between pairs within a cut-off";
  for (const auto& move : moves_) {
    if (move->coupled() == Move::Coupled::no)
      return fmt::format(
          "acts between all particles, so that trials are made one after another: "
          "expected translation, rotation, molecule, pivot, crankshaft, swap or "
          "hybrid, got \"{}\"",
          move->name());
    if (move->coupled() == Move::Coupled::short_ways || trials.takes_long_ways()) continue;
    return fmt::format(
        "depends on the dipole moment of all particles along their paths: expected "
        "translation, rotation, molecule or hybrid, got \"{}\", in which a particle may go further "
        "than half of the box",
        move->name());
  }
  return {};
}

void MonteCarlo::state(Archive& archive) {
  const std::int64_t now = ramp_start_;  // as begin() has set it
  archive("ramp_start", ramp_start_);
  archive.require(now < 0 || (ramp_start_ >= 0 && ramp_start_ <= now), "ramp_start",
                  "a step that the run has made");
  archive("sweeps", done_);
  archive.require(done_ >= 0, "sweeps", "at least 0");
  for (std::size_t k = 0; k < moves_.size(); ++k) {
    const Archive::Scope scope(archive, moves_[k]->name());
    moves_[k]->state(archive);
    archive_given_size(archive, settings_, *moves_[k]);
    archive_tuned(archive, tuned_[k], moves_[k]->counts());
  }
  if (barostat_) {
    barostat_->state(archive);
    const Archive::Scope scope(archive, "barostat");
    if (archive.has("tuned_tried")) archive_tuned(archive, tuned_box_, box_counts());
  }
  if (gibbs_ && archive.has("gibbs/next")) {
    const Archive::Scope scope(archive, "gibbs");
    gibbs_->state(archive);
  }
}

}  // namespace perrin::monte_carlo
