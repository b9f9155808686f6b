#include "engine/components/step_context.h"

#include <algorithm>
#include <utility>

#include "engine/components/box_mover.h"
#include "engine/components/constraints.h"
#include "engine/components/fault_text.h"
#include "engine/components/integrator.h"
#include "engine/components/rigid_bodies.h"
#include "engine/domain/decomposition.h"
#include "engine/system/orientations.h"
#include "neighbor/neighbors.h"

namespace perrin {
namespace {

Ranges all_ranges(const std::vector<std::unique_ptr<Force>>& forces) {
  Ranges all;
  for (const auto& force : forces) all = join(all, force->traits().ranges);
  return all;
}

GhostNeeds needs_of(const std::vector<std::unique_ptr<Force>>& forces) {
  using enum GhostNeeds::Positions;
  GhostNeeds needs{neighbors, false};
  for (const auto& force : forces) {
    const ForceTraits& traits = force->traits();
    needs.velocities = needs.velocities || traits.velocities;
    if (traits.reads == ForceTraits::Reads::bonded)
      needs.positions = std::max(needs.positions, bonded);
    else if (traits.reads == ForceTraits::Reads::everything)
      needs.positions = all;
  }
  return needs;
}

Configuration padded(Configuration c, double range) {
  c.box = c.box.padded_for(range * 1.25);  // with room for the skin
  return c;
}

}  // namespace

StepContext::StepContext(const Device& the_device, Configuration configuration,
                         std::vector<std::unique_ptr<Force>> the_forces, std::uint64_t the_seed,
                         double skin)
    : degrees_of_freedom_(configuration),
      particles_{distributed(the_device, std::int64_t(configuration.position.size())),
                 padded(std::move(configuration), all_ranges(the_forces).longest() + skin)},
      forces_(std::move(the_forces)),
      seed_(the_seed),
      running_(device()),
      ranges_(all_ranges(forces_)) {
  if (!particles_.properties().topology.body.empty()) {
    bodies_ = std::make_unique<RigidBodies>(device(), particles_.properties().topology);
    group_ = bodies_->moved();
  }
  if (!particles_.properties().topology.constraints.empty())
    constraints_ = std::make_unique<Constraints>(device(), particles_.properties().topology);
  GhostNeeds needs = needs_of(forces_);
  if (bodies_ || constraints_) needs.positions = GhostNeeds::Positions::all;
  particles_.domain().require(needs, particles_.properties().topology, particles_.box());
  degrees_of_freedom_.count(forces_);
  const auto heights = particles_.box().padded_heights();
  double smallest = heights.x;
  for (int axis = 1; axis < particles_.box().dimension; ++axis)
    smallest = std::min(smallest, heights[axis]);
  max_displacement_ = smallest / 4;
}

StepContext::~StepContext() = default;

std::vector<const Force*> StepContext::forces() const {
  std::vector<const Force*> all;
  for (const auto& force : forces_) all.push_back(force.get());
  return all;
}

void StepContext::count_degrees_of_freedom(const Configuration& now) {
  degrees_of_freedom_ = DegreesOfFreedom(now);
}

template <class F>
void StepContext::timed(double& seconds, F&& work) {
  if (device().is_cuda() && !running_.plan.timed) return work();
  const WallClock clock;
  work();
  if (running_.plan.timed) device().synchronize();
  seconds += clock.seconds();
}

MoveCheck StepContext::check_moves() {
  // With constraints particles are not yet where they are going.
  if (!neighbors_ || constraints_) return {};
  const auto check = [&] {
    return neighbors_->check_moves(running_.progress.data(), std::uint32_t(running_.index));
  };
  if (meetings_ == nullptr) {
    check_ = check(), checked_step_ = running_.index;
    return check_;
  }
  if (checked_step_ != running_.index) check_ = check();
  checked_step_ = running_.index;
  return check_;
}

void StepContext::exchange(OfIntegrator& own) {
  std::swap(group_, own.group);
  std::swap(degrees_of_freedom_, own.degrees_of_freedom);
  std::swap(running_.index, own.step_of_recording);
  exchanged_ = exchanged_ ? nullptr : &own;
}

void StepContext::set_meetings(StepMeetings* meetings) {
  meetings_ = meetings;
  checked_step_ = -1;
}

void StepContext::update_neighbors(bool may_exchange) {
  if (is_done_by_another(StepMeeting::neighbors)) return;
  if (!device().is_cuda() && device().halt().skipping()) return;
  running_.exchanges = may_exchange && running_.inside() && neighbors_ && !neighbors_->has_lists();
  timed(timings_.neighbors, [&] {
    // A step that was halted by a full list goes on from here.
    if (device().halt().skipping() && neighbors_) neighbors_->forget_check();
    if (bodies_)
      bodies_->place(particles_, fault_sink(), Real(max_displacement_),
                     checked_step_ == running_.index ? check_ : MoveCheck{}, flow(), device_step());
    if (constraints_ && running_.inside())
      constraints_->move(particles_, fault_sink(), timestep_, Real(max_displacement_));
    if (meetings_ == nullptr) checked_step_ = -1;
    device().halt().set_skipping(false);
    if (neighbors_)
      neighbors_->update(running_.progress.data(), std::uint32_t(running_.index),
                         running_.exchanges, running_.index + 1 == running_.plan.count);
    else if (particles_.domain().needs().positions != GhostNeeds::Positions::neighbors)
      particles_.domain().exchange({});  // for bonds
  });
}

void StepContext::renew_neighbors() {
  if (neighbors_) neighbors_->invalidate();
  update_neighbors();
}

void StepContext::compute_forces() {
  if (is_done_by_another(StepMeeting::forces)) return;
  timed(timings_.forces, [&] {
    bool add = false;
    bool add_torque = false;
    for (const auto& force : forces_) {
      ForceOutput output{particles_.force().data(), nullptr, add, false};
      output.slow = slow_weight();
      if (force->traits().torques && particles_.orientations()) {
        output.torque = particles_.orientations()->torque().data(), output.add_torque = add_torque;
        add_torque = true;
      }
      force->act(*this, output);
      add = true;
    }
    if (forces_.empty()) particles_.force().zero();
    if (bodies_) bodies_->collect(particles_, add_torque);
    if (!constraints_) return;
    if (running_.inside())
      constraints_->hold(particles_, fault_sink(), timestep_ / 2);
    else
      constraints_->add_forces(particles_, fault_sink(), particles_.force(), nullptr);
  });
}

GroupMask StepContext::thermal() const {
  // An integrator that says whose velocities count leaves out sites of bodies.
  const GroupMask of_bath = bath_ ? bath_->thermal() : GroupMask{};
  return bodies_ && !of_bath ? bodies_->moved() : of_bath;
}

void StepContext::move_box() {
  if (!box_mover_ || !box_is_due() || is_done_by_another(StepMeeting::box)) return;
  timed(timings_.forces, [&] { box_mover_->move_box(*this); });
}

/// Of the running step the plan knows it: of recorded ones the host does not know the number.
bool StepContext::box_is_due() const {
  PERRIN_ASSERT(!running_.inside() || running_.index < running_.plan.count);
  const std::int64_t stride = box_stride();
  if (running_.inside()) return StepPlan::is_due(running_.plan.box_phase, running_.index, stride);
  return (step() + 1) % std::uint64_t(stride) == 0;
}

/// The forces are those at the end of the running step, or outside of steps the present ones.
Real StepContext::slow_weight() const {
  if (slow_.stride == 1 || slow_in_full_) return 1;
  const bool due = running_.inside()
                       ? StepPlan::is_due(running_.plan.slow_phase, running_.index, slow_.stride)
                       : slow_.phase(step()) == 0;
  return due ? Real(slow_.stride) : Real(0);
}

void StepContext::turn_box() {
  if (box_mover_) timed(timings_.neighbors, [&] { box_mover_->turn_box(*this); });
}

const Flow* StepContext::flow() const { return box_mover_ ? box_mover_->flow() : nullptr; }

std::int64_t StepContext::box_stride() const { return box_mover_ ? box_mover_->stride() : 1; }

void StepContext::follow_box() {
  particles_.box_state().changed();
  if (bodies_) bodies_->follow_box(particles_);
  if (neighbors_) neighbors_->follow_box();
}

void StepContext::next_step() {
  ++running_.index;
  // After a fault nothing happens any more, as on a GPU that is halted.
  // (Several processes stop together, at the end of a few steps.)
  if (!device().is_cuda() && !decomposition_of(device()).several() &&
      running_.fault.data()->claimed)
    device().halt().set_skipping(true);
}

bool StepContext::order_stands() const {
  return device().queue().recording() && (!neighbors_ || neighbors_->has_lists());
}

double StepContext::kt_without_velocities(std::uint64_t steps) const {
  return degrees_of_freedom_.velocities() == VelocityRole::bath
             ? integrator_->bath_kt(steps).value_or(0)
             : 0.0;
}

void StepContext::check_faults() {
  Fault fault = running_.fault.to_host(0);
  decomposition_of(device()).take(fault.claimed != 0, fault);
  throw_fault(fault, particles_.properties().topology);
}

void StepContext::begin_trial() {
  device().memory().zero(running_.fault.data() + 1, sizeof(Fault));
  of_trial_ = true;
}

bool StepContext::end_trial() {
  of_trial_ = false;
  return decomposition_of(device()).any(running_.fault.to_host(1).claimed != 0);
}

// Here since the particles are known here.
void Force::act(StepContext& context, ForceOutput output) {
  output.on = group();
  output.id = context.particles().id().data();
  compute(context, output);
}

// Here since the device is known here.
void Integrator::measure_heat(StepContext& context, double* heat) {
  context.device().memory().zero(heat, sizeof *heat);
}

void Integrator::measure_work(StepContext& context, double* work) {
  context.device().memory().zero(work, sizeof *work);
}

double Integrator::heat(StepContext& context) {
  Buffer<double> heat(context.device(), 1);
  measure_heat(context, heat.data());
  return heat.to_host(0);
}

}  // namespace perrin
