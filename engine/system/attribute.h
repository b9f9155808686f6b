// Numbers of each particle by their names: charge, diameter, mass, and those that a job defines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

/// Whether a formula can read an attribute of this name.
bool is_attribute_name(const std::string& name);
/// What such a name is, for messages.
inline constexpr const char* attribute_name_rule =
    "letters, digits and _ that does not end in _1, _2, _3 or _4 and is none of x, y, z, r, t, id";
/// The largest magnitude of a number.
inline constexpr double most_of_attribute = 1e30;

/// By id; nothing where the system does not have it.
std::optional<std::vector<double>> attribute_of(const Configuration& configuration,
                                                const std::string& name);
/// The sentence for that.
std::string no_attribute(const Configuration& configuration, const std::string& name);

}  // namespace perrin
