// A BoxMover changes the box within a step.
#pragma once

#include <array>
#include <cstdint>

#include "engine/base/real.h"

namespace perrin {

class StepContext;

/// What a deforming box does to the particles in a step: upper triangular matrices, xx yy zz xy xz
/// yz. With the velocity gradient L of the flow that the box follows (u = L r) velocities are kept
/// relative to it, and obey dv/dt = f/m - L v.
struct Flow {
  double turn[6];    // exp(-L dt/2) - 1 of the step: what half a step does to velocities …
  Real half[6];      // … and to displacements
  Real gradient[6];  // L (1/time) at the instant when forces are computed
  std::uint32_t velocities;  // 0: they stay as they are, only the way of the particles is changed
  double* work;  // done on the kinetic energy of each particle, by memory index; nullptr: not asked
  Real4* rest;   // what rounding has left of each velocity, by memory index; nullptr: not kept

  /// v + half v, each number rounded alike wherever this is compiled.
  PERRIN_HD Real4 applied(const Real4& v) const {
    return {multiply_add(half[0], v.x, multiply_add(half[3], v.y, multiply_add(half[4], v.z, v.x))),
            multiply_add(half[1], v.y, multiply_add(half[5], v.z, v.y)),
            multiply_add(half[2], v.z, v.z), v.w};
  }
  /// Half a step of the velocity of particle i.
  PERRIN_HD void turn_velocity(std::int64_t i, Real4& v) const {
    if (velocities == 0) return;
    const Real4 before = v;
    if (rest == nullptr)
      v = applied(before);
    else
      turn_exactly(v, rest[i]);
    if (work == nullptr) return;
    const double x = (double(v.x) - double(before.x)) * (double(v.x) + double(before.x)),
                 y = (double(v.y) - double(before.y)) * (double(v.y) + double(before.y)),
                 z = (double(v.z) - double(before.z)) * (double(v.z) + double(before.z));
    work[i] += 0.5 * (x + y + z) / double(v.w);
  }

 private:
  PERRIN_HD static double fused(double a, double b, double c) {
#ifdef __CUDA_ARCH__
    return fma(a, b, c);
#else
    return a * b + c;
#endif
  }
  /// GCC 12 leaves out the conversion to single precision and back where it makes vectors of this.
  PERRIN_HD static Real rounded(double x) {
    Real r = Real(x);
#ifndef __CUDA_ARCH__
    asm("" : "+x"(r));
#endif
    return r;
  }
  /// What is added in every step is nearly the same, and so would be its rounding.
  PERRIN_HD void turn_exactly(Real4& v, Real4& left) const {
    const double x = double(v.x) + double(left.x), y = double(v.y) + double(left.y),
                 z = double(v.z) + double(left.z);
    const double new_x = fused(turn[0], x, fused(turn[3], y, fused(turn[4], z, x))),
                 new_y = fused(turn[1], y, fused(turn[5], z, y)), new_z = fused(turn[2], z, z);
    v.x = rounded(new_x), v.y = rounded(new_y), v.z = rounded(new_z);
    left = {Real(new_x - double(v.x)), Real(new_y - double(v.y)), Real(new_z - double(v.z)), 0};
  }
};

/// Part of an integrator (Integrator::box_mover()), as a barostat is, or of a stage
/// (engine/dynamics/deformation.h).
class BoxMover {
 public:
  virtual ~BoxMover() = default;
  /// Called when the particles of a step have moved and neighbours are known, before the forces are
  /// computed. Device work only. Particles keep their places in units of the box's edges. It
  /// writes the box where BoxState::data() says, and calls StepContext::follow_box().
  virtual void move_box(StepContext&) = 0;
  /// move_box() is called in the steps whose number, counted from 1, is a multiple of this.
  virtual std::int64_t stride() const { return 1; }
  /// The share by which it may shorten lengths in one step, below 0.01: lists keep room for it.
  /// 0: it has not begun.
  virtual double most() const = 0;
  /// Whether it does what the box asks for to the velocities of all particles that move
  /// (StepContext::thermal()), whichever integrators move them: then it may be that of one of
  /// several integrators.
  virtual bool serves_all_integrators() const { return false; }
  /// Whether it may change the tilts.
  virtual bool tilts() const { return false; }
  /// The axes along which it changes lengths.
  virtual std::array<bool, 3> axes() const { return {true, true, true}; }
  /// Called in every step before the particles move. Device work only. The same system may be
  /// written in another box here: then lists must be built anew (Neighbors::require_build()).
  virtual void turn_box(StepContext&) {}
  /// Two words on the device, or nullptr: `half` and `velocities` of step s are in word s mod 2,
  /// the gradient at the end of step s in word s + 1 mod 2.
  virtual const Flow* flow() const { return nullptr; }
  /// Of what a stage does to its box: the work that this has done so far, into *work on the device,
  /// and the shear strain after this number of steps of the job. Device work.
  virtual void measure_work(StepContext&, double* /*work*/) {}
  virtual double strain(std::uint64_t /*step*/) const { return 0; }
};

}  // namespace perrin
