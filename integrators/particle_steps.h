// The steps of an integrator that says what happens to one particle; the engine does the rest.
//
// Before the forces of a step a functor changes the velocity as it likes and returns how far the
// particle moves; after them another one may change the velocity again. Velocity Verlet:
//
//     struct KickAndDrift {
//       Real dt;
//       PERRIN_HD Real4 operator()(MovingParticle& p) const {
//         p.kick(dt / 2);
//         return times(dt, p.velocity);
//       }
//     };
//     struct Kick {
//       Real dt;
//       PERRIN_HD void operator()(MovingParticle& p) const { p.kick(dt / 2); }
//     };
//     void VelocityVerlet::steps(StepContext& context, int n) {
//       const Real dt = Real(dt_);
//       run_particle_steps(context, n, [&] { return KickAndDrift{dt}; },
//                          [&] { return Kick{dt}; });
//     }
//
// The engine loops over the particles, on CPU and GPU, joins the end of a step to the beginning of
// the next in one pass over memory, moves the particles, watches over the neighbour list, and
// reports what is not finite, too fast or outside. Files that include this are listed under KERNELS
// (perrin_add_plugin() does so).
//
// A functor with random numbers has draw(step, id), which returns up to four, and gets them as its
// second argument. On the CPU they are drawn in vectors, where that is possible. On a GPU they are
// drawn while the forces are still computed, if the functor has `static constexpr bool draws_ahead
// = true`: then they must follow from the arguments of draw() and from what a stage never changes.
//
// In a stage with several integrators each moves the particles of its group: functors are called
// for these alone, and know nothing of it. Sums over particles are taken by sum_of_group()
// (integrators/group_sum.h).
//
// A functor that needs forces in some jobs only says in reads_force() whether this is one: they are
// half of what a step of free particles moves.
//
// A run's bits must not depend on how it is cut into calls, so joined and single passes round
// alike: sums of products in a functor are written with multiply_add(), else the compiler fuses
// them here and there as it likes.
#pragma once

#include "engine/components/step_context.h"
#include "integrators/particle_pass.h"

namespace perrin {

/// Where an integrator has nothing to do after the forces.
struct NoUpdate {
  PERRIN_HD void operator()(const MovingParticle&) const {}
};

// The parts of a step, for integrators that put it together themselves. Device work only.

/// before(p) of every particle, and its displacement.
template <class Before>
void move_particles(StepContext& s, const Before& before) {
  s.turn_box();
  detail::run_pass(s, "beginning of a step", detail::beginning(s, before));
}

/// after(p) of every particle. `flow`: in a box that is deformed, the half step of the velocities
/// by the flow belongs here.
template <class After>
void update_particles(StepContext& s, const After& after, bool flow = true) {
  if constexpr (!std::is_same_v<After, NoUpdate>)
    detail::run_pass(s, "end of a step", detail::ending(s, after, flow));
}

/// Both, with StepContext::next_step() between them, in one pass. `after` and `before` are
/// functions that return the functors.
template <class MakeAfter, class MakeBefore>
void update_and_move_particles(StepContext& s, const MakeAfter& after, const MakeBefore& before,
                               bool flow = true) {
  using After = decltype(after());
  using Before = decltype(before());
  if constexpr (std::is_same_v<After, NoUpdate>) {
    s.next_step();
    s.turn_box();
    detail::run_pass(s, "beginning of a step", detail::beginning(s, before()), true);
  } else {
    const auto end = detail::ending(s, after(), flow);
    s.next_step();
    s.turn_box();
    detail::run_pass(
        s, "end of a step, beginning of the next",
        detail::UpdateAndMoveParticle<After, Before>{end, detail::beginning(s, before())}, true);
  }
}

/// New neighbours and forces, after the particles have moved.
inline void renew_forces(StepContext& s) {
  s.update_neighbors(true);
  s.move_box();
  s.compute_forces();
}

/// n steps for Integrator::steps(). `before` and `after` return the functors; each is called once a
/// step, just before the loop that needs it is launched, so that it may launch work of its own.
template <class MakeBefore, class MakeAfter>
void run_particle_steps(StepContext& s, int n, const MakeBefore& before, const MakeAfter& after) {
  move_particles(s, before());
  for (int k = 1; k < n; ++k) {
    renew_forces(s);
    update_and_move_particles(s, after, before);
  }
  renew_forces(s);
  update_particles(s, after());
}

/// With something that concerns all particles at once at the end of a step (a thermostat that looks
/// at the kinetic energy, friction of pairs): `global` launches it, then `last` returns a functor
/// like `after`, which is joined to the beginning of the next step.
template <class MakeBefore, class MakeAfter, class Global, class MakeLast>
void run_particle_steps(StepContext& s, int n, const MakeBefore& before, const MakeAfter& after,
                        const Global& global, const MakeLast& last) {
  const auto middle = [&] {
    renew_forces(s);
    update_particles(s, after());
    global();
  };
  move_particles(s, before());
  for (int k = 1; k < n; ++k) {
    middle();
    update_and_move_particles(s, last, before, false);
  }
  middle();
  update_particles(s, last(), false);
}

}  // namespace perrin
