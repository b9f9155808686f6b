#include "settings.h"

#include <fmt/format.h>

namespace perrin::active {

std::vector<std::optional<double>> optional_by_type(Setup& setup, const std::string& key,
                                                    const std::optional<double>& of_all,
                                                    const ByType& by_name) {
  std::vector<std::optional<double>> found(setup.configuration().types.size(), of_all);
  for (const auto& [name, number] : by_name)
    found.at(setup.type_index(name, key + "s." + name)) = number;
  return found;
}

std::vector<double> numbers_by_type(Setup& setup, const std::string& key,
                                    const std::optional<double>& of_all, const ByType& by_name,
                                    const std::optional<double>& missing) {
  const auto found = optional_by_type(setup, key, of_all, by_name);
  std::vector<double> numbers(found.size(), 0);
  for (std::size_t t = 0; t < found.size(); ++t) {
    if (!found[t] && !missing) {
      setup.error(key, fmt::format("is missing for type \"{0}\": give {1}, or {1}s by type",
                                   setup.configuration().types[t], key));
      break;
    }
    numbers[t] = found[t] ? *found[t] : *missing;
  }
  return numbers;
}

}  // namespace perrin::active
