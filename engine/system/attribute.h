// Numbers of each particle by their names: charge, diameter, mass, and those that a job defines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

/// By id; nothing where the system does not have it.
std::optional<std::vector<double>> attribute_of(const Configuration& configuration,
                                                const std::string& name);
/// The sentence for that.
std::string no_attribute(const Configuration& configuration, const std::string& name);

}  // namespace perrin
