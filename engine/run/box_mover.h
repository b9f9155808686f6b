// A BoxMover changes the box within a step.
#pragma once

#include <cstdint>

namespace perrin {

class Simulation;

/// Part of an integrator (Integrator::box_mover()): a barostat.
class BoxMover {
 public:
  virtual ~BoxMover() = default;
  /// Called when the particles of a step have moved and neighbours are known, before the forces are
  /// computed. Device work only. Particles keep their places in units of the box's edges. It
  /// writes the box where Particles::kept_box() says, and calls Simulation::follow_box().
  virtual void move_box(Simulation&) = 0;
  /// move_box() is called in the steps whose number, counted from 1, is a multiple of this.
  virtual std::int64_t stride() const { return 1; }
  /// The share by which it may shorten lengths in one step, below 0.01: lists keep room for it.
  /// 0: it has not begun.
  virtual double most() const = 0;
};

}  // namespace perrin
