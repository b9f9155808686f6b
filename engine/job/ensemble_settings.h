// What a job says of an ensemble: several systems of one structure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin {

struct ExchangeSettings {
  std::int64_t every = 0;
  std::vector<std::string> stages;
};
template <class D>
void describe(D& d, ExchangeSettings& s) {
  d.required("every", s.every, Positive{},
             "steps between exchanges: neighbours in the order of the systems, pairs (0, 1), (2, "
             "3), … and (1, 2), (3, 4), … in turn, exchange their particles by Metropolis' rule");
  d.optional("stages", s.stages, Any{},
             "stages in which replicas are exchanged, by name or type; empty: all");
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
  d.optional("exchange", s.exchange, Any{},
             "replica exchange between systems with different temperatures, pressures or forces");
  d.optional(
      "files", s.files, OneOf{"folders", "one"},
      "\"folders\": a folder of files for each system; \"one\": when all have ended or were "
      "stopped, ensemble.h5 has a group for each system with what its HDF5 files hold, which "
      "are then removed where the system is complete");
}

}  // namespace perrin
