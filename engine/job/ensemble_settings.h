// What a job says of an ensemble: several systems of one structure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin {

/// Changes of the step of volume exchanges, until as many are accepted as wanted.
struct GibbsTuneSettings {
  std::int64_t steps = 0;
  double acceptance = 0.4;
};
template <class D>
void describe(D& d, GibbsTuneSettings& s) {
  d.required("steps", s.steps, Positive{},
             "from the beginning of the job; behind them the step stays what it is");
  d.optional("acceptance", s.acceptance, Between{0.01, 0.99}, "part of trials to be accepted");
}

struct GibbsVolumeSettings {
  double step = 0;
  std::int64_t stride = 1;
  std::optional<GibbsTuneSettings> tune;
};
template <class D>
void describe(D& d, GibbsVolumeSettings& s) {
  d.required("step", s.step, Positive{},
             "largest change of ln(V1/V2), the logarithm of the ratio of the volumes");
  d.optional("stride", s.stride, Positive{}, "one is tried at every so many exchanges");
  d.optional("tune", s.tune, Any{}, "change the step until trials are accepted as often");
}

struct ExchangeSettings {
  std::string type = "replica";
  std::int64_t every = 0;
  std::vector<std::string> stages;
  // Of "gibbs".
  std::optional<std::int64_t> transfers, rows_every;
  std::optional<GibbsVolumeSettings> volume;

  bool is_gibbs() const { return type == "gibbs"; }
};
template <class D>
void describe(D& d, ExchangeSettings& s) {
  d.optional("type", s.type, OneOf{"replica", "gibbs"},
             "\"replica\": neighbours in the order of the systems, pairs (0, 1), (2, 3), … and "
             "(1, 2), (3, 4), … in turn, exchange all their particles by Metropolis' rule; "
             "\"gibbs\": the pairs (0, 1), (2, 3), … exchange single particles, or rigid bodies, "
             "and volume, as coexisting phases do");
  d.required("every", s.every, Positive{}, "steps between exchanges");
  d.optional("stages", s.stages, Any{},
             "stages in which there are exchanges, by name or type; empty: all");
  d.optional("transfers", s.transfers, NonNegative{},
             "gibbs: trials to move a particle, or a rigid body, into the other box, at each "
             "exchange; default: 100");
  d.optional("volume", s.volume, Any{},
             "gibbs: exchanges of volume, of which the sum stays; default: none");
  d.optional("rows_every", s.rows_every, Positive{},
             "gibbs: exchanges between rows of exchange.csv; default: 100");
}

struct EnsembleSettings {
  std::optional<std::int64_t> count;
  std::map<std::string, Json> vary;
  std::optional<ExchangeSettings> exchange;
  std::string files = "folders";
};
template <class D>
void describe(D& d, EnsembleSettings& s) {
  d.example(
      "{\"count\": 16, \"vary\": {\"stages[0].integrator.temperature\": {\"linear\": [0.7, "
      "1.4]}}}");
  d.optional("count", s.count, Between{1, 1000000},
             "number of systems; default: that of the values in \"vary\"");
  d.optional("vary", s.vary, Any{},
             "settings by their paths, as --set has them, and a value for each system: a list, "
             "{\"linear\": [first, last]} or {\"geometric\": [first, last]}. \"seed\": \"each\" "
             "(the default) gives system k the seed of the job plus k");
  d.optional(
      "exchange", s.exchange, Any{},
      "replica exchange between systems with different temperatures, pressures or forces, or "
      "exchange of particles and volume between two boxes (Gibbs ensemble)");
  d.optional(
      "files", s.files, OneOf{"folders", "one"},
      "\"folders\": a folder of files for each system; \"one\": when all have ended or were "
      "stopped, ensemble.h5 has a group for each system with what its HDF5 files hold, which "
      "are then removed where the system is complete");
}

}  // namespace perrin
