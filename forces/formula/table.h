// Formulas where there is no compiler: the settings of pair_table, bond_table, angle_table and
// dihedral_table, with tables that are made of them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/settings/catalogue.h"
#include "forces/formula/source.h"

namespace perrin::formula {

/// `settings`: those of the job without "energy" and "mixing", parameters among them. The tables go
/// into the cache (compile_plugin.h). Splines with slopes at their points, fine enough that halfway
/// between them they are within 10⁻⁶ of the energy or of its typical size; what is left is printed.
/// Nothing after a report, also for a type that has no table (external_formula).
std::optional<GeneratedType> tabulated(const Request& request, const Formula& formula,
                                       const Json& settings, const CatalogueRow::Report& report);

}  // namespace perrin::formula
