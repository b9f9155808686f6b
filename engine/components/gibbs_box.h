// One of two boxes that exchange particles and volume (the Gibbs ensemble), as its stage offers it
// to who decides for both (app/ensemble/gibbs_exchange.h).
//
// A. Z. Panagiotopoulos, Mol. Phys. 61, 813 (1987); D. Frenkel, B. Smit, Understanding Molecular
// Simulation, chapter 8.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rng/philox.h"

namespace perrin {

class StageContext;

/// Between steps: open(), trials and what comes of them, close(). A trial changes nothing;
/// insert(), remove() and take_volume() do what the last trial of their kind has asked for.
/// Energies are those of the job's forces, tail corrections included. On the CPU.
class GibbsBox {
 public:
  virtual ~GibbsBox() = default;

  virtual void open(StageContext& context) = 0;
  /// Those whose particles come and go, in the order of ParticleProperties::types.
  virtual const std::vector<std::uint32_t>& types() const = 0;
  /// Volume, in two dimensions an area.
  virtual double volume() const = 0;
  /// Rigid bodies and particles in none that are there, of all types; and those of one.
  virtual std::int64_t particles() const = 0;
  virtual std::int64_t count(std::uint32_t type) const = 0;
  /// How many more of a type there is room for.
  virtual std::int64_t room(std::uint32_t type) const = 0;

  /// Whether those of a type are the centres of rigid bodies, which come and go as a whole.
  virtual bool has_bodies(std::uint32_t type) const = 0;
  /// The energy that one more particle of the type would bring, at a place that is uniform in the
  /// box if the words are, and turned likewise if it is a body. There must be room.
  virtual double try_insertion(std::uint32_t type, const Words4& where, const Words4& turn) = 0;
  /// With a velocity from Maxwell's distribution.
  virtual void insert(Philox& random, double kt) = 0;
  /// The change of the energy without the `which`-th of the particles of a type, below count().
  virtual double try_removal(std::uint32_t type, std::uint32_t which) = 0;
  virtual void remove() = 0;

  /// Whether forces or bodies reach across half of a box of this volume and the same shape: that is
  /// none to try.
  virtual bool is_too_small(double volume) const = 0;
  /// The change of the energy with all lengths scaled so that the volume is this; bodies stay as
  /// they are, and their centres go with the box.
  virtual double try_volume(double volume) = 0;
  virtual void take_volume() = 0;

  /// Lists, forces and counts follow what was done.
  virtual void close() = 0;
};

/// An integrator derives from it beside Integrator.
class GibbsStage {
 public:
  virtual ~GibbsStage() = default;
  /// Why its box cannot be one of two: "has no …". Empty: it can.
  virtual std::string gibbs_objection() const = 0;
  /// nullptr where there is an objection.
  virtual GibbsBox* gibbs_box() = 0;
};

}  // namespace perrin
