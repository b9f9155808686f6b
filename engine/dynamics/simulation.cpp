#include "engine/dynamics/simulation.h"

#include <algorithm>

#include "engine/communicator/agreement.h"
#include "engine/components/box_mover.h"
#include "engine/components/constraints.h"
#include "engine/components/integrator.h"
#include "engine/components/rigid_bodies.h"
#include "engine/domain/decomposition.h"
#include "engine/dynamics/gather_forces.h"
#include "engine/dynamics/scheduled_changes.h"
#include "engine/dynamics/stepper.h"
#include "neighbor/neighbors.h"
#include "neighbor/tuner.h"

namespace perrin {
namespace {

/// Lists have room for lengths that a step makes shorter by the share `most`. Centres of bodies are
/// farther apart than their sites, which follow them at distances that stay.
double reserve_of_lists(const StepContext& s, double most) {
  if (!s.bodies() || !s.neighbors()) return most;
  if (!s.neighbors()->has_lists())
    throw UserError(
        "neighbors.traversal: cells cannot be combined with rigid bodies in a box that changes, "
        "expected a traversal with lists");
  return most * (1 + 2 * s.bodies()->extent() / s.range());
}

}  // namespace

Simulation::Simulation(const Device& the_device, Configuration configuration,
                       std::vector<std::unique_ptr<Force>> the_forces, std::uint64_t the_seed)
    : Simulation(the_device, std::move(configuration), std::move(the_forces), the_seed,
                 NeighborSettings{}) {}

Simulation::Simulation(const Device& the_device, Configuration configuration,
                       std::vector<std::unique_ptr<Force>> the_forces, std::uint64_t the_seed,
                       const NeighborSettings& neighbor_settings)
    : StageContext(the_device, std::move(configuration), std::move(the_forces), the_seed,
                   neighbor_settings.skin),
      changes_(std::make_unique<ScheduledChanges>(
          *this, ScheduledChanges::Calls{
                     [this] { complete(); },
                     [this](bool recordings) { forget_forces(recordings); },
                 })),
      totals_(*this, clock_),
      stepper_(std::make_unique<Stepper>(*this, clock_, running_, totals_)),
      longest_displacement_(max_displacement_) {
  stepper_->restart();
  const double range = ranges_.longest();
  if (range == 0) return;
  neighbor_settings_ = std::make_unique<NeighborSettings>(neighbor_settings);
  if (neighbor_settings.traversal == "auto")
    tuner_ = std::make_unique<NeighborTuner>(neighbor_settings, range, device().is_cuda(),
                                             particles_.size() <= 4 * SmallList::most_by_itself);
  use_neighbors(tuner_ ? tuner_->current() : neighbor_settings);
}

Simulation::~Simulation() = default;

void Simulation::begin_at(std::uint64_t step, double time) {
  clock_.begin(step, time);
  stepper_->restart();
}

void Simulation::use_neighbors(const NeighborSettings& settings, const NeighborChoices* choices) {
  neighbors_.reset();  // first: there may be no room for two
  neighbors_ = std::make_unique<Neighbors>(particles_, ranges_, settings, choices);
  max_displacement_ = std::min(longest_displacement_, ranges_.longest() + neighbors_->skin());
  if (box_mover_ && box_mover_->tilts()) neighbors_->expect_tilts();
  if (box_reserve_ > 0) neighbors_->set_reserve(box_reserve_);
  forces_valid_ = false;  // the order in memory changes
  totals_.forget();
  stepper_->forget();
}

std::string Simulation::neighbor_report() const {
  if (!neighbors_) return {};
  const std::string text = neighbors_->report();
  return tuner_ ? text + "; auto: " + tuner_->report() : text;
}

void Simulation::begin_stage(Integrator& integrator, BoxMover* deformation,
                             const SlowForces& slow) {
  deformation_ = deformation;
  if (slow_stride_ != slow.stride) forces_valid_ = false;
  if (!(slow_ == slow)) stepper_->forget();
  slow_ = slow, slow_stride_ = slow.stride;
  prepare(integrator);
  bath_ = &integrator;
  totals_.begin_stage(integrator.motion());
}

void Simulation::end_stage() {
  bath_ = nullptr;
  deformation_ = nullptr;
}

void Simulation::follow_groups(const Integrator& integrator, bool records_anew) {
  degrees_of_freedom_.count(forces_, integrator.motion());
  totals_.begin_stage(integrator.motion());
  if (records_anew) stepper_->forget();
}

void Simulation::prepare(const Integrator& integrator) {
  BoxMover* const mover = deformation_ ? deformation_ : integrator.box_mover();
  if (box_mover_ != mover) stepper_->forget();
  box_mover_ = mover;
  if (box_mover_) particles_.box_state().let_move();
  bool valid = !(box_mover_ && box_mover_->tilts() && neighbors_ && neighbors_->expect_tilts());
  // 0: the box mover has not begun yet; what a checkpoint says of it stands.
  if (box_mover_ && box_mover_->most() > 0) {
    const double reserve = reserve_of_lists(*this, box_mover_->most());
    if (box_reserve_ != reserve && neighbors_) neighbors_->set_reserve(reserve);
    box_reserve_ = reserve;
  }
  const VelocityRole velocities = degrees_of_freedom_.velocities();
  integrator_ = &integrator;
  degrees_of_freedom_.count(forces_, integrator.motion());
  if (degrees_of_freedom_.velocities() != velocities) totals_.forget();
  const double timestep = integrator.recordable() ? integrator.timestep() : 0;
  if (timestep != timestep_) valid = false;
  for (const auto& force : forces_)
    if (force->prepare(integrator)) valid = false;
  if (valid) return;
  timestep_ = timestep;
  totals_.forget();
  forces_valid_ = false;
  stepper_->forget();
}

void Simulation::ensure_forces() {
  if (forces_valid_) return;
  forces_valid_ = stepper_->compute_forces_in_batch();
  if (forces_valid_) return;
  update_neighbors();
  compute_forces();
  particles_.domain().gather_if_sorted_locally();
  if (bodies_) {  // each process has placed its own sites
    particles_.domain().gather(particles_.velocity());
    particles_.domain().gather(particles_.image());
  }
  gather_forces(particles_);
  forces_valid_ = true;
  check_faults();
}

void Simulation::advance(Integrator& integrator, std::int64_t n, const Sampling& sampling) {
  stepper_->expect(n, sampling);
  if (!tuner_ || !integrator.recordable()) return run(integrator, n);
  constexpr std::int64_t at_least = 64, not_counted = 16;  // first lists and recordings
  constexpr double long_enough = 0.1;
  while (n > 0) {
    const std::int64_t portion = std::min(n, at_least);
    const WallClock clock;
    run(integrator, portion);
    n -= portion;
    const double seconds = clock.seconds();
    window_.seconds += agreed(seconds);
    window_.steps += portion;
    if (window_.steps < at_least || window_.seconds < long_enough) continue;
    if (tuner_->measured(window_.seconds / double(window_.steps))) {
      complete();
      use_neighbors(tuner_->current());
      run(integrator, std::min(n, not_counted));
      n -= std::min(n, not_counted);
      ensure_forces();  // n may be 0, and observers want forces in the order of the new lists
    }
    window_ = {};
  }
}

void Simulation::run(Integrator& integrator, std::int64_t n) {
  if (n <= 0) return;
  prepare(integrator);
  ensure_forces();
  if (constraints_) constraints_->look(particles_), constraints_->count_heat(nullptr);
  clock_.set_timestep(integrator.timestep());
  stepper_->run(integrator, n);
}

void Simulation::complete() { stepper_->complete(); }

void Simulation::forget_forces(bool recordings) {
  totals_.forget();
  forces_valid_ = false;
  if (recordings) stepper_->forget();
}

void Simulation::particles_were_moved() {
  totals_.forget();
  forces_valid_ = false;
  if (neighbors_) neighbors_->invalidate();
}

void Simulation::invalidate() {
  totals_.forget();
  forces_valid_ = false;
  stepper_->forget();
  if (neighbors_) neighbors_->invalidate();
}

void Simulation::state(Archive& a) {
  a.set_device(device());
  Archive::Scope scope(a, "simulation");
  particles_.state(a);
  clock_.state(a);
  a("forces_valid", forces_valid_);
  a("force_timestep", timestep_);
  if (slow_stride_ != 1 || a.has("slow_stride")) a("slow_stride", slow_stride_);
  a.require(slow_stride_ >= 1 && slow_stride_ <= SlowForces::most, "slow_stride", "from 1 to 8");
  // Lists keep room for changes of the box in later stages, too.
  if (a.has("box_reserve")) a("box_reserve", box_reserve_);
  changes_->state(a);
  a.require(box_reserve_ >= 0 && box_reserve_ < 1, "box_reserve", "from 0 to 1");
  if (box_reserve_ > 0) particles_.box_state().let_move();
  state_of_neighbors(a);
  stepper_->restart();
  totals_.forget();
}

void Simulation::state_of_neighbors(Archive& a) {
  const Archive::Scope scope(a, "neighbors");
  const std::string mine =
      neighbors_ ? what_choices_rest_on(*neighbor_settings_, ranges_,
                                        particles_.properties().types.size(), device())
                 : "";
  // Another GPU cuts the box otherwise.
  const std::string my_hardware = device().is_cuda() ? device().description() : "cpu";
  std::string basis = mine, hardware = my_hardware;
  a("basis", basis);
  basis = current_basis(basis);
  a("hardware", hardware);
  if (basis != mine) {
    forces_valid_ = false;
    if (neighbors_) neighbors_->invalidate();
    return;
  }
  if (!neighbors_) return;
  if (tuner_) tuner_->state(a);
  NeighborChoices choices = neighbors_->choices();
  choices.state(a);
  if (!a.is_saving()) {
    const bool valid = forces_valid_;
    use_neighbors(tuner_ ? tuner_->current() : *neighbor_settings_, &choices);
    forces_valid_ = valid;
  }
  if (!neighbors_->state(a) && hardware == my_hardware)
    throw BugError(
        "the lists of the checkpoint cannot be built again: particles came into another "
        "order in memory");
}

}  // namespace perrin
