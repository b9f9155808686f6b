#include "forces/formula/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/formula/parse.h"

namespace perrin::formula {

std::string Parameter::help() const {
  std::string text = meaning;
  if (!above.empty()) text += fmt::format("; above {}", above);
  return unit.empty() ? text : fmt::format("{} ({})", text, unit);
}

const Parameter* Potential::parameter(const std::string& key) const {
  const auto it = std::ranges::find(parameters, key, &Parameter::name);
  return it == parameters.end() ? nullptr : &*it;
}

double Potential::value_of(const std::string& text, const Values& values) const {
  return evaluate(parse(text, {}).value, values);
}

Values Potential::complete(Values values) const {
  for (const Parameter& p : parameters)
    if (p.value) values.try_emplace(p.name, *p.value);
  return values;
}

const std::vector<Potential>& potentials() {
  static const std::vector<Potential> all = [] {
    std::vector<Potential> list;
    for (auto part : {atoms(), colloids(), models()})
      for (Potential& p : part) list.push_back(std::move(p));
    std::ranges::sort(list, {}, &Potential::name);
    return list;
  }();
  return all;
}

const Potential* find_potential(const std::string& name) {
  const auto it = std::ranges::find(potentials(), name, &Potential::name);
  return it == potentials().end() ? nullptr : &*it;
}

std::vector<std::string> potential_names(const std::string& type) {
  std::vector<std::string> names;
  for (const Potential& p : potentials())
    if (p.type == type) names.push_back(p.name);
  return names;
}

}  // namespace perrin::formula
