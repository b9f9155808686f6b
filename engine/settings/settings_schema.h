// What else comes from `describe`: the settings as parsed, with defaults (for output files), help
// for people, and the JSON Schema that editors use.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/settings/catalogue.h"
#include "engine/settings/settings.h"

namespace perrin {

/// The settings of a struct, every default filled in.
Json record_fields(const Fields& fields);
template <class Settings>
Json record(const Settings& settings) {
  Fields fields;
  describe(fields, const_cast<Settings&>(settings));  // the visitor only takes addresses
  return record_fields(fields);
}
/// The same with the key "type" first.
Json record_component(const ComponentSettings& component);

/// JSON Schema (draft-07) of a struct's fields: {"type": "object", "properties": …}.
Json schema_fields(const Fields& fields);
template <class Settings>
Json schema() {
  Settings defaults{};
  Fields fields;
  describe(fields, defaults);
  return schema_fields(fields);
}
/// {"$ref": "#/definitions/force"}: some component of the kind.
Json schema_reference(const std::string& kind);
/// The definitions that such references need: one choice per kind, one object per type.
Json schema_definitions(const Catalogue& registry);

/// One paragraph per setting, for a terminal; starts with the type and its help line.
std::string help_text(const CatalogueRow& row, const Catalogue& registry);
std::string help_text(const Variant& variant, const CatalogueRow& row);
std::string help_fields(const Fields& fields, int indent = 2);
/// Of one of them.
std::string help_field(const Fields& fields, const Field& field, int indent = 2);
/// An object that parses: the required settings, with values that pass their checks.
Json example(const CatalogueRow& row, const Catalogue& registry);

}  // namespace perrin
