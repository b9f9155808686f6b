#include "io/file_attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "engine/system/attribute.h"

namespace perrin::io {

void warn_unread(Configuration& c, const std::string& what, const std::string& why) {
  c.warnings.push_back(fmt::format("{} is not read as an attribute: {}", what, why));
}

void take_attribute(Configuration& c, const std::string& name, const std::string& what,
                    std::vector<double> values) {
  if (name == "charge" || name == "diameter" || name == "mass")
    return warn_unread(c, what, fmt::format("the {} of a particle has its own place", name));
  if (!is_attribute_name(name))
    return warn_unread(c, what, fmt::format("expected a name of {}", attribute_name_rule));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!(std::abs(values[k]) <= most_of_attribute))
      return warn_unread(c, what,
                         fmt::format("it is {} for particle {}, expected a number up to {:g} in "
                                     "magnitude",
                                     values[k], k, most_of_attribute));
  c.attributes[name] = std::move(values);
}

std::string lost_attributes(const Configuration& c) {
  if (c.attributes.empty()) return {};
  std::vector<std::string> names;
  for (const auto& [name, values] : c.attributes) names.push_back(name);
  return fmt::format("the attribute{} {} {} left out", names.size() > 1 ? "s" : "",
                     fmt::join(names, ", "), names.size() > 1 ? "are" : "is");
}

std::string changed_attribute(const Configuration& a, const Configuration& b,
                              const std::set<std::string>& but) {
  for (const auto& [name, values] : a.attributes) {
    if (but.contains(name)) continue;
    const auto other = b.attributes.find(name);
    if (other == b.attributes.end() || other->second != values) return name;
  }
  for (const auto& [name, values] : b.attributes)
    if (!a.attributes.contains(name)) return name;
  return {};
}

}  // namespace perrin::io
