// Which bonds are made and broken: the settings of "dynamic_bonds" for the types of a system.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/dynamics/dynamic_bonds_settings.h"
#include "engine/system/configuration.h"

namespace perrin {

/// What the settings say, by the numbers of types. `stages`: [stage of the job], where it acts.
struct BondRules {
  struct Form {
    std::array<std::uint32_t, 2> types;
    std::uint32_t bond;
    std::optional<std::uint32_t> angle;
    double distance, probability;
    std::vector<bool> stages;
    bool by_valence = false;  // the probability is that of each pair of free valences
  };
  struct Break {
    std::uint32_t bond;
    double length, probability;
    std::vector<bool> stages;
    double force = 0;  // 0: whatever it is
  };
  std::int64_t stride = 1;
  std::vector<Form> form;
  std::vector<Break> broken;
  std::vector<std::int64_t> valence;  // [type]; -1: not given
};

/// Whether a stage is one of those that are named at a path of the job; reports unknown names.
using StagesNamed = std::function<std::vector<bool>(const std::vector<std::string>& names,
                                                    const std::string& path)>;
using ReportMistake = std::function<void(const std::string& path, const std::string& what)>;

/// Adds the types of bonds and angles that the rules make to those of `configuration`. Mistakes go
/// to `report` with their paths; nothing is returned then.
std::optional<BondRules> resolve_dynamic_bonds(const DynamicBondsSettings& settings,
                                               Configuration& configuration,
                                               const StagesNamed& stages,
                                               const ReportMistake& report);

/// How many bonds, angles, … there can be at most, from a configuration on.
BondedCounts most_bonded(const BondRules& rules, const Configuration& configuration);

}  // namespace perrin
