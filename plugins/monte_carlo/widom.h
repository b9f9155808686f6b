// The excess chemical potential by trial insertions.
// B. Widom, J. Chem. Phys. 39, 2808 (1963): exp(-mu/kT) = <exp(-dU/kT)> at constant volume, where
// dU is the energy that one more particle would have at a random place; at constant pressure
// <V exp(-dU/kT)> / <V> (K. S. Shing, S. T. Chung, J. Phys. Chem. 91, 1674 (1987)). Of a rigid
// molecule the same, at a random place and turned at random: what its rotation has in an ideal gas
// is not in the excess.
#pragma once

#include <optional>
#include <string>

#include "engine/components/decides_by_energies.h"
#include "engine/components/heat_bath_user.h"
#include "engine/components/observer.h"
#include "engine/components/setup.h"
#include "engine/settings/settings.h"
#include "io/observable_file.h"
#include "rigid_molecules.h"
#include "trial_energies.h"
#include "trial_grid.h"

namespace perrin {
class Registry;
}

namespace perrin::monte_carlo {

struct WidomSettings {
  std::int64_t stride = 100, insertions = 1000;
  std::string group = "all";
  bool molecules = false;
  std::optional<double> temperature;
  std::string file = "widom.h5";
};

template <class D>
void describe(D& d, WidomSettings& s) {
  d.required("stride", s.stride, Positive{}, "interval between samples (steps)");
  d.optional("insertions", s.insertions, Positive{}, "trial insertions of a sample");
  d.optional("group", s.group, Any{},
             "what is inserted has type and attributes of a random particle of this group");
  d.optional("molecules", s.molecules, Any{},
             "whole rigid molecules of the group are inserted, turned at random: bodies, molecules "
             "all of whose distances constraints keep, and single particles");
  d.optional("temperature", s.temperature, Positive{},
             "temperature; default: that of the stage's heat bath");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
}

class Widom final : public Observer, public HeatBathUser, public DecidesByEnergies {
 public:
  Widom(const WidomSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  std::string objection(const Force& force) const override;
  std::string missing_temperature() const override {
    return settings_.temperature ? "" : "temperature";
  }
  void begin(const Observation& seen, bool resumed) override;
  /// Throws UserError where a molecule is too large for the box.
  void observe(const Observation& seen) override;
  void end(const Observation& seen) override { file_.end(seen); }
  void state(Archive& archive) override;

 private:
  double kt(const Observation& seen) const;
  double mean_factor(StepContext& context, double kt);
  const double* measure_within(StepContext& context, const TrialCells& cells, std::uint32_t turn,
                               std::int64_t count);

  WidomSettings settings_;
  std::string path_;
  std::uint64_t seed_;
  Box box_;                   // at the start
  std::size_t types_;         // of particles
  RigidMolecules molecules_;  // of the group, or its particles
  io::ObservableFile file_;
  double volumes_ = 0, weighted_ = 0;  // sums of V, and of V exp(-dU/kT)
  TrialGrid grid_;
  TrialEnergies energies_;
  Buffer<std::uint32_t> begin_, member_, before_;  // of the molecules
  Buffer<Real3> vector_;  // of each move, from the first particle of what is inserted
  Buffer<double> own_;    // [insertion]: energy that a molecule has within itself
};

void register_widom(Registry& registry);

}  // namespace perrin::monte_carlo
