// Jobs that name a potential of the library: the same force with its formula written out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/catalogue.h"

namespace perrin::formula {

/// One job of a formula, twice.
struct WrittenOut {
  std::shared_ptr<const Json> settings;  // "energy" in place of "potential"; what it needs alone
  std::shared_ptr<const Json> record;    // "potential" and "energy", and all defaults
};

/// `settings`: of a force of the type with the key "potential". Nothing after a report.
std::optional<WrittenOut> write_out(const std::string& type, const Json& settings,
                                    const CatalogueRow::Report& report);

/// The potentials of a type for help and schema.
std::vector<Variant> potential_variants(const std::string& type);

}  // namespace perrin::formula
