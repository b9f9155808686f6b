// FIRE: runs downhill to a minimum of the potential energy.
// E. Bitzek, P. Koskinen, F. Gähler, M. Moseler, P. Gumbsch, Phys. Rev. Lett. 97, 170201 (2006).
#pragma once

#include <memory>
#include <optional>

#include "engine/components/integrator.h"
#include "engine/device/buffer.h"
#include "engine/settings/settings.h"
#include "engine/system/particle_array.h"
#include "integrators/fire_cell.h"
#include "integrators/fire_rotation.h"
#include "integrators/fire_rule.h"

namespace perrin {

struct FireSettings {
  double force_tolerance = 1e-4;
  std::optional<double> torque_tolerance = std::nullopt;
  double timestep = 0.005, maximum_timestep = 0.05, maximum_move = 0;
  std::optional<FireCellSettings> cell = std::nullopt;
};

template <class D>
void describe(D& d, FireSettings& s) {
  d.required("force_tolerance", s.force_tolerance, Positive{},
             "convergence: largest force on any particle (energy/length); rounding limits it to "
             "about 1e-3 in mixed precision, 1e-5 in double, in LJ units");
  d.optional("torque_tolerance", s.torque_tolerance, Positive{},
             "largest torque on any particle that turns (energy); default: the number of "
             "force_tolerance");
  d.optional("timestep", s.timestep, Positive{}, "initial time step (time)");
  d.optional("maximum_timestep", s.maximum_timestep, Positive{},
             "largest adaptive time step, if the stiffness of the forces allows it");
  d.optional("maximum_move", s.maximum_move, NonNegative{},
             "largest displacement of a particle in one step (length); 0: 1/20 of the limit of a "
             "stable step, which is the longest cut-off plus the skin or, if less, 1/4 of the box");
  d.optional("cell", s.cell, Any{}, "relax the edges of the box, too, to a target pressure");
}

/// The paper's rules with its parameters (N_min 5, f_inc 1.1, f_dec 0.5, alpha 0.1, f_alpha 0.99),
/// on velocity Verlet. The rules look at the power of all particles, which stays positive while one
/// stiff pair swings between too long moves: so a step is never longer than one over the highest
/// frequency that the last one has seen, ω² = -Δf · Δr / (m Δr²) of each particle (velocity Verlet
/// is stable up to twice that). The minimiser has velocities of its own, which start at zero: those
/// of the particles stay what they were. Directions run downhill beside places (fire_rotation.h),
/// and centres of rigid bodies instead of their sites. All decisions are taken on the device. Once
/// converged, steps change nothing.
class Fire : public Integrator {
 public:
  explicit Fire(const FireSettings& settings) : settings_(settings) {
    if (settings.cell) cell_ = std::make_unique<FireCell>(*settings.cell);
  }

  void begin(StageContext& context) override;
  void end() override;
  void steps(StepContext& context, int n) override;
  double timestep() const override { return 0; }  // minimising takes no physical time
  bool follows_deformation() const override { return false; }
  bool finished(const StepContext&) override { return is_converged(); }
  std::int64_t finish_stride() const override { return 32; }
  std::string report() override;
  std::string shortcoming() override;
  bool turns_particles() const override { return true; }
  Motion motion() const override {
    Motion motion;
    motion.velocities = VelocityRole::rest;
    return motion;
  }
  BoxMover* box_mover() const override { return cell_.get(); }
  void state(Archive& archive) override;

  /// The largest force on a particle, of the latest step; negative before the first.
  double largest_force() const;
  double largest_torque() const;

  using Rule = FireRule;
  using Measures = FireMeasures;

  /// Of a particle in a step: its force at the beginning, and its move.
  struct Stretch {
    Real4 force, move;
  };

 private:
  bool is_converged() const;
  void decide(StepContext& context);
  double cap(const StepContext& context) const;

  FireSettings settings_;
  std::unique_ptr<FireCell> cell_;
  FireRotation rotation_;
  Buffer<Rule> rule_;
  ParticleArray<Real4> velocity_;
  ParticleArray<Stretch> stretch_;
  Buffer<Measures> measures_, scratch_;
};

}  // namespace perrin
