#include "engine/run/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/team.h"
#include "engine/run/deformation.h"
#include "engine/run/fault_text.h"
#include "engine/run/stepper.h"
#include "neighbor/neighbors.h"
#include "neighbor/tuner.h"

namespace perrin {
namespace {

Ranges all_ranges(const std::vector<std::unique_ptr<Force>>& forces) {
  Ranges all;
  for (const auto& force : forces) all = join(all, force->ranges());
  return all;
}

Configuration padded(Configuration c, double range) {
  c.box = c.box.padded_for(range * 1.25);  // with room for the skin
  return c;
}

}  // namespace

Simulation::Simulation(const Device& device, Configuration configuration,
                       std::vector<std::unique_ptr<Force>> the_forces, std::uint64_t the_seed)
    : Simulation(device, std::move(configuration), std::move(the_forces), the_seed,
                 NeighborSettings{}) {}

Simulation::Simulation(const Device& the_device, Configuration configuration,
                       std::vector<std::unique_ptr<Force>> the_forces, std::uint64_t the_seed,
                       const NeighborSettings& neighbor_settings)
    : degrees_of_freedom(configuration),
      particles{the_device.together(std::int64_t(configuration.position.size())),
                padded(std::move(configuration),
                       all_ranges(the_forces).longest() + neighbor_settings.skin)},
      forces(std::move(the_forces)),
      seed(the_seed),
      running_(device()),
      totals_(particles),
      stepper_(std::make_unique<Stepper>(*this)) {
  stepper_->restart();
  particles.velocities_travel =
      std::ranges::any_of(forces, [](const auto& force) { return force->reads_velocities(); });
  particles.others_are_near =
      std::ranges::none_of(forces, [](const auto& force) { return force->looks_beyond_range(); });
  find_partners();
  degrees_of_freedom.count(forces, nullptr);
  ranges_ = all_ranges(forces);
  const double range = ranges_.longest();
  const auto heights = particles.box.padded_heights();
  double smallest = heights.x;
  for (int axis = 1; axis < particles.box.dimension; ++axis)
    smallest = std::min(smallest, heights[axis]);
  max_displacement_ = longest_displacement_ = smallest / 4;
  if (range == 0) return;
  neighbor_settings_ = std::make_unique<NeighborSettings>(neighbor_settings);
  if (neighbor_settings.traversal == "auto")
    tuner_ = std::make_unique<NeighborTuner>(neighbor_settings, range, device().is_cuda());
  use_neighbors(tuner_ ? tuner_->current() : neighbor_settings);
}

Simulation::~Simulation() = default;

void Simulation::begin_at(std::uint64_t step, double time) {
  clock_.begin(step, time);
  stepper_->restart();
}

/// Processes are sent the positions of partners, if these are where they can be looked for.
void Simulation::find_partners() {
  const bool known = std::ranges::all_of(forces, [](const auto& force) {
    return !force->looks_beyond_range() || force->looks_at_topology();
  });
  if (!device().team() || particles.others_are_near || !known) return;
  auto partners =
      std::make_unique<Partners>(device(), std::size_t(particles.size()), particles.topology);
  constexpr double growth = 1.5;  // what bonds at rest and angles that open do not exceed
  partners->reach = growth * longest_to_partner(particles.topology, particles.position.to_host(),
                                                particles.index.to_host(), particles.box.metric());
  particles.partners = std::move(partners);
}

void Simulation::use_neighbors(const NeighborSettings& settings, const NeighborChoices* choices) {
  neighbors.reset();  // first: there may be no room for two
  neighbors = std::make_unique<Neighbors>(particles, ranges_, settings, choices);
  max_displacement_ = std::min(longest_displacement_, ranges_.longest() + neighbors->skin());
  if (box_mover_ && box_mover_->tilts()) neighbors->expect_tilts();
  if (box_reserve_ > 0) neighbors->set_reserve(box_reserve_);
  forces_valid_ = false;  // the order in memory changes
  totals_.forget();
  stepper_->forget();
}

std::string Simulation::neighbor_report() const {
  if (!neighbors) return {};
  const std::string text = neighbors->report();
  return tuner_ ? text + "; auto: " + tuner_->report() : text;
}

void Simulation::prepare(const Integrator& integrator) {
  BoxMover* const mover = deformation ? deformation : integrator.box_mover();
  if (box_mover_ != mover) stepper_->forget();
  box_mover_ = mover;
  if (box_mover_) particles.box_moves = true;
  bool valid = !(box_mover_ && box_mover_->tilts() && neighbors && neighbors->expect_tilts());
  // 0: the box mover has not begun yet; what a checkpoint says of it stands.
  if (box_mover_ && box_mover_->most() > 0 && box_reserve_ != box_mover_->most()) {
    box_reserve_ = box_mover_->most();
    if (neighbors) neighbors->set_reserve(box_reserve_);
  }
  const VelocityRole velocities = degrees_of_freedom.velocities();
  integrator_ = &integrator;
  degrees_of_freedom.count(forces, &integrator);
  if (degrees_of_freedom.velocities() != velocities) totals_.forget();
  const double timestep = integrator.recordable() ? integrator.timestep() : 0;
  if (timestep != timestep_) valid = false;
  for (const auto& force : forces)
    if (force->prepare(integrator)) valid = false;
  if (valid) return;
  timestep_ = timestep;
  totals_.forget();
  forces_valid_ = false;
  stepper_->forget();
}

template <class F>
void Simulation::timed(double& seconds, F&& work) {
  if (device().is_cuda() && !running_.sampling) return work();
  const WallClock clock;
  work();
  if (running_.sampling) device().synchronize();
  seconds += clock.seconds();
}

MoveCheck Simulation::check_moves() {
  if (!neighbors) return {};
  return neighbors->check_moves(running_.progress.data(), std::uint32_t(running_.index));
}

void Simulation::update_neighbors(bool may_exchange) {
  if (!device().is_cuda() && device().skipping()) return;
  running_.exchanges = may_exchange && running_.inside && neighbors && !neighbors->has_lists();
  timed(timings.neighbors, [&] {
    // A step that was halted by a full list goes on from here.
    if (device().skipping() && neighbors) neighbors->forget_check();
    device().set_skipping(false);
    if (neighbors)
      neighbors->update(running_.progress.data(), std::uint32_t(running_.index), running_.exchanges,
                        running_.index + 1 == running_.count);
    else if (device().team() && !particles.others_are_near)
      particles.exchange_moved({});  // for bonds
  });
}

void Simulation::compute_forces() {
  timed(timings.forces, [&] {
    bool add = false;
    for (const auto& force : forces) {
      force->compute(*this, {particles.force.data(), nullptr, add, false});
      add = true;
    }
    if (forces.empty()) particles.force.zero();
  });
}

void Simulation::move_box() {
  if (box_mover_ && box_is_due()) timed(timings.forces, [&] { box_mover_->move_box(*this); });
}

/// Of recorded steps the host does not know the number: the stepper has said it.
bool Simulation::box_is_due() const {
  const std::int64_t stride = box_mover_->stride();
  if (stride == 1) return true;
  if (device().recording()) return running_.box_is_due;
  return (step() + std::uint64_t(running_.index) + 1) % std::uint64_t(stride) == 0;
}

void Simulation::turn_box() {
  if (box_mover_) timed(timings.neighbors, [&] { box_mover_->turn_box(*this); });
}

const Flow* Simulation::flow() const { return box_mover_ ? box_mover_->flow() : nullptr; }

void Simulation::follow_box() {
  particles.follow_box();
  if (neighbors) neighbors->follow_box();
}

void Simulation::next_step() {
  ++running_.index;
  // After a fault nothing happens any more, as on a GPU that is halted.
  // (Several processes stop together, at the end of a few steps.)
  if (!device().is_cuda() && !device().team() && running_.fault.data()->claimed)
    device().set_skipping(true);
}

bool Simulation::order_stands() const {
  return device().recording() && (!neighbors || neighbors->has_lists());
}

void Simulation::ensure_forces() {
  if (forces_valid_) return;
  update_neighbors();
  compute_forces();
  if (Team* const team = device().team()) {
    if (particles.sorted_apart) particles.complete(true);
    team->complete(particles.force.data(), sizeof(Real4), particles.size());
  }
  forces_valid_ = true;
  check_faults();
}

void Simulation::advance(Integrator& integrator, std::int64_t n, const Sampling& sampling) {
  stepper_->advance(integrator, n, sampling);
}

void Simulation::complete() { stepper_->complete(); }

double Simulation::kt_without_velocities(std::uint64_t steps) const {
  return degrees_of_freedom.velocities() == VelocityRole::bath
             ? integrator_->bath_kt(steps).value_or(0)
             : 0.0;
}

double Simulation::temperature() {
  const bool moved = degrees_of_freedom.velocities() == VelocityRole::moved;
  return temperature_of(moved ? totals() : Totals{}, step());
}

double Simulation::temperature_of(const Totals& totals, std::uint64_t steps) const {
  if (degrees_of_freedom.velocities() != VelocityRole::moved)
    return kt_without_velocities(steps) / k_boltzmann;
  return degrees_of_freedom.kt(totals.kinetic, totals.momentum) / k_boltzmann;
}

void Simulation::invalidate() {
  totals_.forget();
  forces_valid_ = false;
  stepper_->forget();
  if (neighbors) neighbors->invalidate();
}

void Simulation::check_faults() {
  Fault fault = running_.fault.to_host(0);
  if (Team* const team = device().team()) team->take(fault.claimed != 0, fault);
  throw_fault(fault, particles.topology);
}

void Simulation::state(Archive& a) {
  a.set_device(device());
  Archive::Scope scope(a, "simulation");
  particles.state(a);
  clock_.state(a);
  a("forces_valid", forces_valid_);
  a("force_timestep", timestep_);
  // Lists keep room for changes of the box in later stages, too.
  if (a.has("box_reserve")) a("box_reserve", box_reserve_);
  a.require(box_reserve_ >= 0 && box_reserve_ < 0.01, "box_reserve", "from 0 to 0.01");
  if (box_reserve_ > 0) particles.box_moves = true;
  state_of_neighbors(a);
  stepper_->restart();
  totals_.forget();
}

void Simulation::state_of_neighbors(Archive& a) {
  const Archive::Scope scope(a, "neighbors");
  const std::string mine = neighbors ? what_choices_rest_on(*neighbor_settings_, ranges_,
                                                            particles.types.size(), device())
                                     : "";
  // Another GPU cuts the box otherwise.
  const std::string my_hardware = device().is_cuda() ? device().description() : "cpu";
  std::string basis = mine, hardware = my_hardware;
  a("basis", basis);
  basis = current_basis(basis);
  a("hardware", hardware);
  if (basis != mine) {
    forces_valid_ = false;
    if (neighbors) neighbors->invalidate();
    return;
  }
  if (!neighbors) return;
  if (tuner_) tuner_->state(a);
  NeighborChoices choices = neighbors->choices();
  choices.state(a);
  if (!a.is_saving()) {
    const bool valid = forces_valid_;
    use_neighbors(tuner_ ? tuner_->current() : *neighbor_settings_, &choices);
    forces_valid_ = valid;
  }
  if (!neighbors->state(a) && hardware == my_hardware)
    throw BugError(
        "the lists of the checkpoint cannot be built again: particles came into another "
        "order in memory");
}

}  // namespace perrin
