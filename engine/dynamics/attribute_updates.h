// Attributes that a formula of the present state writes anew while a job runs: "updates".
//
// At steps that are multiples of a rule's `every`, on the host, from what a checkpoint holds of the
// particles: the same numbers on any number of processes, and in a resumed run. All rules that are
// due read the numbers from before.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/dynamics/attributes.h"
#include "engine/dynamics/bond_rules.h"
#include "engine/formula/program.h"

namespace perrin {

class Particles;

/// The "updates" of one attribute.
struct AttributeRule {
  std::string name;
  std::int64_t every = 1;
  std::vector<formula::Instruction> program;  // of AttributeUpdates::variables and `inputs`
  std::vector<std::string> inputs;            // attributes
  double low, high;
  std::vector<bool> stages;  // [stage of the job]: it acts there
};

class AttributeUpdates {
 public:
  /// Of every formula, before the attributes.
  static const std::vector<std::string> variables;

  explicit AttributeUpdates(std::vector<AttributeRule> rules) : rules_(std::move(rules)) {}

  /// From `step` to the next step of the stage at which something is due, at least 1; very many
  /// where nothing is.
  std::int64_t steps_to_event(std::uint64_t step, std::size_t stage) const;
  bool is_due(std::uint64_t step, std::size_t stage) const;
  /// Writes those that are due at a step, when all particles are in this process, and returns them,
  /// by id. Throws RunError for numbers beyond their bounds.
  std::map<std::string, std::vector<double>> update(Particles& particles, std::uint64_t step,
                                                    double time, std::size_t stage) const;

 private:
  std::vector<AttributeRule> rules_;
};

/// The rules of a job, for the attributes of `configuration`, which is told their bounds. Mistakes
/// go to `report`.
std::vector<AttributeRule> resolve_attribute_updates(
    const std::map<std::string, AttributeSettings>& settings, Configuration& configuration,
    const StagesNamed& stages, const ReportMistake& report);

}  // namespace perrin
