// Velocity Verlet: constant energy, or constant pressure.
// W. C. Swope, H. C. Andersen, P. H. Berens, K. R. Wilson, J. Chem. Phys. 76, 637 (1982).
#pragma once

#include "engine/components/integrator.h"
#include "engine/settings/settings.h"
#include "integrators/barostat.h"
#include "integrators/rotation.h"

namespace perrin {

struct VelocityVerletSettings {
  double timestep = 0.005;
  std::optional<BarostatSettings> barostat = std::nullopt;
};

template <class D>
void describe(D& d, VelocityVerletSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.optional("barostat", s.barostat, Any{}, "constant pressure by stochastic cell rescaling");
}

class VelocityVerlet : public Integrator {
 public:
  explicit VelocityVerlet(const VelocityVerletSettings& settings) : dt_(settings.timestep) {}
  /// `kt`: the temperature of the barostat times Boltzmann's constant; it begins with the stage.
  VelocityVerlet(const VelocityVerletSettings& settings, std::unique_ptr<Barostat> barostat,
                 const Ramp& kt)
      : dt_(settings.timestep), kt_(kt), barostat_(std::move(barostat)) {}

  void begin(StageContext& context) override;
  void steps(StepContext& context, int n) override;
  double timestep() const override { return dt_; }
  void measure_heat(StepContext& context, double* heat) override {
    Integrator::measure_heat(context, heat);
    if (barostat_) barostat_->add_heat(context, heat);
  }
  std::string report() override { return barostat_ ? barostat_->report() : ""; }
  BoxMover* box_mover() const override { return barostat_.get(); }
  bool turns_particles() const override { return true; }
  bool takes_impulses() const override { return true; }
  bool keeps_distances() const override { return true; }
  std::string needs_fixed_group() const override { return {}; }
  void state(Archive& archive) override {
    if (barostat_) barostat_->state(archive);
  }

 private:
  double dt_;
  Ramp kt_;
  std::unique_ptr<Barostat> barostat_;
  Rotation rotation_;
};

}  // namespace perrin
