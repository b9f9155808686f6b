// Stage "md": runs an integrator for a number of time steps.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/components/integrator.h"
#include "engine/components/setup.h"
#include "engine/components/slow_forces.h"
#include "engine/components/stage.h"
#include "engine/dynamics/deformation.h"
#include "engine/dynamics/temperature_watch.h"
#include "engine/settings/settings.h"

namespace perrin {

class Registry;

struct MdSettings {
  std::int64_t steps = 0;
  Part<Integrator> integrator;
  std::vector<Part<Integrator>> integrators;
  std::string name = "md";
  std::optional<DeformSettings> deform;
  std::optional<ShearSettings> shear;
  std::int64_t slow_force_stride = 1;
};

template <class D>
void describe(D& d, MdSettings& s) {
  d.example(
      "{\"steps\": 1000, \"integrator\": {\"type\": \"velocity_verlet\", "
      "\"timestep\": 0.005}}");
  d.required("steps", s.steps, NonNegative{}, "number of steps");
  d.optional("integrator", s.integrator, Any{},
             "integrator of the equations of motion of all particles");
  d.optional("integrators", s.integrators, Any{},
             "integrators of groups, in place of integrator: every particle is in the \"group\" of "
             "one of them");
  d.any_of({"integrator", "integrators"});
  d.optional("name", s.name, Any{}, "name of the stage in output");
  d.optional("deform", s.deform, Any{}, "deformation of the box during the stage");
  d.optional("shear", s.shear, Any{}, "steady shear flow with Lees-Edwards boundary conditions");
  d.optional("slow_force_stride", s.slow_force_stride, Between{1, SlowForces::most},
             "multiple time steps (r-RESPA): the slow part of forces, Ewald's sum over wave "
             "vectors or its mesh, acts in every n-th step of the stage, n times as strong");
}

class Simulation;

class MdStage : public Stage {
 public:
  MdStage(const MdSettings& settings, Setup& setup);
  /// Of an integrator that another kind of stage has; `unit`: what its steps are called, also by
  /// the key of the settings.
  MdStage(const std::string& unit, std::int64_t steps, std::unique_ptr<Integrator> integrator,
          const Setup& setup);
  void begin(Run& run, bool resumed) override;
  bool run(Run& run) override;
  void end(Run& run) override;
  bool shares_work() const override { return true; }
  std::int64_t steps() const { return steps_; }
  void totals_are_known(Run& run, const Instant& instant) override;
  const Deformation* deformation() const { return deformation_.get(); }
  const Integrator* integrator() const override { return integrator_.get(); }
  std::int64_t slow_force_stride() const { return slow_force_stride_; }
  void state(Archive& archive) override;

 private:
  void change(Simulation& simulation, std::size_t stage);
  std::string warn_of_resolution(Run& run);
  void check_slow_forces(Setup& setup) const;
  std::string idle_box_mover(std::int64_t start) const;
  void say_what_is_short(Run& run);

  std::string path_, unit_ = "steps";  // in the job; of steps
  std::int64_t steps_, done_ = 0, slow_force_stride_ = 1;
  bool warned_ = false;
  TemperatureWatch watch_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<Deformation> deformation_;
};

void register_md_stage(Registry& registry);

}  // namespace perrin
