#include "engine/formula/vector_of_time.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/formula/parse.h"
#include "engine/settings/json_file.h"

namespace perrin::formula {

VectorOfTime vector_of_time(
    const std::vector<Json>& entries, int dimension, const std::string& key, const char* what,
    const std::function<void(const std::string&, const std::string&)>& report) {
  VectorOfTime found;
  if (entries.size() != 3 && entries.size() != std::size_t(dimension))
    report(key, fmt::format("must have {} entries, got {}", dimension, entries.size()));
  for (std::size_t k = 0; k < std::min<std::size_t>(entries.size(), 3); ++k) {
    const std::string path = fmt::format("{}[{}]", key, k);
    const Json& entry = entries[k];
    if (entry.is_number()) {
      found.number[int(k)] = entry.get<double>();
    } else if (!entry.is_string()) {
      report(path, fmt::format("must be a number or a formula of t, got {}", shown(entry)));
    } else {
      try {
        const auto formula = parse(entry.get<std::string>(), {"t"});
        if (!formula.parameters.empty())
          report(path, fmt::format("unknown name \"{}\"; {} is a formula of t",
                                   formula.parameters[0], what));
        else
          found.code[k] = program(formula.value, {"t"});
      } catch (const UserError& e) {
        report(path, e.what());
      }
    }
    if (k == 2 && dimension == 2 && entry != Json(0) && entry != Json(0.0))
      report(key, fmt::format("must have no z component in two dimensions, got {}", shown(entry)));
  }
  return found;
}

}  // namespace perrin::formula
