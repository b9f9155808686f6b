#include "engine/settings/settings_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "engine/settings/settings_parse.h"

namespace perrin {
namespace {

using Kind = ValueType::Kind;

Json record_value(const ValueType& type, const void* value) {
  switch (type.kind) {
    case Kind::boolean:
      return *static_cast<const bool*>(value);
    case Kind::int32:
      return *static_cast<const std::int32_t*>(value);
    case Kind::int64:
      return *static_cast<const std::int64_t*>(value);
    case Kind::uint32:
      return *static_cast<const std::uint32_t*>(value);
    case Kind::uint64:
      return *static_cast<const std::uint64_t*>(value);
    case Kind::real:
      return *static_cast<const double*>(value);
    case Kind::text:
      return *static_cast<const std::string*>(value);
    case Kind::json:
      return *static_cast<const Json*>(value);
    case Kind::list: {
      Json list = Json::array();
      void* p = const_cast<void*>(value);  // `at` only takes addresses
      const std::size_t n =
          type.fixed >= 0 ? static_cast<std::size_t>(type.fixed) : type.size(value);
      for (std::size_t i = 0; i < n; ++i)
        list.push_back(record_value(type.element(), type.at(p, i)));
      return list;
    }
    case Kind::optional: {
      const void* inside = type.get(value);
      return inside ? record_value(type.element(), inside) : Json(nullptr);
    }
    case Kind::map: {
      Json map = Json::object();
      type.for_each(value, [&](const std::string& key, const void* member) {
        map[key] = record_value(type.element(), member);
      });
      return map;
    }
    case Kind::object: {
      Fields fields;
      type.describe(fields, const_cast<void*>(value));
      return record_fields(fields);
    }
    case Kind::part:
      return record_component(*static_cast<const ComponentSettings*>(value));
  }
  return nullptr;
}

/// JSON Schema's words for a check.
void add_check(Json& schema, const Check& check, bool number) {
  if (number) {
    if (check.kind == Check::Kind::positive) schema["exclusiveMinimum"] = 0;
    if (check.kind == Check::Kind::non_negative) schema["minimum"] = 0;
    if (check.kind == Check::Kind::between)
      schema["minimum"] = check.low, schema["maximum"] = check.high;
  } else if (check.kind == Check::Kind::one_of) {
    schema["enum"] = check.values;
  }
}

template <class T>
Json integer_schema() {
  return {{"type", "integer"},
          {"minimum", std::numeric_limits<T>::min()},
          {"maximum", std::numeric_limits<T>::max()}};
}

Json schema_value(const ValueType& type, const Check& check) {
  Json schema = Json::object();
  switch (type.kind) {
    case Kind::boolean:
      schema["type"] = "boolean";
      break;
    case Kind::int32:
      schema = integer_schema<std::int32_t>();
      break;
    case Kind::int64:
      schema = integer_schema<std::int64_t>();
      break;
    case Kind::uint32:
      schema = integer_schema<std::uint32_t>();
      break;
    case Kind::uint64:
      schema = integer_schema<std::uint64_t>();
      break;
    case Kind::real:
      schema["type"] = "number";
      break;
    case Kind::text:
      schema["type"] = "string";
      break;
    case Kind::list:
      schema["type"] = "array";
      schema["items"] = schema_value(type.element(), check);
      if (type.fixed >= 0) schema["maxItems"] = type.fixed;
      if (type.fixed >= 0) schema["minItems"] = has_axes(type) ? 2 : type.fixed;
      break;
    case Kind::optional:
      schema["anyOf"] = {schema_value(type.element(), check), {{"type", "null"}}};
      break;
    case Kind::map:
      schema["type"] = "object";
      schema["additionalProperties"] = schema_value(type.element(), check);
      break;
    case Kind::object: {
      const auto settings = type.create();
      Fields fields;
      type.describe(fields, settings.get());
      schema = schema_fields(fields);
      break;
    }
    case Kind::part:
      return schema_reference(type.component);
    case Kind::json:
      break;
  }
  const bool number = type.kind == Kind::real || schema.value("type", "") == "integer";
  if (number || type.kind == Kind::text) add_check(schema, check, number);
  if (number) {  // or a formula of numbers, "2^(1/6)"
    schema["type"] = {schema["type"], "string"};
    schema["pattern"] = "[0-9]|pi";
  }
  return schema;
}

/// A word for help: what kind of value.
std::string type_word(const ValueType& type) {
  switch (type.kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::real:
      return "number";
    case Kind::text:
      return "text";
    case Kind::list:
      return type.fixed >= 0 ? fmt::format("list of {} × {}", type.fixed, type_word(type.element()))
                             : "list of " + type_word(type.element());
    case Kind::optional:
      return type_word(type.element());
    case Kind::map:
      return "object: name → " + type_word(type.element());
    case Kind::object:
      return "object";
    case Kind::part:
      return fmt::format("{}", type.component);
    case Kind::json:
      return "any value";
    default:
      return "integer";
  }
}

std::string check_word(const Check& check) {
  switch (check.kind) {
    case Check::Kind::positive:
      return "> 0";
    case Check::Kind::non_negative:
      return ">= 0";
    case Check::Kind::between:
      return fmt::format("{} to {}", check.low, check.high);
    case Check::Kind::one_of: {
      std::string list;
      for (const auto& v : check.values) list += (list.empty() ? "" : " | ") + v;
      return list;
    }
    default:
      return "";
  }
}

/// The struct inside a list, map or optional, for help.
const ValueType* inner_object(const ValueType& type) {
  const ValueType* t = &type;
  while (t->element) t = &t->element();
  return t->kind == Kind::object ? t : nullptr;
}

Json example_fields(const Fields& fields, const Catalogue& registry);

/// "bond" of "bonds", as sources call their only type; of particles "A".
std::string name_for(const std::string& key) {
  for (const char* kind : {"bond", "angle", "dihedral", "improper"})
    if (key == kind + std::string("s")) return kind;
  return key == "file" ? "table.txt" : "A";
}

Json example_value(const std::string& key, const ValueType& type, const Check& check,
                   const void* value, const Catalogue& registry) {
  const Json now = value ? record_value(type, value) : Json(nullptr);
  switch (type.kind) {
    case Kind::text:
      if (check.kind == Check::Kind::one_of) return check.values.front();
      return now.is_string() && !now.get<std::string>().empty() ? now : Json(name_for(key));
    case Kind::list: {
      if (type.fixed < 0 && !now.empty()) return now;
      Json list = Json::array();
      for (int i = 0; i < std::max(1, type.fixed); ++i)
        list.push_back(example_value(key, type.element(), check, nullptr, registry));
      return list;
    }
    case Kind::optional:
      return example_value(key, type.element(), check, nullptr, registry);
    case Kind::map:
      return {{name_for(key), example_value(key, type.element(), check, nullptr, registry)}};
    case Kind::object: {
      const auto settings = type.create();
      Fields fields;
      type.describe(fields, settings.get());
      return example_fields(fields, registry);
    }
    case Kind::part: {
      const auto rows = registry.rows(type.component);
      return rows.empty() ? Json::object() : example(*rows.front(), registry);
    }
    case Kind::boolean:
      return now.is_null() ? Json(false) : now;
    case Kind::json:
      return now.is_null() ? Json::object() : now;
    default: {
      if (now.is_number() && now != 0) return now;
      const bool real = type.kind == Kind::real;
      if (check.kind == Check::Kind::between)
        return real ? Json(check.low) : Json(std::int64_t(check.low));
      return real ? Json(1.0) : Json(1);
    }
  }
}

Json example_fields(const Fields& fields, const Catalogue& registry) {
  Json object = Json::object();
  for (const Field& f : fields.list())
    if (f.required) object[f.key] = example_value(f.key, *f.type, f.check, f.value, registry);
  return object;
}

/// Whether it is a potential of pairs that wants a cut-off: of all pairs, or of each. Those that
/// are "zero beyond" some distance, as their help says, have an end of their own.
bool wants_cutoff(const CatalogueRow& row, const Fields& fields) {
  const auto has = [&](const char* key) {
    return std::ranges::any_of(fields.list(),
                               [&](const Field& f) { return f.key == key && !f.required; });
  };
  return has("cutoff") && has("truncation") && row.help.find("zero beyond") == std::string::npos;
}

Fields fields_of(const CatalogueRow& row, const std::shared_ptr<void>& settings) {
  Fields fields;
  row.settings->describe(fields, settings.get());
  return fields;
}

}  // namespace

Json record_fields(const Fields& fields) {
  Json object = Json::object();
  for (const Field& f : fields.list()) {
    Json value = record_value(*f.type, f.value);
    // An absent component stays absent: the record can be read as a job again.
    if (f.type->kind != Kind::part || !value.is_null()) object[f.key] = std::move(value);
  }
  return object;
}

Json record_component(const ComponentSettings& component) {
  if (!component) return nullptr;
  if (component.written) return *component.written;
  Json object = {{"type", component.row->type}};
  object.update(record_fields(fields_of(*component.row, component.settings)));
  return object;
}

Json schema_fields(const Fields& fields) {
  Json properties = Json::object(), required = Json::array();
  for (const Field& f : fields.list()) {
    Json property = schema_value(*f.type, f.check);
    // Draft-07 ignores what stands beside a $ref.
    if (property.contains("$ref")) property = {{"allOf", {property}}};
    property["description"] = f.help;
    if (f.required) {
      required.push_back(f.key);
    } else if (Json value = record_value(*f.type, f.value); !value.is_null()) {
      property["default"] = std::move(value);
    }
    properties[f.key] = std::move(property);
  }
  Json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  for (const std::string& key : fields.any_of()) schema["anyOf"].push_back({{"required", {key}}});
  return schema;
}

namespace {

/// "if the key has this value, then entries are these".
Json schema_variant(const Variant& v) {
  Fields fields;
  v.describe(fields);
  const Json entries = {{v.by_name ? "additionalProperties" : "items", schema_fields(fields)}};
  return {{"if", {{"properties", {{v.key, {{"const", v.name}}}}}, {"required", {v.key}}}},
          {"then", {{"description", v.help}, {"properties", {{v.list, entries}}}}}};
}

/// "stride": {"log": 10} and "stride": [1, 2, 5] of an observer.
void allow_schedule_as_stride(Json& properties) {
  Json& stride = properties["stride"];
  Json schedule = properties["schedule"]["anyOf"][0];  // the other is null
  schedule["properties"]["every"] = stride;
  Json both = {{"anyOf", {stride, schedule, schedule["properties"]["steps"]}},
               {"description", stride["description"]}};
  if (stride.contains("default")) both["default"] = stride["default"];
  stride = std::move(both);
}

}  // namespace

Json schema_reference(const std::string& kind) { return {{"$ref", "#/definitions/" + kind}}; }

Json schema_definitions(const Catalogue& registry) {
  Json definitions = Json::object();
  for (const char* kind :
       {component_kind<Source>, "part", component_kind<Force>, component_kind<Integrator>,
        component_kind<Observer>, component_kind<Stage>}) {
    Json choices = Json::array(), names = Json::array();
    for (const CatalogueRow* row : registry.rows(kind)) {
      const auto settings = row->settings->create();
      Json schema = schema_fields(fields_of(*row, settings));
      Json properties = {{"type", {{"const", row->type}, {"description", row->help}}}};
      properties.update(schema["properties"]);
      schema["properties"] = properties;
      Json required = {"type"};
      for (const Json& key : schema.value("required", Json::array())) required.push_back(key);
      schema["required"] = required;
      schema["description"] = row->help;
      for (const Variant& v : row->variants) schema["allOf"].push_back(schema_variant(v));
      if (schema["properties"].contains("schedule") && schema["properties"].contains("stride"))
        allow_schedule_as_stride(schema["properties"]);
      const std::string name = std::string(kind) + "." + row->type;
      definitions[name] = schema;
      names.push_back(row->type);
      // "if type is this, then all of it": an editor's messages then speak of the type meant.
      choices.push_back({{"if", {{"properties", {{"type", {{"const", row->type}}}}}}},
                         {"then", {{"$ref", "#/definitions/" + name}}}});
    }
    definitions[kind] = {{"type", "object"},
                         {"required", {"type"}},
                         {"properties", {{"type", {{"type", "string"}, {"enum", names}}}}},
                         {"allOf", choices}};
    if (choices.empty()) definitions[kind] = false;
  }
  return definitions;
}

std::string help_field(const Fields& fields, const Field& f, int indent) {
  const std::string space(static_cast<std::size_t>(indent), ' ');
  std::string text = fmt::format("{}{}  ({}", space, f.key, type_word(*f.type));
  if (const auto bound = check_word(f.check); !bound.empty()) text += ", " + bound;
  if (f.required) {
    text += ", required";
  } else if (const Json value = record_value(*f.type, f.value); !value.is_null()) {
    text += ", default " + value.dump();
  } else if (auto others = fields.any_of(); std::erase(others, f.key) > 0) {
    text += fmt::format(", required without {}", fmt::join(others, ", "));
  } else {
    text += ", optional";
  }
  text += fmt::format(")\n{}    {}\n", space, f.help);
  if (const ValueType* object = inner_object(*f.type); object && indent < 12) {
    const auto settings = object->create();
    Fields inner;
    object->describe(inner, settings.get());
    text += help_fields(inner, indent + 4);
  }
  return text;
}

std::string help_fields(const Fields& fields, int indent) {
  std::string text;
  for (const Field& f : fields.list()) text += help_field(fields, f, indent);
  return text;
}

std::string help_text(const CatalogueRow& row, const Catalogue& registry) {
  const auto settings = row.settings->create();
  const Fields fields = fields_of(row, settings);
  std::string text =
      fmt::format("{} ({}{}): {}\n", row.type, row.kind,
                  row.provider == "built-in" ? "" : ", plug-in " + row.provider, row.help);
  text += fields.list().empty() ? "  no settings\n" : help_fields(fields);
  if (!row.variants.empty())
    text += fmt::format("Each {} has parameters of its own: perrin help {}, …; perrin help {}s\n",
                        row.variants[0].key, row.variants[0].name, row.variants[0].key);
  return text + "Example:\n  " + example(row, registry).dump() + "\n";
}

std::string help_text(const Variant& v, const CatalogueRow& row) {
  Fields fields;
  v.describe(fields);
  return fmt::format("{} ({} of {}): {}\n{}  in each entry of {}\n{}Example:\n  {}\n", v.name,
                     v.key, row.type, v.help, v.text, v.list, help_fields(fields, 4), v.example);
}

Json example(const CatalogueRow& row, const Catalogue& registry) {
  Json object = {{"type", row.type}};
  const auto settings = row.settings->create();
  const Fields fields = fields_of(row, settings);
  if (fields.example().empty() && wants_cutoff(row, fields)) object["cutoff"] = 2.5;
  object.update(fields.example().empty() ? example_fields(fields, registry)
                                         : Json::parse(fields.example()));
  return object;
}

}  // namespace perrin
