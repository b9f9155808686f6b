// Curves of an ensemble (g(r), profiles, mean square displacements): means over systems whose
// settings are the same but for the seed.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin::report {

class EnsembleCurves {
 public:
  /// [system]: its group.
  EnsembleCurves(std::vector<std::size_t> group_of, std::size_t groups)
      : group_of_(std::move(group_of)), groups_(groups) {}

  /// A curve of a system's file, as observables_of() has it.
  void add(std::size_t system, const std::string& file, const Json& curve);
  /// Of each curve {file, name, label, unit, axis, groups: [{group, systems, x, y, e}], left_out}:
  /// means over the systems of a group, and standard errors from how these differ; of one system
  /// its own. `left_out`: systems whose bins are others than those of the first of their group.
  Json json() const;

 private:
  struct Sums {
    Json x;                                 // of the first system
    std::vector<double> mean, square, own;  // squares of deviations; errors of the last system
    std::vector<std::int64_t> count;        // systems that have the point
    std::int64_t systems = 0;
  };
  struct Curve {
    std::string unit;
    Json axis;
    std::vector<Sums> groups;
    std::int64_t left_out = 0;
  };
  std::vector<std::size_t> group_of_;
  std::size_t groups_;
  std::map<std::tuple<std::string, std::string, std::string>, Curve> curves_;
};

}  // namespace perrin::report
