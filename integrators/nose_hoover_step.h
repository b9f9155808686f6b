// What one thread does between two steps of nose_hoover, and what each particle does in them
// (integrators/nose_hoover.h).
#pragma once

#include <cmath>

#include "engine/device/faults.h"
#include "integrators/moving_axes.h"
#include "integrators/nose_hoover_chain.h"
#include "integrators/ramp.h"
#include "integrators/virial_meter.h"

namespace perrin::detail {

/// Of an instant.
struct NoseHooverState {
  ChainState chain, box_chain;
  double rate[3];  // of each group of axes: of the logarithm of its edges
  double energy;   // P dV and the links' positions: their part of the conserved quantity
  double kt;       // that masses go with
  // Between two pushes rates are ahead of the time, as long as the box is behind it, and then the
  // box is ahead: what the conserved quantity has too much and too little by that.
  double ahead, behind;
};

/// Factors of a particle's velocity, axis by axis, for one step.
struct NoseHooverFactors {
  Real4 scale, shift, kick;        // first half: v = scale v + (kick F/m + shift)
  Real4 move;                      // displacement = move v
  Real4 end_scale, end_shift;      // second half, with the same kick
  Real4 chain_scale, chain_shift;  // end of the step: v = scale v + shift
};

/// What is kept on the device.
struct NoseHooverMemory {
  NoseHooverState now;     // the next step's chain has acted …
  NoseHooverState at_end;  // … and has not
  NoseHooverFactors factors;
  double heat;               // at the end of the step
  AxisSums kinetic, virial;  // m v², and as last measured
  Box before;                // of the running step
  double energy_before;
  std::int64_t moved_step;  // in which the box was moved; -1: none
};

PERRIN_HD double sinh_over(double x) { return x * x < 1e-6 ? 1 + x * x / 6 : std::sinh(x) / x; }

/// Times in the job's units, temperatures as energies.
struct Turn {
  static constexpr double most = 0.009;  // of the logarithm of an edge, in the step that moves it

  NoseHooverMemory* memory;
  Box* box;
  const std::uint64_t* step;
  std::uint32_t* due;  // two flags of the running step: the box moves, the pressure is measured
  Ramp kt_ramp, pressure_ramp;
  ChainLaw chain, box_chain;
  MovingAxes axes;
  double timestep, tau, freedom, tail;
  std::int64_t stride, start;
  Vec3<double> drift;
  FaultSink faults;

  PERRIN_HD bool box_moves() const { return axes.groups > 0; }
  /// Of the `stride` steps from one measurement of the pressure to the next: which one is it?
  PERRIN_HD std::int64_t phase(std::uint64_t of_step) const {
    return (std::int64_t(of_step) - start) % stride;
  }
  PERRIN_HD bool is_last() const { return phase(*step) == stride - 1; }
  PERRIN_HD bool moves_box(std::uint64_t in_step) const {
    return box_moves() && phase(in_step) == stride / 2;
  }
  PERRIN_HD static double sum(const double (&of_axis)[3]) {
    return of_axis[0] + of_axis[1] + of_axis[2];
  }
  PERRIN_HD double mass(int group, double kt) const {
    return axes.count(group) * (freedom + axes.dimension) * kt * tau * tau / axes.dimension;
  }
  PERRIN_HD double twice_kinetic_of_box(const NoseHooverState& s) const {
    double sum = 0;
    for (int g = 0; g < axes.groups; ++g) sum += mass(g, s.kt) * s.rate[g] * s.rate[g];
    return sum;
  }
  /// Total energy plus this is conserved.
  PERRIN_HD double energy(const NoseHooverState& s) const {
    return s.energy + chain.kinetic_energy(s.chain, s.kt) + 0.5 * twice_kinetic_of_box(s) +
           box_chain.kinetic_energy(s.box_chain, s.kt);
  }

  /// Masses go with the temperature; energies stay.
  PERRIN_HD static void follow(NoseHooverState& s, double kt) {
    if (kt == s.kt) return;
    const double f = std::sqrt(s.kt / kt);
    for (int k = 0; k < ChainState::most; ++k)
      s.chain.velocity[k] *= f, s.box_chain.velocity[k] *= f;
    for (double& rate : s.rate) rate *= f;
    s.kt = kt;
  }

  /// Half a step of the chain. `kinetic`: m v² along each axis. The factor is one that particles
  /// can have: what is rounded away counts as energy of the chain.
  PERRIN_HD double thermostat(NoseHooverState& s, double (&kinetic)[3]) const {
    const double before = sum(kinetic);
    double after = before;
    const double exact = chain.advance(s.chain, s.kt, timestep / 2, after, s.energy);
    const double factor = double(Real(exact));
    s.energy -= 0.5 * before * (factor * factor - exact * exact);
    for (double& k : kinetic) k *= factor * factor;
    return factor;
  }

  /// The pressure acts for half of the interval between its measurements.
  PERRIN_HD void push_box(NoseHooverState& s, const double (&kinetic)[3], double pressure) const {
    const double volume = box->length.x * box->length.y * box->length.z;
    double force[3] = {0, 0, 0};
    const double of_each = tail / (axes.dimension * volume) - volume * pressure +
                           (freedom > 0 ? sum(kinetic) / freedom : 0);
    for (int k = 0; k < 3; ++k)
      if (axes.group[k] >= 0) force[axes.group[k]] += kinetic[k] + memory->virial.of[k] + of_each;
    const double time = 0.5 * timestep * double(stride);
    s.ahead = s.behind = 0;
    for (int g = 0; g < axes.groups; ++g) {
      const double change = time * force[g] / mass(g, s.kt);
      s.ahead += time * force[g] * (s.rate[g] + 0.5 * change);
      s.behind += time * force[g] * (s.rate[g] + 1.5 * change);
      s.rate[g] += change;
    }
  }
  PERRIN_HD void thermostat_box(NoseHooverState& s) const {
    double twice_kinetic = twice_kinetic_of_box(s);
    const double f = box_chain.advance(s.box_chain, s.kt, 0.5 * timestep * double(stride),
                                       twice_kinetic, s.energy);
    for (double& rate : s.rate) rate *= f;
  }

