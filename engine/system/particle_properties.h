// What a job says of its particles by their ids, beside where they are and how they move.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

/// As in a Configuration.
struct ParticleProperties {
  std::vector<std::string> types;                         // names; a particle's type indexes them
  std::vector<double> charge, diameter;                   // as read; empty: none
  std::map<std::string, std::vector<double>> attributes;  // others, by their names
  Topology topology;
  std::vector<Group> groups;  // of the job
};

}  // namespace perrin
