#include "engine/dynamics/present_attributes.h"

#include <algorithm>

#include "engine/formula/parse.h"
#include "engine/system/attribute.h"
#include "engine/system/particles.h"

namespace perrin {

PresentAttributes::PresentAttributes(const Configuration& c) {
  std::vector<std::string> variables{"t"};
  for (const auto& [name, text] : c.attribute_changes)
    for (const std::string& other : formula::parse(text, {"t"}).parameters) {
      auto column = attribute_of(c, other);
      if (!column || std::ranges::count(variables, other) > 0) continue;
      variables.push_back(other);
      columns_.push_back(std::move(*column));
    }
  for (const auto& [name, text] : c.attribute_changes)
    changing_.push_back({name, formula::program(formula::parse(text, {"t"}).value, variables)});
  for (const auto& [name, between] : c.attribute_between) changing_.push_back({name, {}});
  std::ranges::sort(changing_, {}, &Changing::name);
}

std::vector<std::string> PresentAttributes::names() const {
  std::vector<std::string> names;
  for (const Changing& one : changing_) names.push_back(one.name);
  return names;
}

std::vector<double> PresentAttributes::evaluated(const Changing& one, std::size_t count,
                                                 double time) const {
  const formula::ProgramView program{one.program.data(), int(one.program.size())};
  std::vector<double> inputs(1 + columns_.size()), values(count);
  inputs[0] = time;
  for (std::size_t id = 0; id < count; ++id) {
    for (std::size_t k = 0; k < columns_.size(); ++k) inputs[1 + k] = columns_[k][id];
    values[id] = program.evaluate(inputs.data());
  }
  return values;
}

std::vector<std::vector<double>> PresentAttributes::values(const Particles& particles,
                                                           double time) const {
  std::vector<std::vector<double>> all;
  for (const Changing& one : changing_)
    if (!one.program.empty())
      all.push_back(evaluated(one, std::size_t(particles.size()), time));
    else if (one.name == "charge")
      all.push_back(particles.properties().charge);
    else if (one.name == "diameter")
      all.push_back(particles.properties().diameter);
    else
      all.push_back(particles.properties().attributes.at(one.name));
  return all;
}

}  // namespace perrin
