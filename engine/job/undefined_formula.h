// Where a formula of a force is not a number, in words: for forces and energies that are not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/settings/settings.h"
#include "engine/system/configuration.h"

namespace perrin {

/// Of a force with these settings: the first place at which its energy, or a derivative of it, is
/// NaN or infinite, of what acts on a particle (by id) or on any: `the formula log(1 - r^2) is not
/// a number (NaN) at r = 1.2, of the bond of particles 0 and 1`. Empty: the force is no formula,
/// or there is no such place.
std::string undefined_formula(const std::string& type, const Json& settings,
                              const Configuration& configuration,
                              std::optional<std::uint32_t> particle);

}  // namespace perrin
