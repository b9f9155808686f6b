// What the integrators of this plug-in have in common: overdamped motion of a heat bath, the steps.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "displacement.h"
#include "engine/components/attribute_reader.h"
#include "engine/components/integrator.h"
#include "engine/components/no_potential.h"
#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "integrators/particle_steps.h"
#include "particle_drive.h"
#include "settings.h"

namespace perrin::active {

class Overdamped : public Integrator, public AttributeReader, public NoPotential {
 public:
  double timestep() const override { return dt_; }
  Motion motion() const override {
    Motion motion;
    motion.axes[2] = !planar_;
    motion.conserves_momentum = false;
    motion.velocities = VelocityRole::bath;
    return motion;
  }
  /// Of the bath alone: what drives the particles is in no temperature and in no pressure.
  std::optional<double> bath_kt(std::uint64_t) const override { return kt_; }
  double typical_displacement(const StepContext&) const override { return typical_; }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    if (of_particles_) of_particles_->follow(changed);
  }

 protected:
  Overdamped(const OverdampedSettings& s, Setup& setup)
      : dt_(s.timestep),
        kt_(s.temperature * setup.k_boltzmann()),
        planar_(setup.configuration().box.dimension == 2),
        friction_(numbers_by_type(setup, "friction", s.friction, s.frictions)) {
    if (!s.speed_attribute) {
      speed_ = numbers_by_type(setup, "speed", s.speed, s.speeds, {}, "speed_attribute");
      return;
    }
    if (s.speed || !s.speeds.empty())
      setup.error("speed_attribute",
                  fmt::format("has the speed of every particle, and cannot stand "
                              "beside \"{}\": expected one of the two",
                              s.speed ? "speed" : "speeds"));
    of_particles_.emplace(*s.speed_attribute, "speed_attribute", setup);
    speed_ = of_particles_->largest();
  }

  int dimension() const { return planar_ ? 2 : 3; }
  /// For begin(): `drive` of a speed, for a time step; in proportion to it.
  template <class Drive>
  void tabulate(StageContext& s, const Drive& drive) {
    std::vector<Mobility> of_type;
    typical_ = 0;
    for (std::size_t t = 0; t < friction_.size(); ++t) {
      if (!(friction_[t] > 0)) {  // not moved
        of_type.push_back({});
        continue;
      }
      of_type.push_back(Mobility::of(dt_, friction_[t], kt_, drive(speed_[t])));
      const double noise = double(of_type[t].spread), active = speed_[t] * dt_;
      typical_ = std::max(typical_, std::sqrt(noise * noise + active * active / dimension()));
    }
    mobility_ = {s.device(), std::span<const Mobility>(of_type)};
    if (of_particles_) of_particles_->begin(s, drive);
  }
  /// For the functor of the step that begins. Device work.
  Mobilities mobilities(StepContext& s) {
    return {mobility_.data(), of_particles_ ? of_particles_->of_step(s) : nullptr};
  }
  /// `move` returns the functor of a step. Where there are no forces nothing of them is done.
  template <class MakeMove>
  static void run_steps(StepContext& s, int n, const MakeMove& move) {
    const auto nothing = [] { return NoUpdate{}; };
    if (!s.forces().empty() || s.moves_box() || s.group())
      return run_particle_steps(s, n, move, nothing);
    move_particles(s, move());
    for (int k = 1; k < n; ++k) update_and_move_particles(s, nothing, move);
  }

  double dt_, kt_;
  bool planar_;
  std::vector<double> friction_, speed_;  // [type]; where an attribute says it, the largest

 private:
  double typical_ = 0;
  Buffer<Mobility> mobility_;  // [type]
  std::optional<ParticleDrive> of_particles_;
};

}  // namespace perrin::active
