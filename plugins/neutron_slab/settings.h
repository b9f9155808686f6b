// The settings of a stage "neutron_slab".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/run/setup.h"
#include "engine/settings/settings.h"
#include "transport.h"

namespace neutron {

/// Two of the three cross-sections; the third follows.
struct LayerSettings {
  double thickness = 0;
  std::optional<double> total, scattering, absorption;
};

struct NeutronSlabSettings {
  std::optional<double> thickness, total, scattering, absorption;
  std::vector<LayerSettings> layers;
  std::int64_t histories = 0;
  double target_error = 0;
  std::string target = "transmission";
  std::string estimator = "analogue";
  double roulette = 0;
  std::string kernel = "persistent";
  std::string generator = "saru";
  std::int64_t streams = 0, batch = 0;
  int depth_bins = 100, angle_bins = 20;
  std::string file = "neutron_slab.h5";
  std::int64_t stride = 0;
  std::string name = "neutron_slab";
};

template <class D>
void describe(D& d, LayerSettings& s) {
  using namespace perrin;
  d.required("thickness", s.thickness, Positive{}, "length");
  d.optional("total", s.total, NonNegative{}, "total cross-section, 1/length; 0: a void");
  d.optional("scattering", s.scattering, NonNegative{}, "scattering cross-section, 1/length");
  d.optional("absorption", s.absorption, NonNegative{}, "absorption cross-section, 1/length");
}

template <class D>
void describe(D& d, NeutronSlabSettings& s) {
  using namespace perrin;
  d.optional("thickness", s.thickness, Positive{}, "of a slab of one layer; length");
  d.optional("total", s.total, Positive{},
             "total cross-section, 1/length; give two of total, scattering and absorption");
  d.optional("scattering", s.scattering, NonNegative{}, "scattering cross-section, 1/length");
  d.optional("absorption", s.absorption, NonNegative{}, "absorption cross-section, 1/length");
  d.optional("layers", s.layers, Any{},
             "instead of the four above: up to 16 layers, the one that neutrons enter first");
  d.required("histories", s.histories, Positive{},
             "number of neutrons; with target_error the most that are run");
  d.optional("target_error", s.target_error, NonNegative{},
             "stop when the relative standard error of `target` is below this; 0: run all");
  d.optional("target", s.target, OneOf{"transmission", "reflection", "absorption", "collisions"},
             "what target_error is about");
  d.optional("estimator", s.estimator, OneOf{"analogue", "weighted"},
             "analogue: neutrons are absorbed; weighted: each collision multiplies the weight by "
             "scattering / total");
  d.optional("roulette", s.roulette, Between{0, 0.5},
             "weighted: below this weight w a neutron survives with probability w / (2 roulette), "
             "then with weight 2 roulette; 0: none");
  d.optional("kernel", s.kernel, OneOf{"simple", "persistent"},
             "simple: a thread runs one history and stops; persistent: it goes on with another");
  d.optional("generator", s.generator, OneOf(generators()),
             "random numbers; from saru_state on, streams that carry a state (mt19937: CPU only)");
  d.optional("streams", s.streams, Between{0, 4194304},
             "number of streams of a generator with state; 0: as suits the device");
  d.optional("batch", s.batch, NonNegative{},
             "histories between two looks at signals and target_error; 0: chosen");
  d.optional("depth_bins", s.depth_bins, Between{0, 1000}, "bins of the flux; 0: no flux");
  d.optional("angle_bins", s.angle_bins, Between{0, 500},
             "bins of the cosine of the exit angle, on either side; 0: none");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory; empty: none");
  d.optional("stride", s.stride, NonNegative{},
             "histories from one row of the file to the next, rounded up to batches; 0: only the "
             "last row");
  d.optional("name", s.name, Any{}, "name of the stage on the console");
}

/// The slab; reports mistakes.
std::vector<Layer> layers_of(const NeutronSlabSettings& settings, perrin::Setup& setup);
/// Histories of one call of Transport::run for which no sum can leave 64 bits, in a slab of h mean
/// free paths.
double largest_batch(double h, bool weighted);
/// Histories in a batch: given, or so many that a batch takes about a tenth of a second and there
/// are enough batches for the standard errors of the bins. Reports a given one that is too large.
std::int64_t batch_of(const NeutronSlabSettings& settings, double optical_thickness,
                      perrin::Setup& setup);

}  // namespace neutron
