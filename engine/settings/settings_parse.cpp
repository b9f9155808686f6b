#include "engine/settings/settings_parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

namespace perrin {

bool has_axes(const ValueType& type) {
  return type.kind == ValueType::Kind::list && type.fixed == 3 &&
         type.element().kind <= ValueType::Kind::real;
}
namespace {

using Kind = ValueType::Kind;

struct IntegerRange {
  std::int64_t low;
  std::uint64_t high;
};

IntegerRange range_of(Kind kind) {
  switch (kind) {
    case Kind::int32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    case Kind::int64:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    case Kind::uint32:
      return {0, std::numeric_limits<std::uint32_t>::max()};
    default:
      return {0, std::numeric_limits<std::uint64_t>::max()};
  }
}

bool is_number(Kind kind) { return kind > Kind::boolean && kind <= Kind::real; }

std::string noun(const ValueType& type) {
  switch (type.kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::int32:
    case Kind::int64:
    case Kind::uint32:
    case Kind::uint64:
      return "an integer";
    case Kind::real:
      return "a number";
    case Kind::text:
      return "text";
    case Kind::list: {
      const std::string of = type.element().kind == Kind::real ? "numbers" : "entries";
      return has_axes(type)    ? fmt::format("a list of 3 {} (in two dimensions: 2 or 3)", of)
             : type.fixed >= 0 ? fmt::format("a list of {} {}", type.fixed, of)
                               : fmt::format("a list");
    }
    case Kind::optional:
      return noun(type.element());
    case Kind::json:
      return "a value";
    case Kind::part:
      return fmt::format("an object with the key \"type\" (the type of the {})", type.component);
    default:
      return "an object";
  }
}

}  // namespace

std::string expectation(const ValueType& type, const Check& check) {
  switch (check.kind) {
    case Check::Kind::positive:
      return noun(type) + ", positive";
    case Check::Kind::non_negative:
      return noun(type) + ", not negative";
    case Check::Kind::between:
      return fmt::format("{} from {} to {}", noun(type), check.low, check.high);
    case Check::Kind::one_of: {
      std::string list;
      for (const auto& v : check.values) list += (list.empty() ? "" : ", ") + v;
      return (type.kind == Kind::list ? "a list of: " : "one of ") + list;
    }
    default:
      return noun(type);
  }
}

bool SettingsParser::check_number(double value, const Json& shown_as, const std::string& path,
                                  const Check& check) {
  std::string must;
  if (check.kind == Check::Kind::positive && !(value > 0)) must = "must be positive";
  if (check.kind == Check::Kind::non_negative && !(value >= 0)) must = "must not be negative";
  if (check.kind == Check::Kind::between && !(value >= check.low && value <= check.high))
    must = fmt::format("must be from {} to {}", check.low, check.high);
  if (must.empty()) return true;
  report_(path, fmt::format("{}, got {}", must, shown(shown_as)));
  return false;
}

void SettingsParser::parse_integer(const Json& value, const std::string& path,
                                   const ValueType& type, const Check& check, void* target) {
  const IntegerRange range = range_of(type.kind);
  const auto wrong = [&](const std::string& what) {
    report_(path, fmt::format("must be {}, got {}", what, shown(value)));
  };
  bool negative = false;
  std::uint64_t magnitude = 0;
  if (value.is_number_unsigned()) {
    magnitude = value.get<std::uint64_t>();
  } else if (value.is_number_integer()) {
    const auto v = value.get<std::int64_t>();
    negative = v < 0;
    magnitude = negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  } else if (value.is_number_float()) {
    // 1e6 steps are welcome; what a double cannot hold exactly is not.
    const auto v = value.get<double>();
    if (v != std::floor(v)) return wrong("an integer");
    if (v < double(range.low) || v >= double(range.high) + 1)
      return wrong(fmt::format("an integer from {} to {}", range.low, range.high));
    if (std::abs(v) > 9007199254740992.0)
      return wrong(
          "written out in digits (numbers with a point or exponent are exact to 2^53 only)");
    negative = v < 0;
    magnitude = static_cast<std::uint64_t>(std::abs(v));
  } else {
    return wrong("an integer");
  }
  const std::uint64_t lowest = 0 - static_cast<std::uint64_t>(range.low);
  if (negative && check.kind != Check::Kind::any &&
      !check_number(-static_cast<double>(magnitude), value, path, check))
    return;
  if (negative ? magnitude > lowest : magnitude > range.high)
    return wrong(fmt::format("an integer from {} to {}", range.low, range.high));
  const double real = negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  if (!check_number(real, value, path, check)) return;
  const std::uint64_t bits = negative ? 0 - magnitude : magnitude;
  switch (type.kind) {
    case Kind::int32:
      *static_cast<std::int32_t*>(target) = static_cast<std::int32_t>(bits);
      break;
    case Kind::int64:
      *static_cast<std::int64_t*>(target) = static_cast<std::int64_t>(bits);
      break;
    case Kind::uint32:
      *static_cast<std::uint32_t*>(target) = static_cast<std::uint32_t>(bits);
      break;
    default:
      *static_cast<std::uint64_t*>(target) = bits;
  }
}

void SettingsParser::parse_list(const Json& value, const std::string& path, const ValueType& type,
                                const Check& check, void* target) {
  if (!value.is_array())
    return report_(path, fmt::format("must be {}, got {}", noun(type), shown(value)));
  const bool planar = has_axes(type) && value.size() == 2;
  if (planar) planar_.push_back(path);
  if (!planar && type.fixed >= 0 && value.size() != static_cast<std::size_t>(type.fixed))
    return report_(path, fmt::format("must be {}, got {}", noun(type), shown(value)));
  // Each is made, asked and saved one by one.
  constexpr std::size_t most_parts = 4096;
  if (type.element().kind == Kind::part && value.size() > most_parts)
    return report_(path,
                   fmt::format("must have at most {} entries, got {}", most_parts, value.size()));
  if (type.fixed < 0) type.resize(target, value.size());
  for (std::size_t i = 0; i < value.size(); ++i)
    parse_value(value[i], join_path(path, i), type.element(), check, type.at(target, i));
}

/// Text in place of a number.
void SettingsParser::parse_formula(const std::string& text, const std::string& path,
                                   const ValueType& type, const Check& check, void* target) {
  std::string why;
  try {
    if (compute_) return parse_value(compute_(text), path, type, check, target);
  } catch (const UserError& e) {
    // What has no digit is not meant to be a formula.
    if (text.find_first_of("0123456789") != text.npos)
      why = fmt::format(" (as a formula of numbers: {})", e.what());
  }
  report_(path,
          fmt::format("must be {}, got {}{}", expectation(type, check), shown(Json(text)), why));
}

void SettingsParser::parse_value(const Json& value, const std::string& path, const ValueType& type,
                                 const Check& check, void* target) {
  if (value.is_string() && is_number(type.kind))
    return parse_formula(value.get<std::string>(), path, type, check, target);
  const auto wrong = [&] {
    report_(path, fmt::format("must be {}, got {}", expectation(type, check), shown(value)));
  };
  switch (type.kind) {
    case Kind::boolean:
      if (!value.is_boolean()) return wrong();
      *static_cast<bool*>(target) = value.get<bool>();
      return;
    case Kind::real: {
      if (!value.is_number()) return wrong();
      const auto v = value.get<double>();
      if (!check_number(v, value, path, check)) return;
      // What particles and pairs are computed with is float in the default build.
      constexpr double least = 1e-37, most = 1e37;
      if (v != 0 && !(std::abs(v) >= least && std::abs(v) <= most))
        return report_(path, fmt::format("must be 0 or from {:g} to {:g} in magnitude, got {}",
                                         least, most, shown(value)));
      *static_cast<double*>(target) = v;
      return;
    }
    case Kind::text: {
      const bool was_switch = value.is_boolean() && check.renamed.contains(value.dump());
      if (!value.is_string() && !was_switch) return wrong();
      auto text = was_switch ? value.dump() : value.get<std::string>();
      if (const auto it = check.renamed.find(text); it != check.renamed.end()) {
        note_(path, fmt::format("{} is now called \"{}\"", value.dump(), it->second));
        text = it->second;
      }
      if (check.kind == Check::Kind::one_of &&
          std::find(check.values.begin(), check.values.end(), text) == check.values.end()) {
        std::string list;
        for (const auto& v : check.values) list += (list.empty() ? "" : ", ") + v;
        const std::string near = closest_word(text, check.values);
        return report_(
            path, fmt::format("must be one of {}, got {}{}", list, shown(value),
                              near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
      }
      *static_cast<std::string*>(target) = std::move(text);
      return;
    }
    case Kind::list:
      return parse_list(value, path, type, check, target);
    case Kind::optional:
      if (!value.is_null()) parse_value(value, path, type.element(), check, type.emplace(target));
      return;
    case Kind::map:
      if (!value.is_object()) return wrong();
      type.resize(target, 0);
      for (const auto& [key, member] : value.items())
        parse_value(member, join_path(path, key), type.element(), check, type.insert(target, key));
      return;
    case Kind::object: {
      if (!value.is_object()) return wrong();
      Fields fields;
      type.describe(fields, target);
      return parse_fields(value, path, fields, false);
    }
    case Kind::part: {
      auto* const part = static_cast<ComponentSettings*>(target);
      const auto name = value.is_object() ? value.find("type") : value.end();
      const CatalogueRow* const row = value.is_object() && name != value.end() && name->is_string()
                                          ? registry_.find(type.component, name->get<std::string>())
                                          : nullptr;
      if (row && row->generate)
        postponed_.push_back({type.component, &value, path, part});
      else
        *part = parse_component(type.component, value, path);
      return;
    }
    case Kind::json:
      *static_cast<Json*>(target) = value;
      return;
    default:
      return parse_integer(value, path, type, check, target);
  }
}

void SettingsParser::parse_fields(const Json& value, const std::string& path, const Fields& fields,
                                  bool component) {
  std::vector<std::string> known;
  for (const Field& f : fields.list()) {
    known.push_back(f.key);
    const auto member = value.find(f.key);
    if (member != value.end()) {
      parse_value(*member, join_path(path, f.key), *f.type, f.check, f.value);
    } else if (f.required) {
      report_(path, fmt::format("the key \"{}\" is missing: {} ({})", f.key,
                                expectation(*f.type, f.check), f.help));
    }
  }
  const auto& any = fields.any_of();
  if (!any.empty() && std::ranges::none_of(any, [&](auto& key) { return value.contains(key); }))
    report_(path, fmt::format("one of the keys {} is missing", fmt::join(any, ", ")));
  constexpr int most_hints = 100;
  int unknown = 0;
  for (const auto& [key, member] : value.items()) {
    if (component && key == "type") continue;
    const auto gone = std::find_if(fields.gone_keys().begin(), fields.gone_keys().end(),
                                   [&name = key](const GoneKey& g) { return g.key == name; });
    if (gone != fields.gone_keys().end())
      parse_gone_key(member, join_path(path, key), *gone);
    else if (std::find(known.begin(), known.end(), key) == known.end())
      report_(join_path(path, key), ++unknown > most_hints
                                        ? std::string("unknown key")
                                        : fmt::format("unknown key; {}", suggest(key, known)));
  }
}

void SettingsParser::parse_gone_key(const Json& value, const std::string& path,
                                    const GoneKey& gone) {
  if (value.is_boolean() && value.get<bool>() == gone.harmless)
    return note_(path, "this key has been removed, leave it out: " + gone.why);
  report_(path, fmt::format("this key has been removed, expected {} or nothing, got {}: {}",
                            gone.harmless, shown(value), gone.why));
}

namespace {
bool generating = true;
}  // namespace

bool generates_types() { return generating; }

void SettingsParser::generate(bool only_check) {
  generating = !only_check;
  for (const Postponed& p : std::exchange(postponed_, {}))
    *p.target = parse_component(p.kind, *p.value, p.path);
  generating = true;
}

namespace {

/// "stride": {…} and "stride": […] of an observer as its "schedule" (engine/components/registry.h),
/// with the stride that its object gives, or 1. Reports both beside one another.
std::shared_ptr<const Json> with_schedule(
    const Json& value, const std::string& path,
    const std::function<void(const std::string& path, const std::string& what)>& report) {
  const auto stride = value.find("stride");
  if (stride == value.end() || !(stride->is_object() || stride->is_array())) return nullptr;
  if (value.contains("schedule")) {
    report(join_path(path, "stride"),
           fmt::format("must be an integer beside \"schedule\", which says the steps, got {}: "
                       "expected one of the two to say them",
                       shown(*stride)));
    auto rest = std::make_shared<Json>(value);
    rest->erase("stride");
    return rest;
  }
  auto written = std::make_shared<Json>(value);
  Json schedule = *stride;
  if (stride->is_array()) schedule = Json{{"steps", *stride}};
  (*written)["stride"] = schedule.value("every", Json(1));
  schedule.erase("every");
  (*written)["schedule"] = std::move(schedule);
  return written;
}

/// Where the file says what with_schedule() has made of the "stride" of an observer.
std::string written_place(const std::string& place, const std::string& observer, bool list) {
  const std::string schedule = join_path(observer, "schedule"), steps = schedule + ".steps",
                    stride = join_path(observer, "stride");
  if (!list && place == stride) return join_path(stride, "every");
  if (list && place.starts_with(steps)) return stride + place.substr(steps.size());
  return place.starts_with(schedule) ? stride + place.substr(schedule.size()) : place;
}

}  // namespace

ComponentSettings SettingsParser::parse_component(const std::string& kind, const Json& value,
                                                  const std::string& path) {
  const auto must =
      fmt::format("must be an object with the key \"type\" (the type of the {})", kind);
  if (!value.is_object()) return report_(path, must + ", got " + shown(value)), ComponentSettings{};
  const auto type = value.find("type");
  if (type == value.end()) {
    std::vector<std::string> known;
    registry_.discover();  // plug-ins' types, too
    for (const CatalogueRow* row : registry_.rows(kind)) known.push_back(row->type);
    report_(path, fmt::format("the key \"type\" is missing; {}", suggest("", known)));
    return {};
  }
  const std::string type_path = join_path(path, "type");
  if (!type->is_string())
    return report_(type_path, "must be text, got " + shown(*type)), ComponentSettings{};
  const auto name = type->get<std::string>();
  const CatalogueRow* row = registry_.find(kind, name);
  if (!row) {
    report_(type_path,
            fmt::format("unknown {} \"{}\"; {}", kind, name, registry_.suggestion(kind, name)));
    return {};
  }
  std::shared_ptr<const Json> written, rest;
  if (row->generate) {
    const auto made = row->generate(value, [&](const std::string& key, const std::string& what) {
      report_(path.empty() ? key : path + "." + key, what);
    });
    if (!made) return {};
    written = made->record ? made->record : std::make_shared<const Json>(value);
    rest = made->settings;
    row = registry_.find_generated(kind, *made);
  }
  providers_.insert(row->provider);
  ComponentSettings settings{row, row->settings->create(), path, written};
  Fields fields;
  row->settings->describe(fields, settings.settings.get());
  const Report report = report_;
  if (kind == component_kind<Observer>) rest = with_schedule(value, path, report);
  if (kind == component_kind<Observer> && rest && !value.contains("schedule"))
    report_ = [&](const std::string& place, const std::string& what) {
      report(written_place(place, path, value.at("stride").is_array()), what);
    };
  parse_fields(rest ? *rest : value, path, fields, true);
  report_ = report;
  return settings;
}

std::string ComponentSettings::type() const {
  return written ? written->value("type", row->type) : row->type;
}

}  // namespace perrin
