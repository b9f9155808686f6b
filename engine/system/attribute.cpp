#include "engine/system/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace perrin {

bool is_attribute_name(const std::string& name) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  const bool reserved =
      name == "x" || name == "y" || name == "z" || name == "r" || name == "t" || name == "id";
  return !name.empty() && !reserved && letter(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [&](unsigned char c) { return letter(c) || std::isdigit(c); }) &&
         !(name.size() > 1 && name[name.size() - 2] == '_' && name.back() >= '1' &&
           name.back() <= '4');
}

std::optional<std::vector<double>> attribute_of(const Configuration& c, const std::string& name) {
  if (name == "mass") return c.mass.empty() ? std::vector<double>(c.position.size(), 1.0) : c.mass;
  if (name == "charge" && !c.charge.empty()) return c.charge;
  if (name == "diameter" && !c.diameter.empty()) return c.diameter;
  const auto found = c.attributes.find(name);
  if (found == c.attributes.end()) return {};
  return found->second;
}

std::string no_attribute(const Configuration& c, const std::string& name) {
  std::string known = "mass";
  if (!c.charge.empty()) known += ", charge";
  if (!c.diameter.empty()) known += ", diameter";
  for (const auto& [other, values] : c.attributes) known += ", " + other;
  return fmt::format("the particles have no attribute \"{}\"; they have {}", name, known);
}

}  // namespace perrin