  /// A factor of the velocities as particles have it, and what keeps the drift as it is.
  PERRIN_HD void set(Real4& scale, Real4& shift, const double (&factor)[3]) const {
    scale = {Real(factor[0]), Real(factor[1]), Real(factor[2]), 1};
    shift = {Real((1 - double(scale.x)) * drift.x), Real((1 - double(scale.y)) * drift.y),
             Real((1 - double(scale.z)) * drift.z), 0};
  }
  /// Of the step that begins. The box goes the way of all `stride` steps in the middle one.
  PERRIN_HD void set_step(const NoseHooverState& s, double first, std::uint64_t begins) const {
    NoseHooverFactors& f = memory->factors;
    double all = 0, scale[3], end_scale[3], kick[3], move[3];
    for (int k = 0; k < 3; ++k) all += axes.along(k, s.rate, 0);
    const double half = 0.5 * timestep, times = moves_box(begins) ? double(stride) : 0;
    for (int g = 0; g < axes.groups; ++g) {
      const double x = times * timestep * s.rate[g];
      if (!(x <= most && x >= -most)) faults.report(FaultKind::box_too_fast, 0, x, most);
    }
    for (int k = 0; k < 3; ++k) {
      const double rate = times * axes.along(k, s.rate, 0);
      const double x = half * (rate + times * all / (freedom > 0 ? freedom : 1));
      end_scale[k] = std::exp(-x), scale[k] = end_scale[k] * first;
      kick[k] = half * std::exp(-0.5 * x) * sinh_over(0.5 * x);
      move[k] = timestep * std::exp(-half * rate) * sinh_over(half * rate);
    }
    set(f.scale, f.shift, scale);
    set(f.end_scale, f.end_shift, end_scale);
    f.kick = {Real(kick[0]), Real(kick[1]), Real(kick[2]), 0};
    f.move = {Real(move[0]), Real(move[1]), Real(move[2]), 0};
  }

  /// The first half of what comes between two steps. Kinetic energies are at hand.
  PERRIN_HD void end(NoseHooverState& s, double (&kinetic)[3]) const {
    NoseHooverMemory& m = *memory;
    follow(s, kt_ramp.at(*step));
    const double last = thermostat(s, kinetic);
    const double same[3] = {last, last, last};
    set(m.factors.chain_scale, m.factors.chain_shift, same);
    if (box_moves() && is_last()) {
      push_box(s, kinetic, pressure_ramp.at(*step));
      thermostat_box(s);
    }
    m.at_end = s;
    const double early = is_last() ? 0 : phase(*step) < stride / 2 ? s.ahead : -s.behind;
    m.heat = early - energy(s);
  }
  PERRIN_HD void begin(NoseHooverState& s, double (&kinetic)[3], bool push,
                       std::uint64_t begins) const {
    if (box_moves() && push) {
      thermostat_box(s);
      push_box(s, kinetic, pressure_ramp.at(*step));
    }
    const double first = thermostat(s, kinetic);
    set_step(s, first, begins);
    memory->now = s;
  }

  /// Between two steps.
  PERRIN_HD void operator()(std::int64_t) const {
    NoseHooverState s = memory->now;
    double kinetic[3];
    for (int k = 0; k < 3; ++k) kinetic[k] = memory->kinetic.of[k];
    end(s, kinetic);
    begin(s, kinetic, is_last(), *step + 1);
    due[0] = due[1] = 0;
  }
};

/// Before the first step.
struct FirstTurn {
  Turn turn;
  PERRIN_HD void operator()(std::int64_t) const {
    NoseHooverMemory& m = *turn.memory;
    NoseHooverState s = m.at_end;
    if (!(s.kt > 0)) s.kt = turn.kt_ramp.at(*turn.step - 1), m.at_end.kt = s.kt;
    double kinetic[3];
    for (int k = 0; k < 3; ++k) kinetic[k] = m.kinetic.of[k];
    m.moved_step = -1;
    turn.begin(s, kinetic, true, *turn.step);
  }
};

/// The box goes on with the particles. A step that was halted by something full afterwards is run
/// again: it begins from where the box was.
struct StretchBox {
  Turn turn;
  double range;
  PERRIN_HD void operator()(std::int64_t) const {
    NoseHooverMemory& m = *turn.memory;
    const auto step = std::int64_t(*turn.step);
    if (m.moved_step != step) m.before = *turn.box, m.energy_before = m.now.energy;
    m.moved_step = step;
    double factor[3] = {1, 1, 1};
    for (int g = 0; g < turn.axes.groups; ++g)
      factor[g] = std::exp(double(turn.stride) * turn.timestep * m.now.rate[g]);
    const Box b = turn.axes.stretched(m.before, factor);
    const double half = half_of_periodic(b);
    if (half < range) return turn.faults.report(FaultKind::box_too_small, 0, half, range);
    const double old = m.before.length.x * m.before.length.y * m.before.length.z;
    const double pressure = turn.pressure_ramp.at(*turn.step);
    m.now.energy = m.energy_before + pressure * (b.length.x * b.length.y * b.length.z - old);
    *turn.box = b;
  }
};

}  // namespace perrin::detail
