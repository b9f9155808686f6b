#include "settings.h"

#include <fmt/format.h>

#include "engine/system/site_types.h"

namespace perrin::active {

std::vector<bool> moved_types(const Configuration& c) {
  std::vector<bool> moved(c.types.size(), c.topology.body.empty());
  for (std::size_t id = 0; id < c.topology.body.size(); ++id)
    if (!c.topology.is_site(id)) moved[c.type[id]] = true;
  return moved;
}

std::vector<std::optional<double>> optional_by_type(Setup& setup, const std::string& key,
                                                    const std::optional<double>& of_all,
                                                    const ByType& by_name) {
  std::vector<std::optional<double>> found(setup.configuration().types.size(), of_all);
  const auto of_sites = types_of_sites_alone(setup.configuration());
  for (const auto& [name, number] : by_name) {
    const std::uint32_t type = setup.type_index(name, key + "s." + name);
    found.at(type) = number;
    if (of_sites[type] != 0 && setup.configuration().types[type] == name)
      setup.error(key + "s." + name, fmt::format("\"{}\" is {}", name, sites_move_with_bodies));
  }
  return found;
}

std::vector<double> numbers_by_type(Setup& setup, const std::string& key,
                                    const std::optional<double>& of_all, const ByType& by_name,
                                    const std::optional<double>& missing,
                                    const std::string& other_key) {
  const auto found = optional_by_type(setup, key, of_all, by_name);
  const auto moved = moved_types(setup.configuration());
  std::vector<double> numbers(found.size(), 0);
  for (std::size_t t = 0; t < found.size(); ++t) {
    if (!found[t] && !missing && moved[t]) {
      setup.error(key, fmt::format("is missing for type \"{0}\": give {1}, or {1}s by type{2}{3}",
                                   setup.configuration().types[t], key,
                                   other_key.empty() ? "" : ", or ", other_key));
      break;
    }
    numbers[t] = found[t].value_or(missing.value_or(0));
  }
  return numbers;
}

}  // namespace perrin::active
