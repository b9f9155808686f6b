// The settings of a stage "neutron_slab".
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/settings/settings.h"
#include "transport.h"

namespace neutron {

/// Two of the three cross-sections; the third follows. Each is what Curve::read takes.
struct LayerSettings {
  double thickness = 0;
  std::optional<perrin::Json> total, scattering, absorption;
  std::optional<double> mass;
};

struct SourceSettings {
  std::string direction = "beam";
  double cosine = 1;
  std::optional<double> energy, maxwell;
  std::optional<perrin::Json> spectrum;
  std::vector<double> range;
};

struct NeutronSlabSettings {
  std::optional<double> thickness;
  std::optional<perrin::Json> total, scattering, absorption;
  std::optional<double> mass;
  std::vector<LayerSettings> layers;
  std::optional<SourceSettings> source;
  std::optional<double> cutoff_energy;
  std::string near_face = "open", far_face = "open";
  std::int64_t histories = 0;
  double target_error = 0;
  std::string target = "transmission";
  std::string estimator = "analogue";
  double roulette = 0;
  std::string kernel = "persistent";
  std::string generator = "saru";
  std::int64_t streams = 0, batch = 0;
  int depth_bins = 100, angle_bins = 20, energy_bins = 50;
  std::string file = "neutron_slab.h5";
  std::int64_t stride = 0;
  std::string name = "neutron_slab";
};

template <class D>
void describe(D& d, LayerSettings& s) {
  using namespace perrin;
  d.required("thickness", s.thickness, Positive{}, "thickness (length)");
  d.optional("total", s.total, Any{}, "total cross-section, 1/length; 0: a void");
  d.optional("scattering", s.scattering, Any{}, "scattering cross-section, 1/length");
  d.optional("absorption", s.absorption, Any{}, "absorption cross-section, 1/length");
  d.optional("mass", s.mass, Positive{},
             "mass of the nuclei, in units of the neutron mass; needs source");
}

template <class D>
void describe(D& d, SourceSettings& s) {
  using namespace perrin;
  d.optional("direction", s.direction, OneOf{"beam", "isotropic", "cosine"},
             "beam: one direction; isotropic: all directions into the slab equally likely; cosine: "
             "directions of an isotropic flux outside, with the density 2 mu");
  d.optional("cosine", s.cosine, Between{1e-6, 1},
             "cosine of the angle between a beam and the normal");
  d.optional("energy", s.energy, Positive{},
             "energy of every neutron; give one of energy, maxwell and spectrum");
  d.optional("maxwell", s.maxwell, Positive{},
             "k_B T of a Maxwellian gas outside: energies have the density E exp(-E/T) / T^2");
  d.optional("spectrum", s.spectrum, Any{},
             "density of energies, not necessarily normalised: a formula of E (with range), a list "
             "of points "
             "[E, value], or {\"file\": name} with two columns");
  d.optional("range", s.range, Positive{}, "lowest and highest energy of a spectrum by a formula");
}

template <class D>
void describe(D& d, NeutronSlabSettings& s) {
  using namespace perrin;
  d.optional("thickness", s.thickness, Positive{}, "thickness of a slab of one layer (length)");
  d.optional(
      "total", s.total, Any{},
      "total cross-section, 1/length: a number; with source also a formula of the energy E, "
      "a list of points [E, value], or {\"file\": name} with two columns; give two of total, "
      "scattering and absorption");
  d.optional("scattering", s.scattering, Any{},
             "scattering cross-section, 1/length; in the same forms");
  d.optional("absorption", s.absorption, Any{},
             "absorption cross-section, 1/length; in the same forms");
  d.optional("mass", s.mass, Positive{},
             "mass of the nuclei, in units of the neutron mass: scattering is isotropic in the "
             "centre-of-mass frame and changes the energy; absent: isotropic in the laboratory "
             "frame, without change of the energy; needs source");
  d.optional("layers", s.layers, Any{},
             "instead of the five settings above: up to 16 layers, in the order in which neutrons "
             "pass them");
  d.optional("source", s.source, Any{},
             "source of neutrons with energies; absent: a one-speed beam along the normal");
  d.optional("cutoff_energy", s.cutoff_energy, Positive{},
             "with source: a history ends below this energy and counts as slowed_down");
  d.optional("near_face", s.near_face, OneOf{"open", "reflecting"},
             "with source: boundary at the face of the source, for neutrons that return to it");
  d.optional("far_face", s.far_face, OneOf{"open", "reflecting"},
             "with source: boundary at the other face");
  d.required("histories", s.histories, Positive{},
             "number of neutrons; with target_error, the largest number");
  d.optional("target_error", s.target_error, NonNegative{},
             "stop when the relative standard error of `target` is below this; 0: run all");
  d.optional("target", s.target, OneOf{"transmission", "reflection", "absorption", "collisions"},
             "quantity of target_error");
  d.optional("estimator", s.estimator, OneOf{"analogue", "weighted"},
             "analogue: neutrons are absorbed; weighted: each collision multiplies the weight by "
             "scattering / total");
  d.optional("roulette", s.roulette, Between{0, 0.5},
             "weighted: a neutron of weight w below this survives with probability w / (2 "
             "roulette) and then has the weight 2 roulette; 0: no roulette");
  d.optional("kernel", s.kernel, OneOf{"simple", "persistent"},
             "simple: one history per thread; persistent: a thread runs one history after another");
  d.optional("generator", s.generator, OneOf(generators()),
             "random number generator; saru_state and those after it use streams with a state "
             "(mt19937: CPU only)");
  d.optional("streams", s.streams, Between{0, 4194304},
             "number of streams of a generator with a state; 0: chosen for the device");
  d.optional("batch", s.batch, NonNegative{},
             "number of histories between checks of signals and target_error; 0: chosen by Perrin");
  d.optional("depth_bins", s.depth_bins, Between{0, 1000},
             "number of bins of the flux; 0: no flux");
  d.optional("angle_bins", s.angle_bins, Between{0, 500},
             "number of bins of the cosine of the exit angle, on each side; 0: none");
  d.optional(
      "energy_bins", s.energy_bins, Between{0, 400},
      "with source: number of bins of spectra, even in the logarithm of the energy; 0: none");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory; empty: none");
  d.optional("stride", s.stride, NonNegative{},
             "output interval (histories), rounded up to batches; 0: only the last row");
  d.optional("name", s.name, Any{}, "name of the stage in output");
}

/// The slab of neutrons of one speed; reports mistakes.
std::vector<Layer> layers_of(const NeutronSlabSettings& settings, perrin::Setup& setup);
/// The problem of neutrons with energies; nothing after a report.
std::shared_ptr<const EnergyProblem> problem_of(const NeutronSlabSettings& settings,
                                                perrin::Setup& setup);
/// Histories in a batch: given, or such that a batch takes about a tenth of a second and there
/// are enough batches for the standard errors of the bins. `work`: of a history, in that of a thin
/// slab. Reports a given one that is above `largest`.
std::int64_t batch_of(const NeutronSlabSettings& settings, double work, double largest,
                      perrin::Setup& setup);

}  // namespace neutron
